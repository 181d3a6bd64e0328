"""The server of the lab: one process, one socket, nothing that is not its own."""

from __future__ import annotations

import logging
import secrets
import webbrowser
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, cast
from urllib.parse import parse_qsl, urlencode

import uvicorn
from fastapi import FastAPI
from nicegui import Client, background_tasks, ui
from starlette.concurrency import iterate_in_threadpool
from starlette.datastructures import Headers
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse, RedirectResponse

from crawler.lab.app.binding import Door
from crawler.lab.app.frame import Frame, use_themes
from crawler.rendering.login import has_display

if TYPE_CHECKING:
    import socket
    from collections.abc import AsyncIterable, AsyncIterator, Callable

    from starlette.middleware.base import RequestResponseEndpoint
    from starlette.requests import Request
    from starlette.responses import Response, StreamingResponse
    from starlette.types import ASGIApp, Receive, Scope, Send

    from crawler.lab.app.binding import Bound
    from crawler.lab.app.lab_state import Lab

_HEADERS = {
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}

# NiceGUI evaluates what its own server sends (unsafe-eval), Quasar sets styles on elements. A
# script that stands in the page must carry the nonce, which crawled text cannot know.
_CONTENT = (
    "default-src 'none'; script-src 'self' 'nonce-{nonce}' 'unsafe-eval'; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; "
    "connect-src 'self' ws://{host} wss://{host}; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'"
)

RECONNECT_SECS = 30.0
"""The longest silence of a window in seconds. A window that was silent for longer is loaded again,
which loses what a person wrote in it.
"""

MAX_WINDOWS = 64
"""The largest number of windows at a time, two MB each; one that was asked for and never opened
counts for a minute. Beyond it the oldest of those that were never opened is closed.
"""

_FOLDER = Path(__file__).parent
_ICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">'
    '<rect x="1" y="3" width="9" height="10" rx="1" fill="#2f6fb3"/>'
    '<rect x="6" y="1" width="9" height="10" rx="1" fill="#b9772b" fill-opacity=".75"/></svg>'
)


class SecurityHeaders(BaseHTTPMiddleware):
    """Adds the headers, and to a page's own scripts the nonce that lets them run.

    A page is held until it is whole.
    """

    async def dispatch(self, request: Request, call_next: RequestResponseEndpoint) -> Response:
        answer = cast("StreamingResponse", await call_next(request))
        nonce, host = secrets.token_urlsafe(16), request.headers.get("host", "localhost")
        content = _CONTENT.format(nonce=nonce, host=host)
        answer.headers.update({**_HEADERS, "Content-Security-Policy": content})
        if answer.headers.get("content-type", "").startswith("text/html"):
            parts = cast("AsyncIterable[bytes]", answer.body_iterator)
            body = b"".join([part async for part in parts])
            # In crawled text angle brackets are escaped.
            page = body.replace(b"<script", f'<script nonce="{nonce}"'.encode())
            answer.headers["Content-Length"] = str(len(page))
            answer.body_iterator = iterate_in_threadpool(iter([page]))
        return answer


def make_app(lab: Lab, bound: Bound, announce: Callable[[], None]) -> ASGIApp:
    """Return the application behind its guard; it reads new pages as long as it runs.

    Args:
        lab: The lab that it shows; closed when the application ends.
        bound: The socket on which it listens.
        announce: Called as soon as requests are answered.
    """

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        background_tasks.create(lab.keep_growing(), name="lab")
        announce()
        yield
        lab.close()
        # On Python 3.11 a task may miss that it was cancelled, and NiceGUI logs that.
        logging.getLogger("nicegui").setLevel(logging.CRITICAL)

    # Its loggers would print what a stranger asked for that is not there.
    logging.getLogger("nicegui").setLevel(logging.ERROR)
    ui.add_head_html(f"<style>{_styles()}</style>", shared=True)
    use_themes()

    @ui.page("/")
    def page(tab: str = "", tried: str = "") -> PlainTextResponse | None:
        if not _makes_room(ui.context.client):
            return PlainTextResponse("too many windows: close some, or wait a minute\n", 503)
        Frame(lab, tab, tried)
        return None

    served = FastAPI(lifespan=lifespan, docs_url=None, redoc_url=None, openapi_url=None)
    ui.run_with(
        served,
        title="crawl lab",
        favicon=_ICON,
        dark=None,
        language="en-US",
        reconnect_timeout=RECONNECT_SECS,
        tailwind=False,
        gzip_middleware_factory=None,  # it stays on this machine, as a rule
        show_welcome_message=False,
    )
    return Guard(SecurityHeaders(served), Door.of(bound))


