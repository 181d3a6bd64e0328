"""Extract the distinct http and https links of a page, in its order."""

from __future__ import annotations

import codecs
import re
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote, unquote, urljoin, urlsplit

from lxml.etree import XPath

from crawler.reading.html_parsing import FLATTENED
from crawler.reading.link_kinds import ANCHOR, NUMBERS, PAGES, RESOURCE
from crawler.reading.reading import Link
from crawler.reading.url_joining import PlainJoiner
from crawler.reading.value_addresses import ends_like_file

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Iterator, Mapping

    from crawler.reading.page_elements import PageElements
    from crawler.reading.reading import Places
    from crawler.urls.canonical import Canonicalizer

# Browsers strip the first set from the ends of a URL and drop the second anywhere in it.
ENDS = "".join(map(chr, range(33)))
DROPPED = re.compile(r"[\t\n\r]+")
SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:")
_FETCHED = frozenset({"http:", "https:"})
_HTTP = re.compile(r"https?://[^/?#]", re.IGNORECASE)
_SLASHES = re.compile(r"\A(https?:)?/{3,}(?=[^/?#])", re.IGNORECASE)
# urljoin would resolve the rest as a path of the page's own host.
_NO_HOST = re.compile(r"(https?:)?//(?![^/?#])", re.IGNORECASE)
# Of what leads nowhere: a mail address without @, "htp://", and a URL without a host.
_MISTYPED = re.compile(r"mailto:(?!.*(@|%40))[^?]|[htps]{3,7}://|//", re.IGNORECASE)
# With a <base> of a kilobyte each of 100,000 short references becomes a long URL: the size of
# them is bounded too, by this many characters a link that may be taken, and a megabyte.
MEAN_LENGTH = 256
MIN_ROOM = 2**20
_IDS = XPath("//@id", smart_strings=False)
_NAMES = XPath("//a/@name", smart_strings=False)  # apart: a union takes the product of both
_ROUTES = ("/", "!")  # fragments that scripts read
_TOP = re.compile(r"(t|%[57]4)(o|%[46]f)(p|%[57]0)", re.IGNORECASE)
_MAX_PLACES = 64
_MAX_HELD = 16_384  # for all places together, and for each
_MAX_HELD_CHARACTERS = 500
_MAX_MALFORMED = 20
_NO_MORE: Mapping[str, str] = MappingProxyType({})
REFERENCES = "percent-encoded references"
"""Name of the handling of characters of a query that the encoding of its page lacks."""


