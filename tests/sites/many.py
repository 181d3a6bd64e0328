"""A site of many small pages in memory, which counts what it is asked for."""

from __future__ import annotations

from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Condition, Thread
from typing import TYPE_CHECKING, Self

from tests.sites.prose import prose

if TYPE_CHECKING:
    from collections.abc import Mapping

BRANCHES = 10
TWIN_EVERY = 20
"""So often a page says, in other bytes, what the page before it says."""


def page_path(number: int) -> str:
    return f"/{number}.html" if number else "/"


def page_text(number: int) -> str:
    """What a page says, the same for twins."""
    is_twin = number and number % TWIN_EVERY == 0
    return prose(f"page {number - 1 if is_twin else number}", 120)


def pages(count: int) -> dict[str, bytes]:
    """A tree of pages, each with links to its children and to a page far away."""
    return {page_path(number): _page(number, count) for number in range(count)}


def _page(number: int, count: int) -> bytes:
    first = number * BRANCHES + 1
    linked = [*range(first, min(first + BRANCHES, count)), (number * 7 + 3) % count]
    links = "".join(f'<a href="{page_path(to)}">{to}</a> ' for to in linked)
    return (
        f"<!DOCTYPE html><!-- {number} --><html lang=en><title>Many</title><body><main><article>"
        f"<h1>Many</h1><p>{page_text(number)}</p></article></main><nav>{links}</nav></body></html>"
    ).encode()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: clients are killed in the middle."""


class ManyPages:
    """Serves pages on a loopback port while a ``with`` block lasts.

    Args:
        pages: Body by path; may be changed at any time.
    """

    def __init__(self, pages: Mapping[str, bytes]) -> None:
        self.pages = dict(pages)
        self._asked: Counter[str] = Counter()
        self._limit: int | None = None
        self._changed = Condition()
        handler = type("BoundHandler", (_Handler,), {"site": self})
        self._server = _Server(("127.0.0.1", 0), handler)
        self._thread = Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/"

    @property
    def asked(self) -> Counter[str]:
        """How often each page was asked for so far."""
        with self._changed:
            return +self._asked

    @property
    def total(self) -> int:
        """How often pages were asked for so far."""
        with self._changed:
            return self._asked.total()

    def hold_after(self, limit: int | None) -> None:
        """Answer no more than so many requests, and let the others wait; None for all."""
        with self._changed:
            self._limit = limit
            self._changed.notify_all()

    def answer(self, path: str) -> bytes | None:
        body = self.pages.get(path)
        if body is not None:
            with self._changed:
                self._asked[path] += 1
                number = self._asked.total()
                self._changed.wait_for(lambda: self._limit is None or number <= self._limit)
        return body

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.hold_after(None)
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 30
    wbufsize = -1
    disable_nagle_algorithm = True
    site: ManyPages

    def do_GET(self) -> None:
        body = self.site.answer(self.path)
        try:
            self.send_response(404 if body is None else 200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body or b"")))
            self.end_headers()
            self.wfile.write(body or b"")
        except (TimeoutError, ConnectionError):
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""