def _makes_room(asked: Client) -> bool:
    """Close a window that was never opened where there are too many; return whether one fits.

    So a program that asks for windows shuts no person out, and no window in view is closed.
    """
    if len(Client.instances) <= MAX_WINDOWS:
        return True
    others = (window for window in Client.instances.values() if window is not asked)
    closed = next((window for window in others if not window.has_socket_connection), asked)
    closed.delete()
    return closed is not asked


def _styles() -> str:
    return "\n".join(file.read_text(encoding="utf-8") for file in sorted(_FOLDER.glob("*.css")))


def serve(application: ASGIApp, listening: socket.socket) -> None:
    """Serve until the process is told to stop.

    Raises:
        KeyboardInterrupt: Ctrl-C was pressed; all is closed by then.
    """
    config = uvicorn.Config(
        application,
        log_level="error",
        access_log=False,
        ws="wsproto",
        server_header=False,
        timeout_graceful_shutdown=1,
    )
    uvicorn.Server(config).run(sockets=[listening])


def open_browser(address: str) -> None:
    """Show the address in the user's browser, where there is a display to show it on."""
    if has_display():
        webbrowser.open(address)


_ORIGINS = {"http": "http", "ws": "http", "https": "https", "wss": "https"}
_SOCKETS = "/_nicegui_ws/"


class Guard:
    """The outermost layer: what it refuses, nothing behind it ever sees.

    NiceGUI lets every origin talk to its socket; here it is only the page's own. Refused are a
    foreign Host (a name that was rebound to this machine), a foreign Origin, what a browser says
    comes from another site, and without the token, where there is one, everything.

    Args:
        app: The application to guard.
        door: The proofs that a request must show.
    """

    def __init__(self, app: ASGIApp, door: Door) -> None:
        self.app = app
        self._door = door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        headers = _Headers(scope=scope)
        reason = self._fault(scope, headers)
        if reason is None and scope["type"] == "http" and (query := self._entry(scope)) is not None:
            await self._let_in(scope, query, receive, send)
        elif reason is None and not self._door.knows(
            HTTPConnection(scope).cookies.get(self._door.cookie)
        ):
            await _refuse(scope, receive, send, "the address that the lab printed has a token")
        elif reason is not None:
            await _refuse(scope, receive, send, reason)
        else:
            await self.app(scope, receive, send)

    def _fault(self, scope: Scope, headers: _Headers) -> str | None:
        host = headers.one("host")
        if host is None or not self._door.is_ours(host):
            return "not the address of this lab"
        origin = headers.one("origin")
        own = f"{_ORIGINS.get(scope.get('scheme', 'http'), 'http')}://{host.lower()}"
        if "origin" in headers and (origin is None or origin.lower() != own):
            return "asked for by a page of another origin"
        site = headers.one("sec-fetch-site")
        if site == "cross-site" or (site == "same-site" and not headers.is_navigation):
            return "asked for by another site"
        return _fault_of_method(scope)

    def _entry(self, scope: Scope) -> str | None:
        """Return the rest of the query where it brings the token; None: it does not."""
        if self._door.token is None or scope["path"] != "/":
            return None
        query = parse_qsl(scope["query_string"].decode("latin-1"))
        if not any(name == "token" and self._door.knows(value) for name, value in query):
            return None
        return urlencode([pair for pair in query if pair[0] != "token"])

    async def _let_in(self, scope: Scope, query: str, receive: Receive, send: Send) -> None:
        """Keep the token where scripts cannot read it, and take it out of the address."""
        answer = RedirectResponse("/" + (f"?{query}" if query else ""), 303)
        assert self._door.token is not None
        answer.set_cookie(self._door.cookie, self._door.token, httponly=True, samesite="strict")
        answer.headers["Cache-Control"] = "no-store"
        answer.headers["Referrer-Policy"] = "no-referrer"
        await answer(scope, receive, send)


class _Headers(Headers):
    """The headers of a request; of those that must stand once, a second one is a fault."""

    def one(self, name: str) -> str | None:
        values = self.getlist(name)
        return values[0].strip() if len(values) == 1 else None

    @property
    def is_navigation(self) -> bool:
        return self.one("sec-fetch-mode") == "navigate" and self.one("sec-fetch-dest") == "document"


def _fault_of_method(scope: Scope) -> str | None:
    if scope["type"] == "websocket" or scope["method"] in ("GET", "HEAD"):
        return None
    if scope["method"] == "POST" and scope["path"].startswith(_SOCKETS):
        return None
    return f"nothing here takes {scope['method']}"


async def _refuse(scope: Scope, receive: Receive, send: Send, reason: str) -> None:
    """Answer 403; a websocket is closed before it is accepted, which is a 403 too."""
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008})
        return
    await PlainTextResponse(f"refused: {reason}\n", 403)(scope, receive, send)
