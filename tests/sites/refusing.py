"""A site that refuses what comes too fast or too early, and knows what it was asked when."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from threading import Lock, Thread
from typing import TYPE_CHECKING, NamedTuple, Self

if TYPE_CHECKING:
    from collections.abc import Mapping


class Refusal(NamedTuple):
    """An answer that is no page: a status with headers, or none at all where the status is 0."""

    status: int
    headers: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class Visit:
    """A request as it came: its path, when (monotonic), its place among those for this path."""

    path: str
    at: float
    number: int


Answer = Callable[[Visit, "RefusingSite"], Refusal | None]


@dataclass(frozen=True, slots=True)
class Asked:
    """A request and what was answered; 200 for a page."""

    path: str
    at: float
    status: int


class RefusingSite:
    """Serves pages on a loopback address while a ``with`` block lasts.

    Args:
        pages: Body by path.
        answer: Says of each request whether it is refused.
        address: Of the interface.
    """

    def __init__(
        self,
        pages: Mapping[str, bytes],
        answer: Answer = lambda visit, site: None,
        *,
        address: str = "127.0.0.1",
        port: int = 0,
    ) -> None:
        self.pages = dict(pages)
        self.answer = answer
        self._asked: list[Asked] = []
        self._lock = Lock()
        handler = type("BoundHandler", (_Handler,), {"site": self})
        self._server = _Server((address, port), handler)
        self._thread = Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        host, port = self._server.server_address[:2]
        return f"http://{host!s}:{port}/"

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    @property
    def asked(self) -> list[Asked]:
        """Every request so far, in order, without those for what is not there."""
        with self._lock:
            return list(self._asked)

    def asked_for(self, path: str) -> list[Asked]:
        return [one for one in self.asked if one.path == path]

    @property
    def refused(self) -> list[Asked]:
        return [one for one in self.asked if one.status != 200]

    def gaps(self) -> list[tuple[Asked, float]]:
        """Each refusal with the seconds from it to the next request that came."""
        asked = self.asked
        return [(one, other.at - one.at) for one, other in pairwise(asked) if one.status != 200]

    def take(self, path: str) -> Refusal | None:
        """Note a request; say whether it is refused."""
        at = time.monotonic()
        with self._lock:
            number = sum(one.path == path for one in self._asked) + 1
            refusal = self.answer(Visit(path, at, number), self)
            status = 200 if refusal is None else refusal.status
            if path in self.pages or refusal is not None:
                self._asked.append(Asked(path, at, status))
        return refusal

    def served_since(self, moment: float) -> int:
        """How many pages were served since a moment; to be called by ``answer``."""
        return sum(one.status == 200 and one.at >= moment for one in self._asked)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def at_most(pages: int, within_secs: float, refusal: Refusal) -> Answer:
    """Refuse what comes when so many pages were served within so many seconds."""

    def answer(visit: Visit, site: RefusingSite) -> Refusal | None:
        if visit.path not in site.pages:
            return None
        return refusal if site.served_since(visit.at - within_secs) >= pages else None

    return answer


def until_asked(paths: Mapping[str, int], refusal: Refusal) -> Answer:
    """Refuse each of some paths so many times."""

    def answer(visit: Visit, site: RefusingSite) -> Refusal | None:
        return refusal if visit.number <= paths.get(visit.path, 0) else None

    return answer


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: clients are killed in the middle."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 30
    wbufsize = -1
    disable_nagle_algorithm = True
    site: RefusingSite

    def do_GET(self) -> None:
        refusal = self.site.take(self.path)
        if refusal is not None and not refusal.status:
            self.close_connection = True
            return
        body = self.site.pages.get(self.path)
        status = 404 if body is None else 200
        headers: Mapping[str, str] = {}
        if refusal is not None:
            status, headers, body = refusal.status, refusal.headers, b"not now"
        try:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            kind = "text/plain" if self.path == "/robots.txt" else "text/html; charset=utf-8"
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body or b"")))
            self.send_header("Connection", "close")  # a site that ends is asked no more
            self.end_headers()
            self.wfile.write(body or b"")
        except (TimeoutError, ConnectionError):
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""
