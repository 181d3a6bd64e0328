"""Read a page's title, author, date, language, canonical URL and robots directives.

trafilatura's metadata and htmldate search the whole page and cost as much as the main text does;
this module looks only at the few elements that are meant for it.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from datetime import date
from email.utils import parsedate
from typing import TYPE_CHECKING, Any, NamedTuple

from lxml.etree import XPath

from crawler.reading.link_extraction import resolve
from crawler.reading.page_names import first_heading, identifiers, subheading
from crawler.reading.reading import Metadata

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# Directives that have a value after a colon; every other name before a colon is a robot's.
_WITH_VALUE = frozenset(
    {"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"}
)
# The time in "unavailable_after: Friday, 25-Jun-2027 15:00:00 GMT" has a colon and is no name.
_NAMED = re.compile(r"\s*([a-z*][a-z0-9_.*-]*)\s*:(.*)", re.DOTALL)
_NO_NAME = re.compile(r"[^a-z0-9_-]+")

_SCHEMA_ORG_DATES = ("datePublished", "dateCreated", "uploadDate", "dateModified")
_SCHEMA_ORG_LONGEST = 200_000
_MAX_NODES = 200

# A date before the web or in the far future is a template's placeholder.
_EARLIEST, _LATEST = 1980, 2100
_NUMERIC = re.compile(r"\s*(\d{4})[-/.]?(\d{2})[-/.]?(\d{2})(?!\d)")
_MONTHS = {
    name: number
    for number, name in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split(), 1)
}
_DAY_FIRST = re.compile(r"\b(\d{1,2})(?:st|nd|rd|th)?\.?\s+([a-z]{3})[a-z]*\.?,?\s+(\d{4})\b")
_MONTH_FIRST = re.compile(r"\b([a-z]{3})[a-z]*\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})\b")
_MAX_DATE_CHARACTERS = 100

Element = Any  # lxml has no types

# Each scan of a page of 86 kB takes 0.3 ms, so there are few.
_HEADING = XPath("string(//h1)", smart_strings=False)
_AUTHOR = XPath("string((//@rel | //@itemprop)[. = 'author']/..)", smart_strings=False)
_SCANNED = ("meta", "link", "time", "script", "title")

_AUTHORS = ("author", "article:author", "dc.creator", "dcterms.creator", "parsely-author")
_DATES = (
    "article:published_time",
    "datepublished",
    "date",
    "dc.date",
    "dc.date.issued",
    "dcterms.created",
    "dcterms.date",
    "dcterms.issued",
    "citation_publication_date",
    "parsely-pub-date",
    "pubdate",
    "publishdate",
    "sailthru.date",
    "article:modified_time",
    "og:updated_time",
    "last-modified",
)
_LANGUAGES = ("content-language", "language", "dc.language", "og:locale")
_LANGUAGE = re.compile(r"[a-z]{2,3}(?:-[a-z0-9]{1,8})*", re.IGNORECASE)
# https://html.spec.whatwg.org/multipage/semantics.html#shared-declarative-refresh-steps
_REFRESH = re.compile(
    r"\s*(\d*(?:\.\d*)?)[\s;,]*(?:url\s*=\s*)?(?:\"([^\"]*)|'([^']*)|(.*))",
    re.IGNORECASE | re.DOTALL,
)
_MAX_CHARACTERS = 1000
_MAX_URL = 8192
_SEPARATORS = re.compile(r"[\s,;]+")


def robots_words(headers: Iterable[str], agent: str) -> frozenset[str]:
    """Return the directives that bind us, in lower case.

    A header may begin a list for one robot (``otherbot: noindex, nofollow``), which goes on to its
    end or to the next name.

    Args:
        headers: Values of all headers of that name.
        agent: Our user agent; each of its words is a name of ours.

    Reference: https://developers.google.com/search/docs/crawling-indexing/robots-meta-tag
    """
    ours = {"*", *_NO_NAME.split(agent.lower())}
    words: set[str] = set()
    for header in headers:
        binding = True
        for part in header.lower().split(","):
            named = _NAMED.match(part)
            if named and named[1] not in _WITH_VALUE:
                binding = named[1] in ours
                part = named[2]  # noqa: PLW2901  # the directive follows the name
            if binding and part.strip():
                words.add(part.strip())
    return frozenset(words)


class Described(NamedTuple):
    """The author and the date in a page's JSON-LD, as written."""

    author: str | None = None
    date: str | None = None


