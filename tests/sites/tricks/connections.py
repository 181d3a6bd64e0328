"""Connections that drag, break, or speak something else."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from tests.sites.prose import document

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.sites.exchange import Exchange

DRIP_SECS = 300
DRIP_PAUSE_SECS = 0.2


def drip(exchange: Exchange) -> None:
    """A few bytes at a time for five minutes, or until the client or the site has enough."""
    exchange.head(headers={"Content-Type": "text/html", "Connection": "close"})
    exchange.hang_up()
    deadline = time.monotonic() + DRIP_SECS
    while time.monotonic() < deadline and not exchange.stage.closing.wait(DRIP_PAUSE_SECS):
        exchange.wfile.write(b"<p>drop</p>\n")
        exchange.wfile.flush()


def silent(exchange: Exchange) -> None:
    """No answer at all, for as long as a drip would last."""
    exchange.hang_up()
    exchange.stage.closing.wait(DRIP_SECS)


def reset(exchange: Exchange) -> None:
    exchange.reset()


def reset_midway(exchange: Exchange) -> None:
    body = document("Torn in the middle")
    exchange.head(headers={"Content-Type": "text/html", "Content-Length": str(len(body))})
    exchange.wfile.write(body[: len(body) // 2])
    exchange.wfile.flush()
    exchange.reset()


def not_http(exchange: Exchange) -> None:
    exchange.wfile.write(b"220 mail.example ESMTP ready\r\n")
    exchange.hang_up()


def server_error(exchange: Exchange) -> None:
    exchange.answer(document("Out of order"), status=500)


def gone(exchange: Exchange) -> None:
    exchange.answer(document("Gone for good"), status=410)


def missing(exchange: Exchange) -> None:
    exchange.answer(document("Never was here"), status=404)


TRICKS: dict[str, Callable[[Exchange], None]] = {
    "/drip": drip,
    "/silent": silent,
    "/reset": reset,
    "/reset-midway": reset_midway,
    "/not-http": not_http,
    "/error-500": server_error,
    "/gone-410": gone,
    "/missing-404": missing,
}
