"""Serve only the reader's own browser on this machine, or a holder of the token."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode

from starlette.responses import PlainTextResponse, RedirectResponse

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from crawler.lab.app.binding import Door

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
        headers = _Headers(scope)
        reason = self._fault(scope, headers)
        if reason is None and scope["type"] == "http" and (query := self._entry(scope)) is not None:
            await self._let_in(scope, query, receive, send)
        elif reason is None and not self._door.knows(headers.cookie(self._door.cookie)):
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
        if headers.count("origin") and (origin is None or origin.lower() != own):
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


class _Headers:
    """The headers of a request; of those that must stand once, a second one is a fault."""

    def __init__(self, scope: Scope) -> None:
        self._values: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            self._values.setdefault(name.decode("latin-1").lower(), []).append(
                value.decode("latin-1")
            )

    def count(self, name: str) -> int:
        return len(self._values.get(name, ()))

    def one(self, name: str) -> str | None:
        values = self._values.get(name, ())
        return values[0].strip() if len(values) == 1 else None

    def cookie(self, name: str) -> str | None:
        """Its value, whatever stands in the cookies of other servers on this machine."""
        for pair in "; ".join(self._values.get("cookie", ())).split(";"):
            key, _, value = pair.strip().partition("=")
            if key == name:
                return value
        return None

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
