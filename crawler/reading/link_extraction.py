"""Extract the distinct http and https links of a page, in its order."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote, urljoin, urlsplit

from lxml.etree import XPath

from crawler.reading.reading import Link
from crawler.reading.url_joining import PlainJoiner

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crawler.urls.canonical import Canonicalizer

Element = Any  # lxml has no types

# Frames are a visible part of the page, so their documents are pages of the site.
_LINKING = {"a": "href", "area": "href", "frame": "src", "iframe": "src"}
_RELATIONS = XPath("//link[@rel][@href]")
_BASES = XPath("//base/@href", smart_strings=False)

# Pages of a series and translations. Feeds, styles and icons are links too, but to no pages.
_SERIES = frozenset({"next", "prev", "previous", "first", "last", "contents", "index", "up"})
_PAGE_TYPES = frozenset({"", "text/html", "application/xhtml+xml"})

# Browsers strip the first set from the ends of a URL and drop the second anywhere in it.
_ENDS = "".join(map(chr, range(33)))
_DROPPED = re.compile(r"[\t\n\r]+")
_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:")
_FETCHED = frozenset({"http:", "https:"})
_HTTP = re.compile(r"https?://[^/?#]", re.IGNORECASE)
# urljoin would resolve the rest as a path of the page's own host.
_NO_HOST = re.compile(r"https?://(?![^/?#])", re.IGNORECASE)
# With a <base> of a kilobyte each of 100,000 short references becomes a long URL: the size of
# them is bounded too, by this many characters a link that may be taken, and a megabyte.
_MEAN_LENGTH = 256
_MIN_ROOM = 2**20
_ASCII_MARKS = "".join(map(chr, range(33, 127)))

# Stands for an empty segment of a path while urljoin, which drops those, works on it.
_EMPTY = "\ue000"


class PageLinks(NamedTuple):
    """The links of a page.

    Attributes:
        links: Links, distinct by key, each with all its spellings; one that the page marks
            ``nofollow`` in one place and not in another is not ``nofollow``.
        cut: Number of links beyond the limit, counted by their distinct text.
        malformed: Number of references that are no URL.
        too_long: Number of references that are longer than any URL that is requested.
    """

    links: list[Link]
    cut: int
    malformed: int
    too_long: int = 0


class LinkReader:
    """Extracts the links of pages, with the keys by which the crawl knows them.

    Args:
        canonicalizer: Canonicalizer that gives the key of a URL.
        max_links: Maximum number of distinct links of one page, each spelling counted.
        max_url_length: Maximum number of characters of a URL.
        keep_fragments: Whether the fragment makes another page.
    """

    def __init__(
        self,
        canonicalizer: Canonicalizer,
        max_links: int,
        *,
        max_url_length: int = 8192,
        keep_fragments: bool = False,
    ) -> None:
        self._known_as = canonicalizer.known_as
        self._max_links = max_links
        self._max_url_length = max_url_length
        self._keep_fragments = keep_fragments

    def read(self, root: Element, base: str, encoding: str, more: Iterable[str] = ()) -> PageLinks:
        """Resolve and collect the links of a page.

        Args:
            root: Root of the page; not changed.
            base: URL against which references are resolved, as ``base_url`` returns it.
            encoding: Encoding of the page, in which browsers send non-ASCII characters of a query.
            more: Further references to follow: the target of a meta refresh.
        """
        links: dict[bytes, Link] = {}
        others: dict[bytes, dict[str, None]] = {}
        cut = malformed = too_long = 0
        joiner = PlainJoiner(base)
        left, room = self._max_links, self._max_links * _MEAN_LENGTH + _MIN_ROOM
        for address, nofollow in self._addresses(root, more):
            if left <= 0 or room <= 0:
                cut += 1  # without a key for each: a million of them would take longer than a page
                continue
            try:
                url = self._resolved(joiner, base, address, encoding)
                if url is not None and len(url) > self._max_url_length:
                    too_long += 1
                    continue
                if not url:
                    continue
                key, is_canonical = self._known_as(url)
            except ValueError:
                malformed += 1
                continue
            link = links.get(key)
            if link is None:
                links[key] = Link(url, key, nofollow, is_canonical)
            elif link.url == url or link.nofollow != nofollow or url in others.get(key, ()):
                continue
            else:
                others.setdefault(key, {})[url] = None
            left -= 1
            room -= len(url)
        for key, spellings in others.items():
            links[key] = links[key]._replace(others=tuple(spellings))
        return PageLinks(list(links.values()), cut, malformed, too_long)

    def _resolved(self, joiner: PlainJoiner, base: str, address: str, encoding: str) -> str | None:
        """Return the URL of a reference, or the reference itself if it is too long as written."""
        if len(address) <= self._max_url_length:
            return joiner.join(address) or resolve(base, address, encoding)
        scheme = _SCHEME.match(address)
        return None if scheme and scheme[0].lower() not in _FETCHED else address

    def _addresses(self, root: Element, more: Iterable[str]) -> Iterator[tuple[str, bool]]:
        """Yield every reference once, as written, those to be followed first."""
        followed: dict[str, None] = {}
        not_followed: dict[str, None] = {}
        for address, nofollow in _references(root):
            (not_followed if nofollow else followed)[self._bare(address)] = None
        for addresses in (_relations(root), more):
            followed.update(dict.fromkeys(map(self._bare, addresses)))
        for address in followed:
            yield address, False
        for address in not_followed:
            if address not in followed:
                yield address, True

    def _bare(self, address: str) -> str:
        return address if self._keep_fragments else address.partition("#")[0]


def base_url(root: Element, url: str) -> str:
    """Return the URL against which a page resolves its links: its first ``<base href>``."""
    for address in _BASES(root):
        try:
            return resolve(url, address) or url
        except ValueError:
            return url
    return url


def resolve(base: str, address: str, encoding: str = "utf-8") -> str | None:
    """Return the absolute URL of a reference, otherwise as the site wrote it.

    Returns:
        None if the reference does not lead to an http or https URL.

    Raises:
        ValueError: It is no URL: ``http://[::1``.
    """
    address = _DROPPED.sub("", address.strip(_ENDS))
    scheme = _SCHEME.match(address)
    if scheme and scheme[0].lower() not in _FETCHED:
        return None
    if "\\" in address:
        # Browsers read a backslash before the query as a slash.
        path, mark, query = address.partition("?")
        address = path.replace("\\", "/") + mark + query
    if _NO_HOST.match(address):
        return None
    if not address.isascii():
        address = _query_in(address, encoding)
    url = _join(base, address)
    return url if _HTTP.match(url) else None


def _join(base: str, address: str) -> str:
    """Join like ``urljoin``, but keep empty segments: ``a//b`` is not ``a/b``."""
    path = address.partition("#")[0].partition("?")[0]
    if path.startswith("//") or _SCHEME.match(path):
        return urljoin(base, address)
    split = urlsplit(base)
    if "//" not in split.path and "//" not in path:
        return urljoin(base, address)
    marked = split._replace(path=_mark_empty(split.path)).geturl()
    return urljoin(marked, _mark_empty(path) + address[len(path) :]).replace(_EMPTY, "")


