"""Pages that are HTTP as it should be, and poison for whoever reads them."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from tests.sites.prose import document, prose

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.sites.exchange import Exchange

LINKS = 1_000_000
DEPTH = 100_000

_ESCAPES = (
    "../../../../../../etc/passwd",
    "/plain/..%2f..%2f..%2fetc%2fpasswd",
    "/plain/%00",
    "/plain/\x00nul",
    "/plain/con",
    "/plain/%2e%2e/%2e%2e/x",
    "/plain/\\..\\..\\x",
    "/plain/" + "n" * 300,
    "/plain/\x01\x02\x1b[2J",
    "/plain/\u202egnp.exe",
    "java\nscript:alert(1)",
    "http://127.0.0.1:port\x00@evil.invalid/",
)


def _page(
    make: Callable[[], bytes], kind: str = "text/html; charset=utf-8"
) -> Callable[[Exchange], None]:
    once = cache(make)
    return lambda exchange: exchange.answer(once(), kind)


def _with(title: str, body: Callable[[], str], head: str = "") -> Callable[[Exchange], None]:
    return _page(lambda: document(title, body(), head))


def _links(addresses: list[str]) -> str:
    return "".join(f'<a href="{address}">x</a>' for address in addresses)


def _million() -> str:
    return "".join(f"<a href=/l/{number}>" for number in range(LINKS))


def _laughs() -> bytes:
    names = "".join(f'<!ENTITY a{level} "{f"&a{level - 1};" * 10}">' for level in range(1, 12))
    page = document("A billion laughs", "<p>&a11;</p>").decode()
    return page.replace("<!DOCTYPE html>", f'<!DOCTYPE html [<!ENTITY a0 "ha">{names}]>').encode()


def _noise() -> bytes:
    """Every byte there is, declared as UTF-8."""
    return document("All bytes") + bytes(range(256)) * 400


ATTACKS: dict[str, Callable[[Exchange], None]] = {
    "/markup/million-links": _with("A million links", _million),
    "/markup/long-urls": _with(
        "Long URLs", lambda: _links([f"/{letter * 100_000}" for letter in "abc"] + ["/plain/951"])
    ),
    "/markup/base-amplifies": _with(
        "A base that amplifies",
        lambda: "".join(f"<a href=l{number}>" for number in range(100_000)),
        f'<base href="/l/{"b" * 8000}/">',
    ),
    "/markup/deep": _with(
        "Deep", lambda: "<div>" * DEPTH + prose("in the deep") + "</div>" * DEPTH
    ),
    "/markup/deep-mixed": _with(
        "Deep and mixed", lambda: "<b><i><table><tr><td>" * (DEPTH // 5) + prose("mixed")
    ),
    "/markup/deep-quotes": _with("Deep, with quotes", lambda: "<div a=\"'" * DEPTH),
    "/markup/unclosed": _with("Unclosed", lambda: "<a href='/plain/952'>x</a>" + "<!--" * DEPTH),
    "/markup/comments": _page(lambda: b"<!---->" * 290 + b"no tag", "text/plain"),
    "/markup/laughs": _page(_laughs, "application/xhtml+xml"),
    "/markup/authors": _with(
        "Lists of lists of authors",
        lambda: "<p>x</p>",
        '<script type="application/ld+json">{"author":' + "[" * 9000 + "]" * 9000 + "}</script>",
    ),
    "/markup/escapes": _with("Escapes", lambda: _links([*_ESCAPES, "/plain/953"])),
    "/markup/long-words": _with(
        "Long words", lambda: "", f'<link rel="canonical" href="/{"c" * 500_000}">'
    ),
    "/markup/long-title": _page(lambda: document("t" * 1_000_000)),
    "/markup/refresh/1": _with(
        "Refresh to 2", lambda: "", '<meta http-equiv="refresh" content="0;url=/markup/refresh/2">'
    ),
    "/markup/refresh/2": _with(
        "Refresh to 1", lambda: "", '<meta http-equiv="refresh" content="0;url=/markup/refresh/1">'
    ),
    "/markup/noise": _page(_noise),
    "/markup/utf16-lie": _page(lambda: document("Called UTF-16"), "text/html; charset=utf-16"),
    "/markup/utf7-lie": _page(lambda: document("Called UTF-7"), "text/html; charset=utf-7"),
    "/markup/codec-lie": _page(lambda: document("Called zlib"), "text/html; charset=zlib_codec"),
    "/markup/attributes": _with(
        "Attributes", lambda: "<p " + " ".join(f"a{n}=b" for n in range(50_000)) + ">x</p>"
    ),
}
