"""The demo site on a loopback port, for as long as a ``with`` block lasts."""

from __future__ import annotations

from email.utils import parsedate_to_datetime
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import TYPE_CHECKING, Self

from crawler.demo.site import lookup, pages

if TYPE_CHECKING:
    from email.message import Message

    from crawler.demo.page import Page


def _is_current(page: Page, asked: Message) -> bool:
    """Whether the client's copy is still good (RFC 9110, section 13.2.2)."""
    if page.status != HTTPStatus.OK:
        return False
    tags = asked.get("If-None-Match")
    if tags is not None:
        return page.headers["ETag"] in [tag.strip() for tag in tags.split(",")]
    since = asked.get("If-Modified-Since")
    if since is None:
        return False
    try:
        return parsedate_to_datetime(page.headers["Last-Modified"]) <= parsedate_to_datetime(since)
    except (ValueError, TypeError):  # TypeError: a date without a zone cannot be compared
        return False  # a date that cannot be read is to be ignored


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "HarbourHandbook"
    sys_version = ""
    timeout = 30  # seconds an idle connection is kept
    # Head and body in one segment; else Nagle and delayed ACKs cost 40 ms a page.
    wbufsize = -1
    disable_nagle_algorithm = True
    server: _Server

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def _answer(self, *, with_body: bool) -> None:
        self.server.note(self.path)
        page = lookup(self.server.site, self.path)
        current = _is_current(page, self.headers)
        self.send_response(HTTPStatus.NOT_MODIFIED if current else page.status)
        for name, value in page.headers.items():
            self.send_header(name, value)
        if not current:
            self.send_header("Content-Length", str(len(page.body)))
        self.end_headers()
        if with_body and not current:
            self.wfile.write(page.body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing: the terminal belongs to the crawl."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self.site = pages(self.url)
        self._targets: list[str] = []
        self._lock = Lock()

    def note(self, target: str) -> None:
        with self._lock:
            self._targets.append(target)

    def targets(self) -> list[str]:
        with self._lock:
            return list(self._targets)

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: a client that leaves in the middle is no concern of the demo."""


class DemoServer:
    """Serves the demo site from a thread.

    ``with DemoServer() as server: crawl(server.url)``
    """

    def __init__(self) -> None:
        self._server = _Server()
        self._thread = Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        """Where the site begins, with the final slash."""
        return f"{self._server.url}/"

    @property
    def requests(self) -> list[str]:
        """The targets (path and query) asked for so far, in order."""
        return self._server.targets()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