def _mark_empty(path: str) -> str:
    return path.replace("//", f"/{_EMPTY}/").replace("//", f"/{_EMPTY}/")


def _query_in(address: str, encoding: str) -> str:
    """Percent-encode a query in the page's encoding, as browsers send it."""
    path, mark, query = address.partition("?")
    query, hash_mark, fragment = query.partition("#")
    if query.isascii() or encoding.startswith("utf"):
        return address
    try:
        written = quote(query, safe=_ASCII_MARKS, encoding=encoding)
    except (LookupError, UnicodeError):
        return address
    return path + mark + written + hash_mark + fragment


def _references(root: Element) -> Iterator[tuple[str, bool]]:
    """Yield the references of a page in its order, and whether each is ``nofollow``."""
    for element in root.iter(*_LINKING):
        tag = element.tag
        address = element.get(_LINKING[tag])
        if address is not None:
            is_link = tag in {"a", "area"}
            yield address, is_link and "nofollow" in element.get("rel", "").lower()
        if tag == "a" and (address := element.get("xlink:href")) is not None:
            yield address, False


def _relations(root: Element) -> Iterator[str]:
    """Yield the targets of ``<link>`` that are pages."""
    for element in _RELATIONS(root):
        names = element.get("rel").lower().split()
        kind = element.get("type", "").partition(";")[0].strip().lower()
        translated = "alternate" in names and "stylesheet" not in names
        if kind in _PAGE_TYPES and (translated or not _SERIES.isdisjoint(names)):
            yield element.get("href")
