"""What a browser may do with the pages of the lab: little, so that a slip is no hole."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from starlette.datastructures import MutableHeaders

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

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


class SecurityHeaders:
    """Adds the headers, and to a page's own scripts the nonce that lets them run.

    Args:
        app: What answers; a page that it makes is held until it is whole.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and the answer back with the headers."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        await self.app(scope, receive, _Answer(_host(scope), send).send)


class _Answer:
    """One answer on its way back."""

    def __init__(self, host: str, send: Send) -> None:
        self._host = host
        self._send = send
        self._nonce = secrets.token_urlsafe(16)
        self._start: Message | None = None
        self._body = b""

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            content = _CONTENT.format(nonce=self._nonce, host=self._host)
            for name, value in {**_HEADERS, "Content-Security-Policy": content}.items():
                headers[name] = value
            if headers.get("content-type", "").startswith("text/html"):
                self._start = message
                return
        elif message["type"] == "http.response.body" and self._start is not None:
            self._body += message.get("body", b"")
            if not message.get("more_body"):
                await self._send_page(self._start)
            return
        await self._send(message)

    async def _send_page(self, start: Message) -> None:
        """What is crawled stands in a page with its angle brackets escaped; tags are our own."""
        body = self._body.replace(b"<script", b'<script nonce="%s"' % self._nonce.encode())
        MutableHeaders(scope=start)["Content-Length"] = str(len(body))
        await self._send(start)
        await self._send({"type": "http.response.body", "body": body})


def _host(scope: Scope) -> str:
    return next(
        (value.decode("latin-1") for name, value in scope["headers"] if name == b"host"),
        "localhost",
    )
