"""Another site, that links lead to: some of its pages are gone, some refuse HEAD or programs."""

from __future__ import annotations

import time
from http.server import BaseHTTPRequestHandler
from threading import Lock, Thread
from typing import Self

from tests.sites.serving import QuietServer

_STATUSES = {
    "/robots.txt": 200, "/alive": 200, "/gone": 404, "/no-head": 405, "/no-head-gone": 501,
    "/refuses": 403, "/moved": 301, "/secret": 404, "/large": 405,
}  # fmt: skip
_OF_GET = {"/no-head": 200, "/no-head-gone": 410, "/large": 200}

PATHS = [path for path in _STATUSES if path != "/robots.txt"]
DEAD = {"/gone": "HTTP 404", "/moved": "HTTP 404", "/no-head-gone": "HTTP 410"}


class Elsewhere:
    """Serves on 127.0.0.2 while a ``with`` block lasts.

    Attributes:
        asked: Methods and paths in the order of arrival.
        most_at_once: The largest number of requests that were under way together.
    """

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []
        self.most_at_once = 0
        self._under_way = 0
        self._lock = Lock()
        handler = type("BoundHandler", (_Handler,), {"site": self})
        self._server = QuietServer(("127.0.0.2", 0), handler)
        self._thread = Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self.origin = f"http://127.0.0.2:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def note(self, method: str, path: str, step: int) -> None:
        """Note that a request came (1) or is answered (-1)."""
        with self._lock:
            if step > 0:
                self.asked.append((method, path))
            self._under_way += step
            self.most_at_once = max(self.most_at_once, self._under_way)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 30
    site: Elsewhere

    def do_GET(self) -> None:
        self._answer("GET")

    def do_HEAD(self) -> None:
        self._answer("HEAD")

    def _answer(self, method: str) -> None:
        path = self.path
        self.site.note(method, path, 1)
        time.sleep(0.05)
        status = _STATUSES.get(path, 404)
        if method == "GET":
            status = _OF_GET.get(path, status)
        body = b"User-agent: *\nDisallow: /secret\n" if path == "/robots.txt" else b"<p>Here</p>"
        body = body * 50_000 if path == "/large" else body
        self.send_response(status)
        promised = 2**40 if (method, path) == ("HEAD", "/alive") else len(body)
        self.send_header("Content-Length", str(promised))
        self.send_header("Content-Type", "text/plain" if path == "/robots.txt" else "text/html")
        if status == 301:
            self.send_header("Location", "/gone")
        self.end_headers()
        self.site.note(method, path, -1)
        try:
            if method == "GET":
                self.wfile.write(body)
        except ConnectionError:
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""
