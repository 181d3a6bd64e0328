"""A made site on loopback, of pages that are given by their targets."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

from tests.sites.prose import prose

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

WORDS = 140
"""Words of an article."""


@dataclass(frozen=True, slots=True)
class Page:
    """What one target answers.

    Attributes:
        content: Name of what a person would call one page; None where that does not count.
        body: As it is sent.
        delay_secs: Wait before the answer.
    """

    content: str | None
    body: bytes
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_secs: float = 0.0


def page(content: str, links: Iterable[str] = (), text: str = "", extra: str = "") -> Page:
    """An article of its own text, with links below it and other markup behind it."""
    said = text or prose(content, WORDS)
    listed = "".join(f'<li><a href="{link}">{number}</a>' for number, link in enumerate(links))
    body = (
        f"<!DOCTYPE html><html lang=en><title>{content}</title><body><main><article>"
        f"<h1>{content}</h1><p>{said}</p></article></main>{extra}<ul>{listed}</ul></body></html>"
    )
    return Page(content, body.encode())


class Site:
    """Serves pages on 127.0.0.1, and on more addresses if wanted, while a ``with`` block lasts.

    Attributes:
        pages: Pages by target; a target is path and query, with the host before it where it is
            served on that address alone.
        robots: What robots.txt says.
        limit: At most so many answers in so many seconds; the rest is 429 with Retry-After.
    """

    def __init__(self, addresses: int = 1) -> None:
        self.pages: dict[str, Page] = {}
        self.robots = ""
        self.limit: tuple[int, float] | None = None
        self.asked = 0
        self._times: list[float] = []
        self._lock = Lock()
        handler = type("BoundHandler", (_Handler,), {"site": self})
        first = _Server(("127.0.0.1", 0), handler)
        self.port = int(first.server_address[1])
        others = range(2, addresses + 1)
        self._servers = [first, *(_Server((f"127.0.0.{n}", self.port), handler) for n in others)]
        self._threads = [Thread(target=s.serve_forever, args=(0.05,)) for s in self._servers]

    @property
    def url(self) -> str:
        """Where to start, one URL for each address."""
        numbers = range(1, len(self._servers) + 1)
        return ",".join(f"http://127.0.0.{number}:{self.port}/" for number in numbers)

    def content_of(self, url: str) -> str | None:
        """Name what a URL shows, whatever its spelling."""
        parts = urlsplit(url)
        target = parts.path + (f"?{parts.query}" if parts.query else "")
        found = self.find((parts.hostname or "").rstrip("."), target)
        return None if found is None else found.content

    def find(self, host: str, target: str) -> Page | None:
        """Return the page at a target of a host, or None."""
        return self.pages.get(host + target) or self.pages.get(target)

    @property
    def truth(self) -> set[str]:
        """What a crawl is to keep, each once."""
        return {one.content for one in self.pages.values() if one.content and one.status == 200}

    def answer(self, host: str, target: str) -> Page:
        """Answer a request."""
        if target == "/robots.txt":
            return Page(None, self.robots.encode(), 200 if self.robots else 404)
        with self._lock:
            self.asked += 1
            if self.limit is not None:
                most, secs = self.limit
                now = time.monotonic()
                self._times = [moment for moment in self._times if now - moment < secs]
                if len(self._times) >= most:
                    return Page(None, b"slower", 429, {"Retry-After": str(int(secs))})
                self._times.append(now)
        found = self.find(host, target) or Page(None, b"<p>not here</p>", 404)
        if found.delay_secs:
            time.sleep(found.delay_secs)
        return found

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        for server, thread in zip(self._servers, self._threads, strict=True):
            server.shutdown()
            server.server_close()
            thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: clients are stopped in the middle."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 60
    wbufsize = -1
    disable_nagle_algorithm = True
    site: Site

    def do_GET(self) -> None:
        found = self.site.answer(self.headers.get("Host", "").partition(":")[0], self.path)
        try:
            self.send_response(found.status)
            for name, value in found.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(found.body)))
            self.end_headers()
            self.wfile.write(found.body)
        except (TimeoutError, ConnectionError):
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""