def _as_references(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    return "".join(f"%26%23{ord(character)}%3B" for character in lacking), error.end


codecs.register_error(REFERENCES, _as_references)

ASCII_MARKS = "".join(map(chr, range(33, 127)))

# Stands for an empty segment of a path while urljoin, which drops those, works on it.
_EMPTY = "\ue000"


class PageLinks(NamedTuple):
    """The links of a page.

    Attributes:
        links: Links, distinct by key, each with all its spellings; one that the page marks
            ``nofollow`` in one place and not in another is not ``nofollow``.
        cut: Number of links beyond the limit, counted by their distinct text.
        malformed: References that are no URL, each with what it shows.
        too_long: Number of references that are longer than any URL that is requested.
        targets: URL of each reference that was resolved, without its fragment.
    """

    links: list[Link]
    cut: int
    malformed: tuple[tuple[str, str], ...]
    too_long: int = 0
    targets: Mapping[str, str] = _NO_MORE


class _TooLongError(Exception):
    """A URL that is longer than any that is requested."""


class _Start(NamedTuple):
    """The base of the references of a page, with the links known of its site and its folder."""

    base: str
    encoding: str
    joiner: PlainJoiner
    of_site: dict[str, Link]
    of_folder: dict[str, Link]


class _HeldLinks:
    """Holds links by their references, for each host and folder: a site repeats its navigation."""

    def __init__(self) -> None:
        self._of: dict[str, dict[str, Link]] = {}

    def of(self, place: str | None) -> dict[str, Link]:
        """Return the links that are held of a place; what is added to them is held too."""
        if place is None or len(place) > _MAX_HELD_CHARACTERS:
            return {}
        links = self._of.pop(place, {})
        self._of[place] = links  # the last one: the first ones are dropped
        while len(self._of) > _MAX_PLACES or sum(map(len, self._of.values())) > _MAX_HELD:
            del self._of[next(iter(self._of))]
        return links


class LinkReader:
    """Extracts the links of pages, with the keys by which the crawl knows them.

    Args:
        canonicalizer: Canonicalizer that gives the key of a URL.
        max_links: Maximum number of distinct links of one page, each spelling counted.
        max_url_length: Maximum number of characters of a URL.
        keep_fragments: Whether the fragment makes another page.
        kinds: Kinds of links that are collected.
    """

    def __init__(
        self,
        canonicalizer: Canonicalizer,
        max_links: int,
        *,
        max_url_length: int = 8192,
        keep_fragments: bool = False,
        kinds: Collection[str] = PAGES,
    ) -> None:
        self._known_as = canonicalizer.known_as
        self._held = _HeldLinks()
        self._max_links = max_links
        self._max_url_length = max_url_length
        self._keep_fragments = keep_fragments
        self._kinds = frozenset(kinds)

    def read(
        self, page: PageElements, base: str, encoding: str, more: Mapping[str, str] = _NO_MORE
    ) -> PageLinks:
        """Resolve and collect the links of a page.

        Args:
            page: Elements of the page; not changed.
            base: URL against which references are resolved, as ``base_url`` returns it.
            encoding: Encoding of the page, in which browsers send non-ASCII characters of a query.
            more: Further references, and their kinds.
        """
        links: dict[bytes, Link] = {}
        others: dict[bytes, dict[str, None]] = {}
        targets: dict[str, str] = {}
        malformed: list[tuple[str, str]] = []
        cut = too_long = 0
        start = self._start(base, encoding)
        of_site, of_folder = start.of_site, start.of_folder
        left, room = self._max_links, self._max_links * MEAN_LENGTH + MIN_ROOM
        for address, nofollow, kind, text in self._addresses(page, more):
            if left <= 0 or room <= 0:
                # Without a key for each: a million of them would take longer than a page.
                cut += kind in PAGES
                continue
            try:
                link = of_site.get(address) or of_folder.get(address) or self._link(start, address)
            except _TooLongError:
                too_long += kind in PAGES
                room -= len(base)  # it took the time of as many characters
                continue
            except ValueError:
                if kind in PAGES and len(malformed) < _MAX_MALFORMED:
                    written = DROPPED.sub("", address.strip(ENDS))
                    malformed.append((written[:_MAX_HELD_CHARACTERS], text))
                continue
            if link is None:
                continue
            url, key = link.url, link.key
            targets[address] = url
            first = links.get(key)
            if first is None:
                links[key] = Link(url, key, nofollow, link.is_canonical, (), kind, text)
            elif (
                (kind != first.kind and not {kind, first.kind} <= PAGES)
                or first.url == url
                or first.nofollow != nofollow
                or url in others.get(key, ())
            ):
                continue
            else:
                others.setdefault(key, {})[url] = None
            left -= 1
            room -= len(url)
        for key, spellings in others.items():
            links[key] = links[key]._replace(others=tuple(spellings))
        return PageLinks(list(links.values()), cut, tuple(malformed), too_long, targets)

    def places(self, page: PageElements, url: str, targets: Mapping[str, str]) -> Places:
        """Return the places of a page, and its links to places, but to those that it has itself.

        Args:
            page: Elements of the page.
            url: URL of the page.
            targets: Where its references lead, as ``read`` found; others are left out.
        """
        names = {*_IDS(page.root), *_NAMES(page.root)}
        found, own = dict[str, dict[str, None]](), url.partition("#")[0]
        for written in chain(page.followed, page.not_followed):
            target = targets.get(self._bare(written), "").partition("#")[0]
            fragment = DROPPED.sub("", written.strip(ENDS)).partition("#")[2]
            name = fragment.partition(":~:")[0]
            if not (target and name) or name.startswith(_ROUTES) or _TOP.fullmatch(name):
                continue
            if not (target == own and is_place(name, names)):
                found.setdefault(target, {})[name] = None
        known = None if page.root.get(FLATTENED) else sorted(names)
        return known, {target: list(linked) for target, linked in found.items()}

    def _start(self, base: str, encoding: str) -> _Start:
        joiner = PlainJoiner(base)
        held = self._held.of
        return _Start(base, encoding, joiner, held(joiner.site), held(joiner.folder))

    def _link(self, start: _Start, address: str) -> Link | None:
        """Return the link of a reference, or None if it leads to no page."""
        is_long = len(address) > self._max_url_length
        if is_long and (scheme := SCHEME.match(address)) and scheme[0].lower() not in _FETCHED:
            return None
        plain = None if is_long else start.joiner.join(address)
        url = address if is_long else plain or resolve(start.base, address, start.encoding)
        if not url:
            if _MISTYPED.match(DROPPED.sub("", address.strip(ENDS))):
                raise ValueError("no URL")
            return None
        if len(url) > self._max_url_length:
            raise _TooLongError
        key, is_canonical = self._known_as(url)
        link = Link(url, key, nofollow=False, is_canonical=is_canonical)
        if plain is not None and address[:1] not in "?#":
            is_of_site = address[0] == "/" or plain == address
            held = start.of_site if is_of_site else start.of_folder
            if len(held) < _MAX_HELD and max(len(plain), len(address)) <= _MAX_HELD_CHARACTERS:
                held[address] = link
        return link

    def _addresses(
        self, page: PageElements, more: Mapping[str, str]
    ) -> Iterator[tuple[str, bool, str, str]]:
        """Yield every reference once, as written: whether it is ``nofollow``, its kind, its text.

        Those to be followed come first.
        """
        anchors = self._bared(page.followed)
        for address, text in anchors.items():
            yield address, False, ANCHOR, text
        kinds: dict[str, str] = {}
        for written, kind in chain(page.related.items(), more.items()):
            address = self._bare(written)
            if kind == RESOURCE and ends_like_file(address):
                continue
            if kind in self._kinds and address not in anchors:
                kinds[address] = min(kinds.get(address, kind), kind, key=NUMBERS.__getitem__)
        ordered = sorted(kinds, key=lambda address: NUMBERS[kinds[address]])
        for address in ordered:
            if kinds[address] in PAGES:
                yield address, False, kinds[address], ""
        asked_not = self._bared(page.not_followed)
        for address, text in asked_not.items():
            if address not in anchors and kinds.get(address) not in PAGES:
                yield address, True, ANCHOR, text
        for address in ordered:
            if kinds[address] not in PAGES and address not in asked_not:
                yield address, False, kinds[address], ""

    def _bared(self, references: Mapping[str, str]) -> dict[str, str]:
        """Return distinct references without fragments; of several texts the first one counts."""
        found: dict[str, str] = {}
        for reference, text in references.items():
            address = self._bare(reference)
            if not found.get(address):
                found[address] = text
        return found

    def _bare(self, address: str) -> str:
        return address if self._keep_fragments else address.partition("#")[0]


def is_place(fragment: str, names: Container[str]) -> bool:
    """Return whether a page has a place of that name, as browsers and GitHub's script seek it."""
    name = unquote(fragment)
    return fragment in names or name in names or f"user-content-{name}" in names


def base_url(written: str | None, url: str) -> str:
    """Return the URL against which a page resolves its links.

    Args:
        written: Its first ``<base href>``, None where it has none.
        url: URL of the page.
    """
    if written is None:
        return url
    try:
        return resolve(url, written) or url
    except ValueError:
        return url


def resolve(base: str, address: str, encoding: str = "utf-8") -> str | None:
    """Return the absolute URL of a reference, otherwise as the site wrote it.

    Returns:
        None if the reference does not lead to an http or https URL.

    Raises:
        ValueError: It is no URL: ``http://[::1``.
    """
    address = DROPPED.sub("", address.strip(ENDS))
    scheme = SCHEME.match(address)
    if scheme and scheme[0].lower() not in _FETCHED:
        return None
    if "\\" in address:
        # Browsers read a backslash before the query as a slash.
        path, mark, query = address.partition("?")
        address = path.replace("\\", "/") + mark + query
    address = _SLASHES.sub(r"\1//", address)
    if _NO_HOST.match(address):
        return None
    if not address.isascii():
        address = _query_in(address, encoding)
    if address[:1] == "?" and address[1:2] in {
        "",
        "#",
    }:  # an empty query, of which urljoin has none
        return base.partition("#")[0].partition("?")[0] + address
    url = _join(base, address)
    return url if _HTTP.match(url) else None


def _join(base: str, address: str) -> str:
    """Join like ``urljoin``, but keep empty segments: ``a//b`` is not ``a/b``."""
    path = address.partition("#")[0].partition("?")[0]
    if path.startswith("//") or SCHEME.match(path):
        return urljoin(base, address)
    split = urlsplit(base)
    if "//" not in split.path and "//" not in path:
        return urljoin(base, address)
    marked = split._replace(path=_mark_empty(split.path)).geturl()
    return urljoin(marked, _mark_empty(path) + address[len(path) :]).replace(_EMPTY, "")


def _mark_empty(path: str) -> str:
    return path.replace("//", f"/{_EMPTY}/").replace("//", f"/{_EMPTY}/")


def _query_in(address: str, encoding: str) -> str:
    """Percent-encode a query in the page's encoding, as browsers send it.

    A character that the encoding lacks becomes a character reference:
    https://url.spec.whatwg.org/#string-percent-encode-after-encoding
    """
    path, mark, query = address.partition("?")
    query, hash_mark, fragment = query.partition("#")
    if query.isascii() or encoding.startswith("utf"):
        return address
    try:
        written = quote(query, safe=ASCII_MARKS, encoding=encoding, errors=REFERENCES)
    except (LookupError, UnicodeError):
        return address
    return path + mark + written + hash_mark + fragment