def is_json_ld(kind: str) -> bool:
    return "ld+json" in kind.lower()


def schema_org_nodes(scripts: Iterable[str]) -> list[dict[str, Any]]:
    """Return the objects in scripts of JSON-LD that describe the page."""
    readable = (text for text in scripts if len(text) <= _SCHEMA_ORG_LONGEST)
    return [node for text in readable for node in _nodes(text)]


def described_by(nodes: Iterable[dict[str, Any]]) -> Described:
    """Return the first author and the first date that objects of schema.org name."""
    author = date = None
    for node in nodes:
        author = author or _name(node.get("author")) or _name(node.get("creator"))
        date = date or next(
            (node[name] for name in _SCHEMA_ORG_DATES if _is_text(node, name)), None
        )
    return Described(author, date)


def _is_text(node: dict[str, Any], name: str) -> bool:
    return isinstance(node.get(name), str) and bool(node[name].strip())


def _nodes(text: str) -> Iterator[dict[str, Any]]:
    """Yield the objects that describe the page: at the top, in lists and in ``@graph``."""
    try:
        # strict=False: real pages have raw line breaks within their strings.
        waiting = [json.loads(text, strict=False)]
    except (ValueError, RecursionError):
        return
    for _ in range(_MAX_NODES):
        if not waiting:
            return
        node = waiting.pop(0)
        if isinstance(node, list):
            waiting[:0] = node[:_MAX_NODES]
        elif isinstance(node, dict):
            yield node
            waiting += [node.get("@graph"), node.get("mainEntity")]


def _name(value: object) -> str | None:
    """Return the names of an author, given as a text, an object or a list of either."""
    if isinstance(value, list):
        names = [_name(each) for each in value[:10] if not isinstance(each, list)]
        return ", ".join(dict.fromkeys(filter(None, names))) or None
    if isinstance(value, dict):
        value = value.get("name")
    # Some sites give the URL of a profile instead of a name.
    if isinstance(value, str) and value.strip() and not value.lstrip().startswith("http"):
        return value
    return None


def iso_date(text: str | None) -> str | None:
    """Return the day that a text names as ``YYYY-MM-DD``, or None if it is uncertain.

    Reads ISO 8601 (also without dashes), the dates of mail and HTTP, and English ones with the
    month in letters. ``03/04/2024`` is ambiguous: its month is unknown.
    """
    if not text or len(text) > _MAX_DATE_CHARACTERS:
        return None
    numeric = _NUMERIC.match(text)
    if numeric:
        return _day(*map(int, numeric.groups()))
    lower = text.lower()
    if found := _DAY_FIRST.search(lower):
        return _day(int(found[3]), _MONTHS.get(found[2], 0), int(found[1]))
    if found := _MONTH_FIRST.search(lower):
        return _day(int(found[3]), _MONTHS.get(found[1], 0), int(found[2]))
    mailed = parsedate(text)
    return _day(*mailed[:3]) if mailed else None


def _day(year: int, month: int, day: int) -> str | None:
    if not _EARLIEST <= year <= _LATEST:
        return None
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        return None


def read_metadata(root: Element, base: str) -> Metadata:
    """Collect the metadata of a page.

    Args:
        root: Root of the page; not changed.
        base: URL against which references are resolved.
    """
    found = _Elements()
    for element in root.iter(*_SCANNED):
        _collect(element, found)
    metas = found.metas
    nodes = schema_org_nodes(found.json_ld)
    described = described_by(nodes)
    heading = first_heading(root)
    canonical_url = _absolute(found.canonical, base)
    refresh_secs, refresh_url = _refresh(metas.get("refresh"), base)
    return Metadata(
        title=_first((found.title, metas.get("og:title"))) or _first((_HEADING(root),)),
        author=_author(metas, described.author) or _first((_AUTHOR(root),)),
        date=_date(metas, described.date, found.time),
        language=_language(root, metas),
        canonical_url=canonical_url,
        robots=directives(",".join(found.robots)),
        refresh_url=refresh_url,
        refresh_secs=refresh_secs,
        heading=None if heading is None else _first((heading.text,)),
        identifiers=identifiers(root, nodes, metas, canonical_url, heading),
        subheading=_first((subheading(root, heading),)),
    )


