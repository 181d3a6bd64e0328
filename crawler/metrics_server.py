"""Serve a text at ``/metrics`` by HTTP, on the event loop of the crawl."""

from __future__ import annotations

import asyncio
import os
import socket
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_PATIENCE_SECS = 5.0
_MAX_HEAD_BYTES = 16_384

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_bound: dict[tuple[str, int], socket.socket] = {}


def reserve(host: str, port: int) -> None:
    """Bind a port before the crawl begins; ``take`` returns it.

    Raises:
        ValueError: It is taken, or the host is not of this machine.
    """
    _bound[host, port] = _bind(host, port)


def take(host: str, port: int) -> socket.socket:
    """Return the socket of a port, which is bound now unless it is reserved.

    Raises:
        ValueError: It cannot be bound.
    """
    return _bound.pop((host, port), None) or _bind(host, port)


def release(host: str, port: int) -> None:
    """Close a reserved socket that was not taken."""
    if (bound := _bound.pop((host, port), None)) is not None:
        bound.close()


def _bind(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except (OSError, OverflowError) as error:
        # create_server adds the address to the words of the system.
        code = getattr(error, "errno", None)
        why = os.strerror(code) if code is not None and code > 0 else error
        raise ValueError(f"METRICS_PORT: cannot listen at {place(host, port)}: {why}") from None


def place(host: str, port: int) -> str:
    """Return host and port as a URL has them."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


class MetricsServer:
    """Answers ``GET /metrics`` with the text of a function, one request a connection.

    Args:
        listener: A bound socket.
        text: Returns the text; called for each request.
    """

    def __init__(self, listener: socket.socket, text: Callable[[], str]) -> None:
        self._listener = listener
        self._text = text
        self._server: asyncio.Server | None = None

    @property
    def url(self) -> str:
        host, port = self._listener.getsockname()[:2]
        return f"http://{place(host, port)}/metrics"

    async def start(self) -> None:
        self._server = await asyncio.start_server(
            self._serve, sock=self._listener, limit=_MAX_HEAD_BYTES
        )

    def close(self) -> None:
        """Listen no longer; closing twice is allowed."""
        if self._server is not None:
            self._server.close()
        self._listener.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        errors = (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError)
        try:
            with suppress(*errors):
                async with asyncio.timeout(_PATIENCE_SECS):
                    head = await reader.readuntil(b"\r\n\r\n")
                    writer.write(self._answer(head))
                    await writer.drain()
        finally:
            writer.close()

    def _answer(self, head: bytes) -> bytes:
        method, _, rest = head.partition(b" ")
        path = rest.partition(b" ")[0].partition(b"?")[0]
        if method not in {b"GET", b"HEAD"}:
            return _message("405 Method Not Allowed", b"GET is allowed\n")
        if path != b"/metrics":
            return _message("404 Not Found", b"there is only /metrics\n")
        body = self._text().encode()
        return _message("200 OK", body, is_whole=method == b"GET")


def _message(status: str, body: bytes, *, is_whole: bool = True) -> bytes:
    head = (
        f"HTTP/1.1 {status}\r\nContent-Type: {CONTENT_TYPE}\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + (body if is_whole else b"")
