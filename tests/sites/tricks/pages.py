"""Pages whose links are the trick: too many, hidden, moved, malformed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.sites.prose import document

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.sites.exchange import Exchange

MANY_LINKS = 20_000

_MALFORMED = ("http://[", "http://", "ht!tp://x/", "//", "http://x:99999/", "http:///a", "\\\\x\\y")
_OTHER_SCHEMES = (
    "mailto:a@example.org",
    "javascript:void(0)",
    "tel:+4912345",
    "data:text/html,<p>hi</p>",
    "file:///etc/passwd",
    "ftp://127.0.0.1/x",
    "#top",
    "",
)


def numbered(exchange: Exchange) -> None:
    """An honest page, another one for each number."""
    exchange.answer(document(f"Page {exchange.path}"))


def many_links(exchange: Exchange) -> None:
    links = "".join(f'<a href="/many/{number}">{number}</a>\n' for number in range(MANY_LINKS))
    exchange.answer(document("Twenty thousand links", links))


def odd_links(exchange: Exchange) -> None:
    """Two links that lead somewhere among many that do not."""
    links = "".join(f'<a href="{href}">x</a>' for href in (*_MALFORMED, *_OTHER_SCHEMES))
    good = '<a href=" /plain/921\n">spaces</a><a href="/pla\tin/922">tab</a>'
    exchange.answer(document("Odd links", links + good))


def meta_refresh(exchange: Exchange) -> None:
    head = '<meta http-equiv="refresh" content="0; url=/plain/911">'
    exchange.answer(document("Refreshed by meta", head=head))


def base_href(exchange: Exchange) -> None:
    page = document("Based elsewhere", '<a href="912">here</a>', '<base href="/plain/">')
    exchange.answer(page)


def base_elsewhere(exchange: Exchange) -> None:
    head = '<base href="http://example.invalid/">'
    exchange.answer(document("Based on another host", '<a href="913">there</a>', head))


def frameset(exchange: Exchange) -> None:
    frames = '<frame src="/plain/914"><frame src="/plain/915">'
    head = "<head><title>Frames</title></head>"
    exchange.answer(f"<html>{head}<frameset cols='30%,*'>{frames}</frameset></html>".encode())


def iframe(exchange: Exchange) -> None:
    exchange.answer(document("A frame inside", '<iframe src="/plain/916"></iframe>'))


def _twin(number: int) -> Callable[[Exchange], None]:
    """The words of the other twin, and a link that only this one has."""
    page = document("Twins", f'<a href="/plain/93{number}">on</a>')
    return lambda exchange: exchange.answer(page)


FAMILIES: dict[str, Callable[[Exchange], None]] = {"/plain": numbered, "/many": numbered}

TRICKS: dict[str, Callable[[Exchange], None]] = {
    "/plain/1": numbered,
    "/many-links": many_links,
    "/odd-links": odd_links,
    "/meta-refresh": meta_refresh,
    "/base-href": base_href,
    "/base-elsewhere": base_elsewhere,
    "/frameset": frameset,
    "/iframe": iframe,
    "/twin/1": _twin(1),
    "/twin/2": _twin(2),
}
