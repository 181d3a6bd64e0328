"""Requests to the lab: heads and targets before its guard, and before the whole application."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from crawler.downloading.message_head import read_head
from crawler.lab.app.lab_server import Guard, SecurityHeaders
from tests.crawler.lab.app.test_lab_server import LOCAL, OPEN, _application
from tests.fuzzing.target import Target

if TYPE_CHECKING:
    from pathlib import Path

    from starlette.types import Message

    from crawler.lab.app.binding import Door
    from tests.fuzzing.target import Read

_KINDS = ("http", "websocket")


def _scope(data: bytes) -> dict[str, Any] | None:
    """Return what a server makes of the head of a request, as far as it takes it."""
    head = read_head(data[1:])
    if head is None:
        return None
    method, _, rest = head.first_line.partition(b" ")
    target = rest.partition(b" ")[0]
    path, _, query = target.partition(b"?")
    kind = _KINDS[(data[0] >> 1) % 2]
    scope: dict[str, Any] = {
        "type": kind,
        "scheme": "ws" if kind == "websocket" else "http",
        "path": path.decode("utf-8", "replace"),
        "query_string": query,
        "headers": [(name.lower(), value) for name, value in head.headers],
    }
    if kind == "http":
        scope["method"] = method.decode("latin-1")
    return scope


async def _ask(door: Door, scope: dict[str, Any]) -> None:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "http.request", "body": b""}

    await Guard(SecurityHeaders(_application), door)(scope, receive, send)
    assert sent
    for name, value in sent[0].get("headers", ()):
        assert b"\n" not in name + value


def _begin(_: Path) -> Read:
    loop = asyncio.new_event_loop()

    def read(data: bytes) -> None:
        scope = _scope(data) if data else None
        if scope is not None:
            loop.run_until_complete(_ask((LOCAL, OPEN)[data[0] % 2], scope))

    return read


def _seeds() -> list[bytes]:
    host, cookie = b"Host: 127.0.0.1:8123\r\n", b"Cookie: a=b; lab-8123=s3cret\r\n"
    origin = b"Origin: http://127.0.0.1:8123\r\nSec-Fetch-Site: same-origin\r\n"
    line = b"GET /?token=s3cret&tab=pairs&tried=3%20x HTTP/1.1\r\n"
    heads = (line + host, line + host + cookie + origin, b"POST /_nicegui_ws/x HTTP/1.1\r\n" + host)
    return [bytes([number]) + head + b"\r\n" for head in heads for number in range(4)]


TARGETS = (Target("lab-requests", _seeds, _begin, max_bytes=4096),)