@dataclass(slots=True)
class _Elements:
    """The metadata in the elements of a page, as written; the first one of each kind counts."""

    metas: dict[str, str] = field(default_factory=dict)
    robots: list[str] = field(default_factory=list)
    json_ld: list[str] = field(default_factory=list)
    title: str | None = None
    time: str | None = None
    canonical: str | None = None


def _collect(element: Element, found: _Elements) -> None:
    tag = element.tag
    if tag == "meta":
        _collect_meta(element, found)
    elif tag == "title" and not found.title:
        # The title of a drawing is not that of the page.
        found.title = element.text if next(element.iterancestors("svg"), None) is None else None
    elif tag == "time":
        found.time = found.time or element.get("datetime")
    elif tag == "script" and is_json_ld(element.get("type", "")):
        found.json_ld.append(element.text or "")
    elif tag == "link" and "canonical" in element.get("rel", "").lower().split():
        found.canonical = found.canonical or element.get("href")


def _collect_meta(meta: Element, found: _Elements) -> None:
    name = meta.get("name") or meta.get("property") or meta.get("http-equiv")
    name = (name or meta.get("itemprop") or "").strip().lower()
    content = meta.get("content")
    if not content:
        return
    if name == "robots":
        found.robots.append(content)
    elif name != "refresh" or next(meta.iterancestors("noscript"), None) is None:
        # A refresh within noscript is for browsers without scripts, which are rare.
        found.metas.setdefault(name, content)


def directives(content: str) -> tuple[str, ...]:
    """Return the directives of a robots meta tag or an ``X-Robots-Tag`` header, sorted.

    ``none`` becomes ``noindex`` and ``nofollow``.
    """
    words = {word for word in _SEPARATORS.split(content.lower()) if word}
    if "none" in words:
        words = words - {"none"} | {"noindex", "nofollow"}
    return tuple(sorted(words))


def _first(texts: Iterable[str | None]) -> str | None:
    """Return the first non-blank text, on one line and of bounded length."""
    for text in texts:
        if text and (line := " ".join(text[: 2 * _MAX_CHARACTERS].split())):
            # A lone surrogate, which JSON can spell, could be stored nowhere.
            return line[:_MAX_CHARACTERS].encode("utf-8", "replace").decode()
    return None


def _author(metas: dict[str, str], described: str | None) -> str | None:
    named = (metas.get(name) for name in _AUTHORS)
    # article:author often holds the URL of a profile.
    return _first([*(name for name in named if name and "://" not in name), described])


def _date(metas: dict[str, str], described: str | None, time: str | None) -> str | None:
    texts = [*(metas.get(name) for name in _DATES[:-3]), described, time]
    texts += [metas.get(name) for name in _DATES[-3:]]
    return next(filter(None, map(iso_date, texts)), None)


def _language(root: Element, metas: dict[str, str]) -> str | None:
    declared = [root.get("lang"), root.get("{http://www.w3.org/XML/1998/namespace}lang")]
    declared += [root.get("xml:lang"), *(metas.get(name) for name in _LANGUAGES)]
    for text in declared:
        tag = (text or "").strip().replace("_", "-").partition(",")[0]
        if _LANGUAGE.fullmatch(tag):
            return "-".join(map(_subtag, range(len(tag)), tag.split("-")))
    return None


def _subtag(place: int, part: str) -> str:
    """Return a subtag in the case that BCP 47 recommends: ``zh-Hant-TW``."""
    if place == 0 or len(part) not in {2, 4}:
        return part.lower()
    return part.upper() if len(part) == 2 else part.title()


def _refresh(content: str | None, base: str) -> tuple[float | None, str | None]:
    found = _REFRESH.match(content or "")
    if not content or not found:
        return None, None
    url = _absolute(found[2] or found[3] or found[4], base)
    delay = found[1].strip(".")
    # Without a URL the page reloads itself, which is no link.
    return (float(delay or 0), url) if url else (None, None)


def _absolute(address: str | None, base: str) -> str | None:
    if not address or not address.strip() or len(address) > _MAX_URL:
        return None
    try:
        url = resolve(base, address)
    except ValueError:
        return None
    return None if url is None or len(url) > _MAX_URL else url
