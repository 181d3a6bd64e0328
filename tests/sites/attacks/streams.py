"""Bodies without end, and chunks that are none."""

from __future__ import annotations

from itertools import chain, repeat
from typing import TYPE_CHECKING

from tests.sites.attacks.wire import OK, say_for_ever, saying
from tests.sites.prose import document, prose

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tests.sites.exchange import Exchange

CHUNKED = OK + b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
_MEGABYTE = f"<p>{prose('without end')}</p>\n".encode() * 1000


def _endless(
    head: bytes, pieces: Callable[[], Iterable[bytes]], pause_secs: float = 0
) -> Callable[[Exchange], None]:
    def play(exchange: Exchange) -> None:
        exchange.wfile.write(head)
        say_for_ever(exchange, pieces(), pause_secs)

    return play


def _chunk(body: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(body), body)


def _chunked(*parts: bytes) -> Callable[[Exchange], None]:
    """A page of its own, then parts that are to be chunks."""
    page = document(f"Chunked {len(parts)} {parts[0][:12]!r}")
    return saying(CHUNKED, _chunk(page), *parts)


ATTACKS: dict[str, Callable[[Exchange], None]] = {
    "/stream/endless": _endless(OK + b"\r\n", lambda: repeat(_MEGABYTE)),
    "/stream/endless-chunks": _endless(CHUNKED, lambda: repeat(_chunk(_MEGABYTE))),
    "/stream/tiny-chunks": _endless(CHUNKED, lambda: repeat(b"1\r\nx\r\n"), 0.2),
    "/stream/drip": _endless(OK + b"\r\n", lambda: repeat(b"x"), 0.3),
    "/stream/zip-called-html": _endless(
        OK + b"Content-Length: 1073741824\r\n\r\n",
        lambda: chain([b"PK\x03\x04"], repeat(bytes(65536))),
    ),
    "/stream/endless-zip": _endless(
        OK + b"\r\n", lambda: chain([b"PK\x03\x04"], repeat(bytes(65536)))
    ),
    "/chunks/no-size": _chunked(b"zz\r\nwhat\r\n0\r\n\r\n"),
    "/chunks/negative": _chunked(b"-5\r\nwhat\r\n0\r\n\r\n"),
    "/chunks/huge": _chunked(b"f" * 40 + b"\r\nwhat\r\n"),
    "/chunks/too-short": _chunked(b"2\r\nwhat\r\n0\r\n\r\n"),
    "/chunks/no-end": _chunked(b"5\r\nwh"),
    "/chunks/long-size": _chunked(b"0" * 100_000 + b"1\r\nx\r\n0\r\n\r\n"),
    "/chunks/extension": _chunked(b"1;" + b"e" * 100_000 + b"\r\nx\r\n0\r\n\r\n"),
    "/chunks/trailers": _chunked(b"0\r\n", b"X-Trailer: x\r\n" * 100_000, b"\r\n"),
}
