"""Sitemaps that list nonsense, name one another without end, or are none."""

from __future__ import annotations

import gzip
from html import escape
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tests.sites.exchange import Exchange

_LISTED = (
    "/sitemap/pages",
    "/sitemap/packed",
    "/sitemap/torn",
    "/sitemap/garbage",
    "/sitemap/missing",
    "/sitemap/endless",
    "http://[::1/sitemap",
    "http://127.0.0.1:99999/sitemap",
    "ftp://127.0.0.1/sitemap",
)
_PAGES = (
    "/plain/941",
    " /plain/942\n",
    "http://[::1/",
    "http://127.0.0.1:99999/",
    "http://example.invalid/",
    "mailto:a@example.org",
    "",
)


def _xml(kind: str, entry: str, locations: Iterable[str]) -> bytes:
    entries = "".join(f"<{entry}><loc>{escape(place)}</loc></{entry}>" for place in locations)
    space = "http://www.sitemaps.org/schemas/sitemap/0.9"
    return f'<?xml version="1.0"?><{kind} xmlns="{space}">{entries}</{kind}>'.encode()


def _urlset(locations: Iterable[str]) -> bytes:
    return _xml("urlset", "url", locations)


def _index(locations: Iterable[str]) -> bytes:
    return _xml("sitemapindex", "sitemap", locations)


def endless(exchange: Exchange) -> None:
    """An index that names the next index."""
    asked = parse_qs(urlsplit(exchange.path).query)
    step = int(asked.get("step", ["0"])[0])
    exchange.answer(_index([f"/sitemap/endless?step={step + 1}"]), "application/xml")


def _file(content: bytes, content_type: str = "application/xml") -> Callable[[Exchange], None]:
    return lambda exchange: exchange.answer(content, content_type)


TRICKS: dict[str, Callable[[Exchange], None]] = {
    "/sitemap/index": _file(_index(_LISTED)),
    "/sitemap/pages": _file(_urlset(_PAGES)),
    "/sitemap/packed": _file(gzip.compress(_urlset(["/plain/943"])), "application/gzip"),
    "/sitemap/torn": _file(b"\x1f\x8b\x08" + b"x" * 99, "application/gzip"),
    "/sitemap/garbage": _file(b"no XML at all", "text/plain"),
    "/sitemap/endless": endless,
}
