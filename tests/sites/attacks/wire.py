"""Answers byte by byte, and answers without end: each ends with the client, the site or a bound."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tests.sites.exchange import Exchange

MAX_SECS = 60.0
MAX_BYTES = 2**28

OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n"


def say(exchange: Exchange, *parts: bytes) -> None:
    """Send these bytes and nothing else, then end the connection."""
    exchange.hang_up()
    for part in parts:
        exchange.wfile.write(part)
    exchange.wfile.flush()


def saying(*parts: bytes) -> Callable[[Exchange], None]:
    return lambda exchange: say(exchange, *parts)


def answering(body: bytes, **headers: str) -> Callable[[Exchange], None]:
    """A whole and honest answer; underscores in the names of headers stand for dashes."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda exchange: exchange.answer(body, headers=named)


def say_for_ever(exchange: Exchange, pieces: Iterable[bytes], pause_secs: float = 0) -> None:
    """Send pieces until nobody listens."""
    exchange.hang_up()
    deadline = time.monotonic() + MAX_SECS
    sent = 0
    for piece in pieces:
        if sent > MAX_BYTES or time.monotonic() > deadline:
            return
        if exchange.stage.closing.wait(pause_secs):
            return
        exchange.wfile.write(piece)
        exchange.wfile.flush()
        sent += len(piece)
