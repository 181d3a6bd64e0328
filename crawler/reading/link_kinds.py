"""List the kinds of links: where each stands, and whether crawls and mirrors follow it.

``docs/links.md`` shows this table; a test holds the two together.
"""

from __future__ import annotations

import difflib
import re
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping


class Follow(StrEnum):
    """Ways to follow the links of a kind.

    Attributes:
        PAGE: Each of them, as a link to a page.
        GUESS: After all pages. Once some of a host have led to no new page, one in twenty.
        NO: Not at all.
    """

    PAGE = "yes"
    GUESS = "last"
    NO = "no"


class LinkKind(NamedTuple):
    """A kind of links.

    Attributes:
        name: Name on the command line and in reports.
        places: Where such links stand.
        in_crawls: How crawls follow them by default.
        in_mirrors: How mirrors do, apart from files that a page needs to be shown.
    """

    name: str
    places: str
    in_crawls: Follow
    in_mirrors: Follow


ANCHOR: Final = "anchor"
FRAME: Final = "frame"
REFRESH: Final = "refresh"
RELATION: Final = "relation"
CANONICAL: Final = "canonical"
VERSION: Final = "version"
FORM: Final = "form"
OPEN_FORM: Final = "open-form"
EMBEDDED: Final = "embedded"
CITATION: Final = "citation"
PING: Final = "ping"
DATA: Final = "data"
HEADER: Final = "header"
FEED: Final = "feed"
MANIFEST: Final = "manifest"
SEARCH: Final = "search"
SITEMAP: Final = "sitemap"
SCRIPT: Final = "script"
COMMENT: Final = "comment"
RESOURCE: Final = "resource"
WELL_KNOWN: Final = "well-known"
ROUTE: Final = "route"

_YES, _LAST, _NO = Follow

KINDS: Final = (
    LinkKind(ANCHOR, "`href` of `a` and `area`, also of drawings and formulas; menus", _YES, _YES),
    LinkKind(FRAME, "`src` of `iframe` and `frame`, links in `srcdoc`", _YES, _YES),
    LinkKind(REFRESH, "`meta` refresh, header `Refresh`", _YES, _YES),
    LinkKind(
        RELATION,
        "`link` and header `Link` of a series (`next`, `prev`, `up`, ...) and of translations",
        _YES,
        _YES,
    ),
    LinkKind(CANONICAL, "`rel=canonical` of `link` and header `Link`, `og:url`", _LAST, _NO),
    LinkKind(
        VERSION,
        "other `link` that may be pages: `amphtml`, `shortlink`, `author`, `help`, ...",
        _LAST,
        _NO,
    ),
    LinkKind(
        FORM,
        "`action` and `formaction` of forms sent by GET without a field to write in, as they are",
        _LAST,
        _NO,
    ),
    LinkKind(OPEN_FORM, "`action` of forms sent by GET with a field to write in", _NO, _LAST),
    LinkKind(EMBEDDED, "`embed`, `object` and its `param`, `applet`", _LAST, _NO),
    LinkKind(CITATION, "`cite`, `longdesc`, `profile`", _LAST, _NO),
    LinkKind(PING, "`ping` of `a` and `area`", _LAST, _NO),
    LinkKind(DATA, "`data-href`, `data-url`, `data-link` and the like", _LAST, _NO),
    LinkKind(
        HEADER,
        "headers `Content-Location` and `Location`, also of errors",
        _LAST,
        _NO,
    ),
    LinkKind(FEED, "RSS and Atom: `rel=alternate` of their types, and their entries", _LAST, _NO),
    LinkKind(MANIFEST, "`rel=manifest` and the pages that it names", _LAST, _NO),
    LinkKind(SEARCH, "OpenSearch: `rel=search`, and the page that it names", _LAST, _NO),
    LinkKind(
        SITEMAP,
        "`/sitemap.xml`, `/sitemap_index.xml` and `/sitemap.xml.gz` where robots.txt names none",
        _LAST,
        _LAST,
    ),
    LinkKind(
        SCRIPT,
        "texts of scripts, of `onclick`, of `option` and of JSON that look like URLs of pages",
        _LAST,
        _LAST,
    ),
    LinkKind(COMMENT, "links in comments", _NO, _NO),
    LinkKind(
        RESOURCE,
        "pictures, media, scripts, styles and fonts, also of styles, without the ending of a file",
        _LAST,
        _NO,
    ),
    LinkKind(WELL_KNOWN, "`/robots.txt`, `/.well-known/security.txt` and other files", _NO, _NO),
    LinkKind(ROUTE, "where scripts of a rendered page went, or would have gone", _LAST, _LAST),
)
"""All kinds; a link of several kinds counts as the first of them."""

