"""The HTTP server that the made sites share: loopback addresses, and one function that answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ssl import SSLSocket
from threading import Thread
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

HTML = "text/html; charset=utf-8"

OF_EVERY_HOST = frozenset({"/robots.txt", "/sitemap.xml", "/sitemap_index.xml", "/sitemap.xml.gz"})
"""Paths that a crawl asks each host for, whatever its pages link to."""


@dataclass(frozen=True, slots=True)
class Request:
    """A GET or HEAD request.

    Attributes:
        target: Path and query as they were sent, a whole URL where the site is a proxy.
        host: The ``Host`` header.
        agent: The ``User-Agent`` header.
        address: IP address of the interface that was asked.
        is_secure: Whether it came by TLS.
        cookie: The ``Cookie`` header, "" without one.
        referer: The ``Referer`` header, "" without one.
        etag: The ``If-None-Match`` header, "" without one.
        method: ``GET`` or ``HEAD``.
    """

    target: str
    host: str
    agent: str
    address: str
    is_secure: bool = False
    cookie: str = ""
    referer: str = ""
    etag: str = ""
    method: str = "GET"


@dataclass(frozen=True, slots=True)
class Response:
    """An answer."""

    body: bytes = b""
    status: int = 200
    content_type: str = HTML
    headers: Mapping[str, str] = field(default_factory=dict)
    missing_bytes: int = 0
    """So many more are promised than sent."""


NOT_FOUND = Response(status=404)


class QuietServer(ThreadingHTTPServer):
    """A server whose clients are stopped, killed or leave in the middle."""

    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing."""


class MadeSite(ABC):
    """Serves on loopback addresses while a ``with`` block lasts; subclasses say what.

    Args:
        addresses: IP addresses of the interfaces.
        port: On each of them; any that is free where it is 0.
    """

    def __init__(self, addresses: Sequence[str] = ("127.0.0.1",), port: int = 0) -> None:
        handler = type("BoundHandler", (_Handler,), {"site": self})
        first = QuietServer((addresses[0], port), handler)
        self.port = int(first.server_address[1])
        self._servers = [first]
        self._servers += [QuietServer((one, self.port), handler) for one in addresses[1:]]
        self._threads = [
            Thread(target=server.serve_forever, args=(0.05,), daemon=True)
            for server in self._servers
        ]
        self.origin = f"http://{addresses[0]}:{self.port}"

    @property
    def url(self) -> str:
        """The home page, with the final slash."""
        return f"{self.origin}/"

    @abstractmethod
    def respond(self, request: Request) -> Response | None:
        """Answer a request; None closes the connection without an answer."""

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        for server, thread in zip(self._servers, self._threads, strict=True):
            server.shutdown()
            server.server_close()
            thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 30
    wbufsize = -1
    disable_nagle_algorithm = True
    site: MadeSite
    server: QuietServer

    def do_GET(self) -> None:
        asked = Request(
            target=self.path,
            host=self.headers.get("Host", ""),
            agent=self.headers.get("User-Agent", ""),
            address=str(self.server.server_address[0]),
            is_secure=isinstance(self.connection, SSLSocket),
            cookie=self.headers.get("Cookie", ""),
            referer=self.headers.get("Referer", ""),
            etag=self.headers.get("If-None-Match", ""),
            method=self.command,
        )
        response = self.site.respond(asked)
        if response is None:
            self.close_connection = True
            return
        try:
            self.send_response(response.status)
            for name, value in response.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Type", response.content_type)
            self.send_header("Content-Length", str(len(response.body) + response.missing_bytes))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(response.body)
            self.close_connection = self.close_connection or bool(response.missing_bytes)
        except (TimeoutError, ConnectionError):
            self.close_connection = True

    def do_HEAD(self) -> None:
        self.do_GET()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing; sites keep their own records."""
