"""Two servers, one of which answers nothing before the other has served its pages."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Self

PATIENCE_SECS = 30


class TwoHosts:
    """``slow`` holds every answer, also robots.txt, until ``fast`` has served enough pages.

    Attributes:
        was_held_up: The fast one was not asked for all its pages while the slow one held.
    """

    def __init__(self, fast_pages: int) -> None:
        self.fast_pages = fast_pages
        self.served: list[str] = []
        self.was_held_up = False
        self._done = threading.Event()
        self._lock = threading.Lock()
        self._servers = [self._server(is_slow=False), self._server(is_slow=True)]
        self.fast, self.slow = (
            f"http://127.0.0.1:{server.server_address[1]}" for server in self._servers
        )

    def _server(self, *, is_slow: bool) -> ThreadingHTTPServer:
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                if is_slow:
                    site.hold()
                self.send_response(404 if self.path == "/robots.txt" else 200)
                self.send_header("Content-Type", "text/plain")
                self.send_header("Content-Length", "0")
                self.end_headers()
                if self.path != "/robots.txt":
                    site.note(self.path, is_slow=is_slow)

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        return server

    def hold(self) -> None:
        if not self._done.wait(PATIENCE_SECS):
            self.was_held_up = True

    def note(self, path: str, *, is_slow: bool) -> None:
        with self._lock:
            self.served.append(path)
            if sum("/fast/" in one for one in self.served) >= self.fast_pages and not is_slow:
                self._done.set()

    def __enter__(self) -> Self:
        for server in self._servers:
            threading.Thread(target=server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        for server in self._servers:
            server.shutdown()
            server.server_close()
