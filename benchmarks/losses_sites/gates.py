"""Made sites that show a page only to a visitor who came as they want it."""

from __future__ import annotations

import gzip
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from losses_sites.served import Page, Site, page
from tests.sites.prose import prose

if TYPE_CHECKING:
    from tests.sites.serving import Request

Kind = Literal["302 to the entry", "302 to a gate", "403", "200"]

KINDS: tuple[Kind, ...] = ("302 to the entry", "302 to a gate", "403", "200")
"""What such a site answers in place of a page."""

_ARTICLES = 20


def entry_cookie(kind: Kind, *, by_sitemap: bool = False) -> Site:
    """Twenty articles that are shown with a cookie, which the entry alone sets and is slow to send.

    A sitemap names them too, where that is wanted, and so before the entry has answered.
    """
    site = _articles()
    home = replace(site.pages["/"], headers={"Set-Cookie": "seen=1; Path=/"}, delay_secs=0.4)
    site.pages["/"] = home
    if by_sitemap:
        site.set_robots(f"User-agent: *\nSitemap: {site.origin}/map.xml\n")
        urls = [f"{site.origin}/p{number}" for number in range(_ARTICLES)]
        site.pages["/map.xml"] = Page(None, _sitemap(urls), content_type="text/xml")
    words = page("gate", text=prose("please confirm your age", 60)).body
    if kind == "302 to a gate":
        site.pages["/gate"] = Page(None, words)

    def answer(request: Request) -> Page | None:
        if not request.target.startswith("/p") or "seen=1" in request.cookie:
            return None
        if kind.startswith("302"):
            target = "/" if kind == "302 to the entry" else "/gate"
            return Page(None, b"", 302, {"Location": target})
        return Page(None, words, int(kind))

    site.gate = answer
    return site


def referer() -> Site:
    """Twenty articles that send who does not come from a page of the site to the entry."""
    site = _articles()

    def answer(request: Request) -> Page | None:
        if not request.target.startswith("/p") or request.referer.startswith(site.origin):
            return None
        return Page(None, b"", 302, {"Location": "/"})

    site.gate = answer
    return site


def passing_notice(words: int) -> Site:
    """Twenty articles; from the tenth on a notice of so many words, until all were asked for."""
    site = _articles()
    notice = page("notice", text=prose("we are mending our servers", words)).body
    asked = set[str]()

    def answer(request: Request) -> Page | None:
        if not request.target.startswith("/p"):
            return None
        is_mended = len(asked) == _ARTICLES
        asked.add(request.target)
        return None if is_mended or len(asked) < 10 else Page(None, notice)

    site.gate = answer
    return site


def packed_sitemaps() -> Site:
    """Articles that sitemaps named ``.xml.gz`` name, one each, packed or not, of several types."""
    site = Site()
    site.pages["/"] = page("home")
    types = ("application/x-gzip", "application/gzip", "application/octet-stream", "text/xml")
    names = []
    for number, (packed, content_type) in enumerate(
        (packed, one) for packed in (True, False) for one in types
    ):
        site.pages[f"/p{number}"] = page(f"article {number}")
        body = _sitemap([f"{site.origin}/p{number}"])
        body = gzip.compress(body) if packed else body
        site.pages[f"/map{number}.xml.gz"] = Page(None, body, content_type=content_type)
        names.append(f"Sitemap: {site.origin}/map{number}.xml.gz\n")
    site.set_robots(f"User-agent: *\n{''.join(names)}")
    return site


def _articles() -> Site:
    site = Site()
    for number in range(_ARTICLES):
        site.pages[f"/p{number}"] = page(f"article {number}")
    site.pages["/"] = page("home", [f"/p{number}" for number in range(_ARTICLES)])
    return site


def _sitemap(urls: list[str]) -> bytes:
    listed = "".join(f"<url><loc>{url}</loc></url>" for url in urls)
    return f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{listed}</urlset>'.encode()
