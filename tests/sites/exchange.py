"""One request to the hostile site and the means to answer it badly."""

from __future__ import annotations

import socket
import struct
import time
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from threading import Event

HTML = "text/html; charset=utf-8"


@dataclass(frozen=True)
class Asked:
    """A request as it came. Header names are in lower case, ``at`` is monotonic seconds."""

    method: str
    path: str
    at: float
    headers: Mapping[str, str]


class Stage(Protocol):
    """What an exchange wants of its server."""

    closing: Event

    def note(self, asked: Asked) -> None: ...

    def trick_for(self, path: str) -> Callable[[Exchange], None]: ...


class Exchange(BaseHTTPRequestHandler):
    """Finds the trick of a path and lets it play; every sending method is for tricks."""

    protocol_version = "HTTP/1.1"
    timeout = 30
    wbufsize = -1
    disable_nagle_algorithm = True
    stage: Stage
    body = b""
    """What was posted."""

    def do_GET(self) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.stage.note(Asked(self.command, self.path, time.monotonic(), headers))
        self.stage.trick_for(self.path)(self)

    do_HEAD = do_GET  # noqa: N815 - the name is http.server's

    def do_POST(self) -> None:
        self.body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.do_GET()

    def head(self, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        """Send the status and exactly these headers, besides Server and Date."""
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.flush()

    def answer(
        self,
        body: bytes,
        content_type: str = HTML,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Send a whole and honest answer."""
        length = {"Content-Type": content_type, "Content-Length": str(len(body))}
        self.head(status, length | dict(headers or {}))
        if self.command != "HEAD":
            self.wfile.write(body)
            self.wfile.flush()

    def redirect(self, location: str, headers: Mapping[str, str] | None = None) -> None:
        self.answer(b"", status=302, headers={"Location": location} | dict(headers or {}))

    def hang_up(self) -> None:
        """End the connection after what was sent, as if nothing were missing."""
        self.close_connection = True

    def reset(self) -> None:
        """End the connection with RST, which throws away what the client has not read."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing; the site keeps its own record."""
