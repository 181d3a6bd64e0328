"""Redirects that lead in circles, out of the web, or to where no crawler should go."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

from tests.sites.prose import document

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.sites.exchange import Exchange

CHAIN_LENGTH = 40


def _to(location: str) -> Callable[[Exchange], None]:
    return lambda exchange: exchange.redirect(location)


def for_a_cookie(exchange: Exchange) -> None:
    """To itself with a cookie, and to a page for whoever brings that back."""
    if "visited=yes" in exchange.headers.get("Cookie", ""):
        exchange.answer(document("Behind a cookie"))
    else:
        exchange.redirect("/redirect/cookie", {"Set-Cookie": "visited=yes; Path=/"})


def chain(exchange: Exchange) -> None:
    """Longer than browsers go along with, though it ends."""
    asked = parse_qs(urlsplit(exchange.path).query)
    step = int(asked.get("step", ["0"])[0])
    if step >= CHAIN_LENGTH:
        exchange.answer(document("The end of the chain"))
    else:
        exchange.redirect(f"/redirect/chain?step={step + 1}")


TRICKS: dict[str, Callable[[Exchange], None]] = {
    "/redirect/plain": _to("/plain/301"),
    "/redirect/loop": _to("/redirect/loop-back"),
    "/redirect/loop-back": _to("/redirect/loop"),
    "/redirect/self": _to("/redirect/self"),
    "/redirect/cookie": for_a_cookie,
    "/redirect/chain": chain,
    "/redirect/link-local": _to("http://169.254.169.254/latest/meta-data/"),
    "/redirect/private": _to("http://10.255.255.1/"),
    "/redirect/file": _to("file:///etc/passwd"),
    "/redirect/ftp": _to("ftp://127.0.0.1/secret"),
    "/redirect/data": _to("data:text/html,<p>made up</p>"),
    "/redirect/malformed": _to("http://[::1/"),
    "/redirect/no-location": lambda exchange: exchange.answer(b"", status=302),
}
