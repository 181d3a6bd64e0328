"""Status lines and headers: without end, in drops, too long, of no meaning."""

from __future__ import annotations

from itertools import count, repeat
from typing import TYPE_CHECKING

from tests.sites.attacks.wire import OK, answering, say, say_for_ever, saying
from tests.sites.prose import document

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.sites.exchange import Exchange

COOKIES = 5_000


def endless(exchange: Exchange) -> None:
    exchange.wfile.write(OK)
    say_for_ever(exchange, (b"X-%d: %s\r\n" % (number, b"x" * 4000) for number in count()))


def folded(exchange: Exchange) -> None:
    """One header that goes on line after line."""
    exchange.wfile.write(OK + b"X-Long: begins\r\n")
    say_for_ever(exchange, repeat(b" and goes on\r\n" * 300))


def many(exchange: Exchange) -> None:
    """A hundred thousand headers, and a page after them."""
    say(exchange, OK, *(b"X-%d: x\r\n" % number for number in range(100_000)))
    say(exchange, b"\r\n", document("Many headers"))


def drip(exchange: Exchange) -> None:
    exchange.wfile.write(OK)
    say_for_ever(exchange, repeat(b"x"), 0.3)


def informational(exchange: Exchange) -> None:
    say_for_ever(exchange, repeat(b"HTTP/1.1 100 Continue\r\n\r\n" * 400))


def _status(line: bytes) -> Callable[[Exchange], None]:
    page = document(f"Status {line!r}")
    return saying(line, b"\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n", page)


def _length(*values: bytes) -> Callable[[Exchange], None]:
    lengths = b"".join(b"Content-Length: %s\r\n" % value for value in values)
    return saying(OK, lengths, b"\r\n", document(f"Length {values[0][:20]!r} {len(values)}"))


def _location(value: bytes) -> Callable[[Exchange], None]:
    return saying(b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: ", value, b"\r\n\r\n")


def cookie_flood(exchange: Exchange) -> None:
    cookies = b"".join(
        b"Set-Cookie: name%d=%s; Path=/\r\n" % (n, b"v" * 20) for n in range(COOKIES)
    )
    say(exchange, OK, cookies, b"\r\n", document("A flood of cookies"))


def cookie_fat(exchange: Exchange) -> None:
    cookies = b"".join(b"Set-Cookie: fat%d=%s; Path=/\r\n" % (n, b"v" * 4000) for n in range(50))
    say(exchange, OK, cookies, b"\r\n", document("Fat cookies"))


_NOT_UTF8 = (
    b"HTTP/1.1 200 \xff\xfe\r\nContent-Type: text/html; charset=\xe4\xff\r\nX-Latin: \xfe\r\n"
    b"Set-Cookie: \xff=\xfe\xff; Path=/\xff\r\nETag: \xff\xff\r\nX-Robots-Tag: \xff, \xc3\r\n"
    b"Content-Encoding: \xff\r\nLast-Modified: \xff\r\nNo colon \xff\r\nConnection: close\r\n\r\n"
)

ATTACKS: dict[str, Callable[[Exchange], None]] = {
    "/head/endless": endless,
    "/head/folded": folded,
    "/head/many": many,
    "/head/long-line": saying(OK, b"X-Long: ", b"x" * 100_000, b"\r\n\r\n"),
    "/head/drip": drip,
    "/head/informational": informational,
    "/head/not-utf8": saying(_NOT_UTF8, document("Not UTF-8")),
    "/head/name-not-utf8": saying(OK, b"X-\xff: x\r\n\r\n", document("A name not UTF-8")),
    "/head/http-0.9": saying(document("No head at all")),
    "/head/http-7": _status(b"HTTP/7.3 200 OK"),
    "/head/status-99": _status(b"HTTP/1.1 99 Nobody knows"),
    "/head/status-999": _status(b"HTTP/1.1 999 Go away"),
    "/head/status-long": _status(b"HTTP/1.1 " + b"9" * 40 + b" OK"),
    "/head/status-negative": _status(b"HTTP/1.1 -200 OK"),
    "/head/status-word": _status(b"HTTP/1.1 fine OK"),
    "/head/length-huge": _length(b"9" * 30),
    "/head/length-digits": _length(b"9" * 5000),
    "/head/length-negative": _length(b"-5"),
    "/head/length-twice": _length(b"10", b"20"),
    "/head/length-short": _length(b"700"),
    "/head/length-long": _length(b"100000"),
    "/head/transfer-unknown": saying(OK, b"Transfer-Encoding: gzip\r\n\r\n", document("Unknown")),
    "/head/location-latin1": _location(b"/plain/caf\xe9"),
    "/head/location-controls": _location(b"/plain/\x01\x00\x7f"),
    "/head/location-long": _location(b"/" + b"l" * 12_000),
    "/head/location-host": _location(b"http://\xff\xfe\x00/"),
    "/head/refresh": answering(document("Refresh"), Refresh="0; url=/head/refresh"),
    "/cookies/flood": cookie_flood,
    "/cookies/fat": cookie_fat,
}
