"""Pages that ask not to be kept, followed or visited."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.sites.prose import document

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.sites.exchange import Exchange


def _meta(content: str, target: str, name: str = "robots") -> Callable[[Exchange], None]:
    title = f"Meta {name} {content}"
    head = f'<meta name="{name}" content="{content}">'
    page = document(title, f'<a href="{target}">on</a>', head)
    return lambda exchange: exchange.answer(page)


def _header(value: str, target: str) -> Callable[[Exchange], None]:
    page = document(f"Header {value}", f'<a href="{target}">on</a>')
    return lambda exchange: exchange.answer(page, headers={"X-Robots-Tag": value})


def nofollow_link(exchange: Exchange) -> None:
    links = (
        '<a rel="nofollow" href="/plain/905">no</a> <a rel="ugc NoFollow" href="/plain/906">no</a>'
    )
    exchange.answer(
        document("One link is not to be followed", links + '<a href="/plain/907">yes</a>')
    )


def closed(exchange: Exchange) -> None:
    exchange.answer(document("Closed to robots"))


TRICKS: dict[str, Callable[[Exchange], None]] = {
    "/robots/noindex": _meta("noindex", "/plain/901"),
    "/robots/nofollow": _meta("nofollow", "/plain/902"),
    "/robots/none": _meta("NONE", "/plain/903"),
    "/robots/other": _meta("noindex", "/plain/908", name="googlebot"),
    "/robots/header-noindex": _header("noindex", "/plain/904"),
    "/robots/header-nofollow": _header("nofollow", "/plain/910"),
    "/robots/header-otherbot": _header("otherbot: none, nofollow", "/plain/909"),
    "/robots/link": nofollow_link,
    "/closed/door": closed,
}
