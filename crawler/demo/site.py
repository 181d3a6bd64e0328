"""The whole demo site as a mapping from path to page; pure, nothing listens here."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode, urlsplit

from crawler.demo.almanac import MONTHS, month_path
from crawler.demo.catalogue import CHAPTERS, LONE_ARTICLES, Chapter
from crawler.demo.layout import Anchor, Frame, page
from crawler.demo.oddities import oddities
from crawler.demo.page import Page, document, missing
from crawler.demo.planted import Planted, of_kind
from crawler.demo.texts import read_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# Arguments that choose what a page shows; the site takes no notice of any other.
_MEANT = ("kind", "month", "order")

_GLOSSARY = "/find?kind=term&order=name"


def _article(folder: str, name: str, language: str, links: tuple[Anchor, ...]) -> Page:
    path = f"/{folder}/{name}"
    frame = Frame(language=language, canonical=path, date="2024-01-06", links=links)
    return document(page(read_text(folder, name), frame))


def _chapter(chapter: Chapter) -> dict[str, Page]:
    anchors = [
        Anchor(path, read_text(chapter.name, name).title)
        for path, name in zip(chapter.article_paths(), chapter.articles, strict=True)
    ]
    contents = Frame(language=chapter.language, canonical=chapter.path, links=tuple(anchors))
    made = {chapter.path: document(page(read_text(chapter.name, "index"), contents))}
    for place, name in enumerate(chapter.articles):
        neighbours = tuple(anchors[max(place - 1, 0) : place] + anchors[place + 1 : place + 2])
        made[anchors[place].href] = _article(chapter.name, name, chapter.language, neighbours)
    return made


def _links(planted: Iterable[Planted]) -> tuple[Anchor, ...]:
    return tuple(
        Anchor(one.path, one.path, "nofollow" if one.kind == "nofollow" else "") for one in planted
    )


def _drawers() -> dict[str, tuple[str, tuple[Anchor, ...]]]:
    """Path of each page outside the chapters, its text, its links.

    Copies hang three clicks below the articles, so that a breadth-first crawl meets the
    originals first.
    """
    copies = of_kind("exact_duplicate", "text_duplicate", "near_duplicate")
    oddments = of_kind("too_short", "not_html", "odd", "redirect_loop", "missing")
    closed = of_kind("nofollow", "disallowed", "noindex")
    cupboard = ("/cupboard/copies", "/cupboard/addresses", "/cupboard/oddments")
    return {
        "/": ("home", (Anchor("/walk", "A walk"), Anchor("/notices/spring", "Notice"))),
        "/about": (
            "about",
            (
                Anchor("/cupboard/", "The cupboard"),
                Anchor(_GLOSSARY, "Find a term"),
                Anchor(month_path(MONTHS[0]), "Tide table"),
            ),
        ),
        "/walk": ("walk", ()),
        "/notices/spring": ("notice", ()),
        _GLOSSARY: ("glossary", ()),
        "/hours": ("hours", ()),
        "/cupboard/": ("cupboard", tuple(Anchor(path, path) for path in cupboard)),
        "/cupboard/copies": ("copies", _links(copies)),
        "/cupboard/addresses": ("addresses", _links(of_kind("same_url", "redirect"))),
        "/cupboard/oddments": ("oddments", _links((*oddments, *closed))),
    }


def _for_robots(base_url: str, paths: Iterable[str]) -> dict[str, Page]:
    robots = f"User-agent: *\nDisallow: /private/\n\nSitemap: {base_url}/sitemap.xml\n"
    entries = "\n".join(f"<url><loc>{base_url}{path}</loc></url>" for path in paths)
    sitemap = f"""<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
{entries}
</urlset>
"""
    return {
        "/robots.txt": document(robots.encode(), "text/plain; charset=utf-8"),
        "/sitemap.xml": document(sitemap.encode(), "application/xml"),
    }


def pages(base_url: str) -> dict[str, Page]:
    """Make every page of the site, keyed by path and, where it matters, sorted query.

    Args:
        base_url: Where the site is served, without the final slash; only robots.txt and the
            sitemap name it, all other links are relative to the root.
    """
    made: dict[str, Page] = {}
    for chapter in CHAPTERS:
        made |= _chapter(chapter)
    for _, folder, name in LONE_ARTICLES:
        made[f"/{folder}/{name}"] = _article(folder, name, folder, ())
    listed = ["/", *made, "/appendix"]
    for path, (name, links) in _drawers().items():
        frame = Frame(canonical=path, links=links)
        made[path] = document(page(read_text("odd", name), frame))
    return made | oddities(made) | _for_robots(base_url, listed)


def lookup(site: Mapping[str, Page], target: str) -> Page:
    """The answer to a request target, read as lazy sites read it.

    Tracking parameters, session ids and the order of arguments change nothing.
    """
    address = urlsplit(target)
    meant = sorted(pair for pair in parse_qsl(address.query) if pair[0] in _MEANT)
    path = f"{address.path}?{urlencode(meant)}" if meant else address.path
    return site.get(path) or missing(path)
