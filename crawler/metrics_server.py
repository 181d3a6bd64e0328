"""Serve metrics at ``/metrics`` by HTTP, on the event loop of the crawl."""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

_PATIENCE_SECS = 5.0

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
    """Answers ``GET /metrics`` with what a registry collects then.

    Args:
        listener: A bound socket.
        registry: What is told.
    """

    def __init__(self, listener: socket.socket, registry: CollectorRegistry) -> None:
        self._listener = listener
        self._registry = registry
        self._port: Any = None

    @property
    def url(self) -> str:
        host, port = self._listener.getsockname()[:2]
        return f"http://{place(host, port)}/metrics"

    def start(self) -> None:
        # Most crawls serve none, and each command imports this module.
        from prometheus_client import CONTENT_TYPE_LATEST, generate_latest  # noqa: PLC0415
        from twisted.internet import reactor  # noqa: PLC0415
        from twisted.web.http import SERVICE_UNAVAILABLE  # noqa: PLC0415
        from twisted.web.resource import Resource  # noqa: PLC0415
        from twisted.web.server import Request, Site  # noqa: PLC0415

        def answer(request: Request) -> bytes:
            if self._port is None:  # the connection was there before the crawl ended
                request.setResponseCode(SERVICE_UNAVAILABLE)
                return b""
            request.setHeader("Content-Type", CONTENT_TYPE_LATEST)
            return generate_latest(self._registry)

        root: Any = Resource()
        metrics: Any = Resource()
        metrics.render_GET = answer
        root.putChild(b"metrics", metrics)
        self._listener.setblocking(False)  # or the loop waits in accept
        self._port = reactor.adoptStreamPort(
            self._listener.fileno(), self._listener.family, Site(root, timeout=_PATIENCE_SECS)
        )

    def close(self) -> None:
        """Listen no longer; closing twice is allowed."""
        if self._port is not None:
            self._port.stopListening()
            self._port = None
        self._listener.close()
