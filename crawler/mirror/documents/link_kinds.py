"""Classify the URLs of a document; the package's docstring has the table."""

from __future__ import annotations

from enum import Enum

from crawler.mirror.documents.tags import LAZY, LAZY_SETS


class LinkKind(Enum):
    """The relation of a URL to the document that contains it."""

    PAGE = "page"
    FRAME = "frame"
    REQUISITE = "requisite"
    FEED = "feed"
    OTHER = "other"


FEED_TYPES = frozenset(
    {"application/rss+xml", "application/atom+xml", "application/rdf+xml", "application/feed+json"}
)
_PAGE_TYPES = frozenset({"", "text/html", "application/xhtml+xml"})
# The same relations as in crawler.reading.link_extraction.
_SERIES = frozenset({"next", "prev", "previous", "first", "last", "contents", "index", "up"})
_NEEDED = frozenset(
    "stylesheet icon apple-touch-icon apple-touch-icon-precomposed apple-touch-startup-image"
    " mask-icon fluid-icon image_src preload modulepreload manifest".split()
)

PAGE, FRAME, REQUISITE, FEED, OTHER = LinkKind

_EVERYWHERE = b"*"
_SOURCES = b"img script embed audio video source track input amp-img image"
_KINDS: dict[bytes, dict[bytes, LinkKind]] = {
    b"href": {b"a": PAGE, b"area": PAGE},
    b"src": {b"iframe": FRAME, b"frame": FRAME} | dict.fromkeys(_SOURCES.split(), REQUISITE),
    b"srcset": {b"img": REQUISITE, b"source": REQUISITE},
    b"action": {b"form": OTHER},
    b"formaction": {b"button": OTHER, b"input": OTHER},
    b"background": {_EVERYWHERE: REQUISITE},
    b"poster": {b"video": REQUISITE},
    b"data": {b"object": REQUISITE},
    b"lowsrc": {b"img": REQUISITE},
    b"dynsrc": {b"img": REQUISITE},
}
_KINDS |= {
    name.encode(): {b"iframe": FRAME, _EVERYWHERE: REQUISITE}
    for name in f"{LAZY} {LAZY_SETS}".split()
}
SETS = frozenset(f"srcset imagesrcset {LAZY_SETS}".encode().split())
# Attributes with values of any kind: "5", "true", JSON.
GUESSED = frozenset(f"{LAZY} {LAZY_SETS}".encode().split())
# SVG, where every element with a URL embeds its content, except for links.
_FOREIGN_ADDRESSES = frozenset({b"href", b"xlink:href"})


def kind_of(element: bytes, attribute: bytes) -> LinkKind | None:
    """Return the kind of the URL in an attribute of HTML, or None if it holds no URL."""
    kinds = _KINDS.get(attribute)
    return None if kinds is None else kinds.get(element) or kinds.get(_EVERYWHERE)


def foreign_kind_of(element: bytes, attribute: bytes) -> LinkKind | None:
    """Return the kind of the URL in an attribute of SVG or MathML, or None if it holds none."""
    if attribute not in _FOREIGN_ADDRESSES:
        return None
    return PAGE if element == b"a" else REQUISITE


def kind_of_relation(relation: str, media_type: str) -> LinkKind:
    """Return the kind of the URL of a ``<link>``.

    Args:
        relation: Value of the ``rel`` attribute.
        media_type: Value of the ``type`` attribute.
    """
    names = set(relation.lower().split())
    media_type = media_type.partition(";")[0].strip().lower()
    if not _NEEDED.isdisjoint(names):
        return REQUISITE
    if "alternate" in names and (media_type in FEED_TYPES or "feed" in names):
        return FEED
    if media_type in _PAGE_TYPES and ("alternate" in names or not _SERIES.isdisjoint(names)):
        return PAGE
    return OTHER