ANY: Final = "*"
"""Name of all elements that a row of ``URL_ATTRIBUTES`` does not name."""

_LATE = (
    "src original lazy lazy-src bg background background-image bg-src hi-res-src image img img-src"
    " full-src large-src original-src poster url-src thumb"
)
_LATE_SETS = ("data-srcset", "data-lazy-srcset", "data-original-set", "data-bgset")
LAZY: Final = (*(f"data-{name}" for name in _LATE.split()), *_LATE_SETS)
"""Attributes with URLs of what scripts load late; their values may also be ``5`` or JSON."""

URL_SETS: Final = frozenset({"srcset", "imagesrcset", *_LATE_SETS})
"""Attributes that hold several URLs."""

BROWSERS_LOAD: Final = "img script audio video source track input amp-img image bgsound".split()
"""Elements whose ``src`` browsers load; that of other elements is for scripts."""
URL_ATTRIBUTES: Final[Mapping[str, Mapping[str, str]]] = {
    "href": dict.fromkeys(("a", "area", "math"), ANCHOR),
    "src": dict.fromkeys(("iframe", "frame", "layer", "ilayer"), FRAME)
    | dict.fromkeys(("embed", "portal"), EMBEDDED)
    | dict.fromkeys(BROWSERS_LOAD, RESOURCE)
    | {ANY: RESOURCE},
    "srcset": dict.fromkeys(("img", "source", ANY), RESOURCE),
    "action": {"form": FORM},
    "formaction": dict.fromkeys(("button", "input"), FORM),
    "cite": dict.fromkeys(("blockquote", "q", "del", "ins", ANY), CITATION),
    "longdesc": dict.fromkeys(("img", "frame", "iframe", ANY), CITATION),
    "profile": {"head": CITATION},
    "ping": dict.fromkeys(("a", "area"), PING),
    "background": {ANY: RESOURCE},
    "poster": {"video": RESOURCE},
    "data": {"object": EMBEDDED},
    "archive": {"applet": EMBEDDED},
    "lowsrc": {"img": RESOURCE},
    "dynsrc": {"img": RESOURCE},
    "manifest": {"html": RESOURCE},
} | {name: {"iframe": FRAME, ANY: RESOURCE} for name in LAZY}
"""Map attributes of HTML that hold URLs to elements, and these to the kinds of their links.

Not of ``link``, ``meta`` and ``param``, where another attribute says what it is.
"""

NAMES: Final = tuple(kind.name for kind in KINDS)
NUMBERS: Final[Mapping[str, int]] = {name: number for number, name in enumerate(NAMES)}

PAGES: Final = frozenset(kind.name for kind in KINDS if kind.in_crawls is _YES)
"""Kinds of links that lead to pages; those of the other kinds may lead nowhere."""

WRITTEN: Final = frozenset({CANONICAL, VERSION, FORM, OPEN_FORM, EMBEDDED, CITATION, RESOURCE})
"""Kinds of links by which an element names another page: one that is gone is a fault."""

DESCRIPTIONS: Final = frozenset({FEED, MANIFEST, SEARCH})
"""Kinds of links to files that name pages."""

