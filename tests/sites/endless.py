"""A site where names of any part of a URL go on without an end, and others that lead to pages.

It answers for every host and port, as a proxy does.
"""

from __future__ import annotations

import re
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Self
from urllib.parse import urlsplit

from tests.sites.prose import document

DOMAIN = "endless-names.com"
HOME = f"http://www.{DOMAIN}/"
LAST = 1_000
"""The endless part ends there, so that a crawl that does not notice it comes to an end too."""
ITEMS = 60

SHAPES = {
    "name": f"http://www.{DOMAIN}/{{part}}?k{{number}}=1",
    "bare": f"http://www.{DOMAIN}/{{part}}?{{number}}",
    "brackets": f"http://www.{DOMAIN}/{{part}}?a[{{number}}]=1",
    "host": f"http://h{{number}}.{{part}}.{DOMAIN}/page",
    "port": f"http://{{part}}.{DOMAIN}:{{number}}/page",
}
_FIRST = 10_000
"""Numbers begin there: ports below it may be refused."""


class EndlessSite:
    """Serves on a loopback port while a ``with`` block lasts; to be given as ``http_proxy``.

    Args:
        shape: A key of ``SHAPES``.
    """

    def __init__(self, shape: str) -> None:
        self._shape = SHAPES[shape]
        escaped = re.escape(self._shape).replace(r"\{number\}", r"(?P<number>[0-9]+)")
        self._pattern = re.compile(escaped.replace(r"\{part\}", r"(?P<part>loop|item)"))
        self._asked: list[str] = []
        self._lock = Lock()
        handler = type("BoundHandler", (_Handler,), {"site": self})
        self._server = _Server(("127.0.0.1", 0), handler)
        self._thread = Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def proxy(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def asked(self, part: str) -> list[str]:
        """The pages of a part so far, in the order of arrival."""
        with self._lock:
            return [url for url in self._asked if _is_of(url, part)]

    def url(self, part: str, number: int) -> str:
        return self._shape.format(part=part, number=_FIRST + number)

    def answer(self, url: str) -> bytes | None:
        if urlsplit(url).path == "/robots.txt":
            return None
        with self._lock:
            self._asked.append(url)
        if url == HOME:
            first = [self.url("loop", 0), *(self.url("item", n) for n in range(ITEMS))]
            return document("Home", _links(first))
        found = self._pattern.fullmatch(url.replace("%5B", "[").replace("%5D", "]"))
        if found is None:
            return None
        number = int(found["number"]) - _FIRST
        if found["part"] == "item":
            return document(f"Item {number}")
        further = range(number + 1, min(number + 4, LAST))
        return document("Loop", _links([self.url("loop", one) for one in further]))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _is_of(url: str, part: str) -> bool:
    return re.search(rf"[/.]{part}[.?/]", url) is not None


def _links(urls: list[str]) -> str:
    return "<nav>" + " ".join(f'<a href="{url}">further</a>' for url in urls) + "</nav>"


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: a client that leaves in the middle is no concern of the site."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 30
    wbufsize = -1
    disable_nagle_algorithm = True
    site: EndlessSite

    def do_GET(self) -> None:
        body = self.site.answer(self.path)
        self.send_response(404 if body is None else 200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body or b"")))
        self.end_headers()
        self.wfile.write(body or b"")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing; the site keeps its own record."""
