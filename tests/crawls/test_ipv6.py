"""A crawl of a server that has an IPv6 address only, and no name."""

from __future__ import annotations

import socket
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import pytest

from tests.crawls.command import crawl, pages
from tests.sites.changing import page
from tests.sites.prose import prose

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def _has_loopback() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True


pytestmark = pytest.mark.skipif(not _has_loopback(), reason="no IPv6 loopback here")


class _Server(ThreadingHTTPServer):
    address_family = socket.AF_INET6
    daemon_threads = True


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        known = {"/": page(prose("index", 100), ["/leaf"]), "/leaf": page(prose("leaf", 100))}
        body = known.get(self.path, b"")
        self.send_response(200 if body else 404)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def served() -> Iterator[str]:
    server = _Server(("::1", 0), _Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://[::1]:{server.server_address[1]}/"
    finally:
        server.shutdown()
        server.server_close()


def test_site_at_an_ipv6_address_is_crawled(tmp_path: Path) -> None:
    with served() as url:
        crawl(url, tmp_path)
    found = {row["url"]: row["verdict"] for row in pages(tmp_path)}
    assert found[url] == found[f"{url}leaf"] == "new"