SERIES: Final = frozenset({"next", "prev", "previous", "first", "last", "contents", "index", "up"})
_OTHER_PAGES = frozenset(
    "amphtml shortlink shorturl author help license copyright bookmark section chapter subsection"
    " appendix glossary start archives tag payment me import prerender prefetch privacy-policy"
    " terms-of-service service-doc service-desc describedby edit".split()
)
RESOURCES: Final = frozenset(
    "stylesheet icon apple-touch-icon apple-touch-icon-precomposed apple-touch-startup-image"
    " mask-icon fluid-icon image_src preload modulepreload".split()
)
PAGE_TYPES: Final = frozenset({"", "text/html", "application/xhtml+xml"})
FEED_TYPES: Final = frozenset(
    "application/rss+xml application/atom+xml application/rdf+xml application/feed+json"
    " application/xml text/xml".split()
)


_ATOM = ("http://www.w3.org/2005/atom", "http://purl.org/atom/ns#")
_RSS = re.compile(r"(?<![a-z])rss|rdf/simple/")


def is_feed_namespace(namespace: str) -> bool:
    """Return whether elements of a namespace are those of RSS or Atom, and not of a module.

    RSS 2.0 has no namespace, and feeds that name one do not agree on which.
    """
    namespace = namespace.lower()
    path = namespace.rpartition("//")[2].partition("/")[2]
    is_rss = _RSS.search(path) is not None and "module" not in path
    return not namespace or namespace in _ATOM or is_rss


def kind_of_relation(relations: Collection[str], media_type: str) -> str | None:
    """Return the kind of a ``link`` element or of an entry of the header ``Link``.

    Args:
        relations: Values of ``rel`` in small letters.
        media_type: Value of ``type``.

    Returns:
        None for what is not to be fetched, such as ``preconnect``.
    """
    media_type = media_type.partition(";")[0].strip().lower()
    is_page = media_type in PAGE_TYPES
    is_resource = not RESOURCES.isdisjoint(relations)
    is_alternate = "alternate" in relations and not is_resource
    is_related = is_alternate or not SERIES.isdisjoint(relations)
    cases = (
        (RELATION, is_page and is_related),
        (CANONICAL, is_page and "canonical" in relations),
        (RESOURCE, is_resource),
        (FEED, is_alternate and media_type in FEED_TYPES),
        (MANIFEST, "manifest" in relations),
        (SEARCH, "search" in relations and not is_page),
        (VERSION, "search" in relations or not _OTHER_PAGES.isdisjoint(relations)),
    )
    return next((kind for kind, is_it in cases if is_it), None)


def note_kind(kinds: dict[str, str], address: str, kind: str) -> None:
    """Note the kind of a reference; of several the first one of the table counts."""
    before = kinds.get(address, kind)
    kinds[address] = min(before, kind, key=NUMBERS.__getitem__)


def followed_kinds(written: str, *, is_mirror: bool = False) -> dict[str, Follow]:
    """Return how each kind is followed.

    Args:
        written: What differs from the defaults: ``+comment,-script``; ``all``; or nothing. A kind
            that is added is followed last, unless it is followed as pages by default.
        is_mirror: Whether the defaults are those of mirrors.

    Raises:
        ValueError: A part is no kind, or has no sign; the message names it.
    """
    found = {kind.name: kind.in_mirrors if is_mirror else kind.in_crawls for kind in KINDS}
    parts = [part for each in written.split(",") if (part := each.strip())]
    # What is said of one kind holds, wherever it is written.
    for part in sorted(parts, key=lambda part: part not in {"all", "none"}):
        name = part.lstrip("+-")
        if part == "all":
            found |= {each: _LAST for each, follow in found.items() if follow is _NO}
        elif part == "none":
            found |= dict.fromkeys((each for each in found if each != ANCHOR), _NO)
        elif name not in NUMBERS:
            close = difflib.get_close_matches(name, NAMES, n=1)
            hint = f"; did you mean {close[0]}?" if close else f"; there are {', '.join(NAMES)}"
            raise ValueError(f"no kind of links is called {name!r}{hint}")
        elif part == name:
            raise ValueError(f"write +{name} or -{name}")
        elif part[0] == "-":
            found[name] = _NO
        elif found[name] is _NO:
            found[name] = _LAST
    return found
