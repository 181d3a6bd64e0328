"""Read the URLs of a sitemap, and the pages that feeds, manifests and search descriptions name."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from lxml import etree
from lxml.etree import LxmlError, XMLParser

from crawler.downloading.compressed_streams import GZIP_MAGIC
from crawler.downloading.encodings import AnswerError, Opening, TooLargeError
from crawler.reading.link_extraction import resolve
from crawler.reading.link_kinds import FEED, MANIFEST, is_feed_namespace
from crawler.reading.url_joining import joined

if TYPE_CHECKING:
    from collections.abc import Iterator

# sitemaps.org takes feeds for sitemaps too: RSS 2.0, 1.0, Atom.
_ROOTS = frozenset({"urlset", "sitemapindex", "rss", "RDF", "feed"})
# Paths of the elements whose text is a location: two of sitemaps, one of RSS.
_ADDRESSES = (["url", "loc"], ["sitemap", "loc"], ["item", "link"])
_IDENTITY = ["item", "guid"]
_FEEDS = frozenset({"rss", "RDF", "feed"})
_BASE = "{http://www.w3.org/XML/1998/namespace}base"
# Those of the elements with an attribute, by their relation; the next part of a feed: RFC 5005.
_REFERENCES = {
    "alternate": (["entry", "link"], ["url", "link"]),
    "next": (["feed", "link"], ["channel", "link"]),
}
_LINE = re.compile(rb"[^\r\n]+")
_ABSOLUTE = re.compile(rb"\s*https?://", re.IGNORECASE)
_BOM = b"\xef\xbb\xbf"
_CHUNK_BYTES = 2**16
_MAX_PACKINGS = 3  # a file that is packed, and once more by a server that does not look at it
# Elements a URL that may be taken; a URL of a site in fifty languages has as many children.
_ELEMENTS_PER_URL = 20
# An ampersand that does not begin a reference that XML predefines.
_STRAY = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos|#\d+|#x[0-9a-fA-F]+);)")
# Signs of a file in which an ampersand may mean itself, or be two bytes.
_NO_PLAIN_TEXT = (b"<![CDATA[", b"<!DOCTYPE", b"\x00")


@dataclass(frozen=True, slots=True)
class SitemapContent:
    """The URLs of a sitemap: pages, or further sitemaps if ``is_index``.

    ``is_cut`` tells that the file goes on after the part that was read.
    """

    is_index: bool
    locations: tuple[str, ...]
    is_cut: bool = False

    def urls(self, base: str) -> Iterator[str]:
        """Yield the http and https URLs among the locations, absolute."""
        for location in self.locations:
            try:
                url = resolve(base, location)
            except ValueError:
                continue
            if url is not None:
                yield url


@dataclass(frozen=True, slots=True)
class SitemapLimits:
    """Limits on a sitemap.

    Attributes:
        max_bytes: Maximum size when decompressed; a larger packed file is read up to there.
        max_urls: Maximum number of locations that are taken.
        max_url_length: Maximum length of a location; longer ones are skipped.
    """

    max_bytes: int
    max_urls: int = 50_000
    max_url_length: int = 8192


def read_sitemap(body: bytes, limits: SitemapLimits) -> SitemapContent | None:
    """Read a sitemap, gzipped or not; return None for any other file.

    The formats of sitemaps.org: XML, a feed in RSS or Atom, a text of one URL a line. No tree is
    built: 32 MB of empty elements would make one of a gigabyte. Nothing outside the file is loaded,
    and libxml2 gives up if entities expand beyond measure.

    Args:
        body: The file as it came.
        limits: Limits on the file.
    """
    is_cut = False
    for _ in range(_MAX_PACKINGS):
        if body.startswith(GZIP_MAGIC):
            pieces: list[bytes] = []
            try:
                pieces.extend(Opening(["gzip"], limits.max_bytes).pieces([body]))
            except TooLargeError:
                is_cut = True
            except AnswerError:
                return None
            body = b"".join(pieces)
    if is_cut:  # no half URL
        body = body[: max(body.rfind(b">"), body.rfind(b"\n")) + 1]
    content = _read(body, limits)
    return replace(content, is_cut=True) if content is not None and is_cut else content


def _read(body: bytes, limits: SitemapLimits) -> SitemapContent | None:
    if _ABSOLUTE.match(body.removeprefix(_BOM)):
        return _read_text(body.removeprefix(_BOM), limits)
    # libxml2 takes any text in front of the declaration for a fault.
    before, declaration, behind = body.partition(b"<?xml ")
    if declaration and b"<loc" not in before:
        body = declaration + behind
    body = body.lstrip()
    if b"<" not in body:
        return None
    listener, is_faulty = _listen(body, limits)
    if is_faulty and not any(sign in body for sign in _NO_PLAIN_TEXT):
        # After a fault, such as an unescaped ampersand, libxml2 drops the escaped ones too.
        listener, _ = _listen(_STRAY.sub(b"&amp;", body), limits)
    if listener.root not in _ROOTS and not listener.locations:
        return None
    locations = tuple(listener.locations)
    return SitemapContent(listener.root == "sitemapindex", locations, listener.is_cut)


def _read_text(body: bytes, limits: SitemapLimits) -> SitemapContent:
    locations: list[str] = []
    for number, line in enumerate(_LINE.finditer(body)):
        if number == limits.max_urls * _ELEMENTS_PER_URL:
            return SitemapContent(is_index=False, locations=tuple(locations), is_cut=True)
        location = line.group().decode("utf-8", "replace").strip()
        if _ABSOLUTE.match(line.group()) and len(location) <= limits.max_url_length:
            if len(locations) == limits.max_urls:
                return SitemapContent(is_index=False, locations=tuple(locations), is_cut=True)
            locations.append(location)
    return SitemapContent(is_index=False, locations=tuple(locations))


def _listen(body: bytes, limits: SitemapLimits) -> tuple[_Listener, bool]:
    """Parse a file; return the listener, and whether the file is no well-formed XML."""
    listener = _Listener(limits)
    parser = XMLParser(target=listener, recover=True, resolve_entities=False, no_network=True)
    # The part before an unrecoverable fault counts.
    with suppress(LxmlError, ValueError, _EnoughError):
        for at in range(0, len(body), _CHUNK_BYTES):
            parser.feed(body[at : at + _CHUNK_BYTES])
        parser.close()
    return listener, len(parser.feed_error_log) > 0


class _EnoughError(Exception):
    """The limit of a file is reached."""


class _Listener:
    """Collects the location of each entry from the elements of a file."""

    def __init__(self, limits: SitemapLimits) -> None:
        self.root: str | None = None
        self.locations: list[str] = []
        self.is_cut = False
        self._limits = limits
        self._elements = limits.max_urls * _ELEMENTS_PER_URL
        self._namespace = ""
        self._path: list[str] = []
        self._bases = [""]
        self._text = ""
        # Of the entry that is open: its name if that is a URL, and where its locations begin.
        self._identity = ""
        self._first = 0
        self._is_identity = False

    def start(self, tag: str, attributes: Any) -> None:
        namespace, _, name = tag.removeprefix("{").rpartition("}")
        self.root = self.root or name
        # What a module of feeds calls so is something else.
        self._namespace = namespace if len(self._path) == 0 else self._namespace
        is_own = namespace == self._namespace or is_feed_namespace(namespace)
        self._path.append(name if is_own or self.root not in _FEEDS else "")
        base = attributes.get(_BASE, "")[: self._limits.max_url_length]
        self._bases.append(joined(self._bases[-1], base) if base else self._bases[-1])
        if name == "item":
            self._identity, self._first = "", len(self.locations)
        self._is_identity = attributes.get("isPermaLink", "true").strip().lower() != "false"
        self._text = ""
        self._elements -= 1
        if self._elements < 0:
            self._stop()
        # In Atom other links of an entry lead to comments, to an edit form or to a file. In a
        # sitemap they name the same page in other languages.
        if self._path[-2:] in _REFERENCES.get(attributes.get("rel", "alternate"), ()):
            # libxml2 leaves an ampersand of an attribute in this form to the caller.
            self._take(attributes.get("href", "").replace("&#38;", "&"))

    def data(self, text: str) -> None:
        if self._is_location() and len(self._text) <= self._limits.max_url_length:
            self._text += text

    def end(self, tag: str) -> None:
        if self._path[-2:] == _IDENTITY:
            is_url = self._is_identity and _ABSOLUTE.match(self._text.encode("utf-8", "replace"))
            self._identity = self._text if is_url else ""
        elif self._is_location():
            self._take(self._text)
        elif self._path[-1:] == ["item"] and len(self.locations) == self._first:
            self._take(self._identity)
        self._text = ""
        if self._path:
            self._path.pop()
            self._bases.pop()

    def close(self) -> None:
        """Do nothing: the parser calls it at the end."""

    def _take(self, text: str) -> None:
        location = text.strip() and joined(self._bases[-1], text)
        if 0 < len(location) <= self._limits.max_url_length:
            if len(self.locations) == self._limits.max_urls:
                self._stop()
            self.locations.append(location)

    def _is_location(self) -> bool:
        """Return whether this text may be an entry's location; an image within has its own."""
        return self._path[-2:] in _ADDRESSES or self._path[-2:] == _IDENTITY

    def _stop(self) -> None:
        self.is_cut = True
        raise _EnoughError


_MAX_BYTES = 1 << 20
_MAX_URLS = 200
_NOTHING = SitemapContent(is_index=False, locations=())


def read_description(kind: str, body: bytes, limits: SitemapLimits) -> SitemapContent:
    """Return the addresses of the pages that a description names; none of any other file.

    Args:
        kind: ``FEED``, ``MANIFEST`` or ``SEARCH``.
        body: Body of the answer.
        limits: Limits on a feed, which is a sitemap too.
    """
    if kind == FEED and not body.lstrip().startswith(b"{"):
        feed = read_sitemap(body, limits)
        return _NOTHING if feed is None or feed.is_index else feed
    read = {FEED: _of_json_feed, MANIFEST: _of_manifest}.get(kind, _of_search)
    most = limits.max_urls if kind == FEED else _MAX_URLS
    size = limits.max_bytes if kind == FEED else _MAX_BYTES
    addresses = (each for each in read(body[:size]) if len(each) <= limits.max_url_length)
    found = tuple(islice(dict.fromkeys(addresses), most))
    return SitemapContent(is_index=False, locations=found)


def _of_manifest(body: bytes) -> Iterator[str]:
    """Yield the start page, the shortcuts and the scope; see https://w3.org/TR/appmanifest/."""
    manifest = _json_object(body)
    named = [manifest.get("start_url"), manifest.get("scope"), manifest.get("id")]
    named += [one.get("url") for one in _dicts(manifest.get("shortcuts"))]
    named += [one.get("action") for one in _dicts([manifest.get("share_target")])]
    yield from filter(_is_address, named)


def _of_json_feed(body: bytes) -> Iterator[str]:
    """Yield the home page, the next part and the entries; see https://jsonfeed.org/version/1.1."""
    feed = _json_object(body)
    if "jsonfeed.org" in str(feed.get("version")):
        named = [feed.get("home_page_url"), feed.get("next_url")]
        named += [one.get("url") for one in _dicts(feed.get("items"))]
        yield from filter(_is_address, named)


def _json_object(body: bytes) -> dict[str, Any]:
    try:
        found: Any = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _is_address(value: object) -> bool:
    return isinstance(value, str) and bool(value)


def _dicts(values: Any) -> list[dict[str, Any]]:
    return [one for one in values if isinstance(one, dict)] if isinstance(values, list) else []


def _of_search(body: bytes) -> Iterator[str]:
    """Yield the search form, and the pages of the templates without what is searched for."""
    parser = XMLParser(recover=True, resolve_entities=False, no_network=True)
    try:
        root = etree.fromstring(body, parser)
    except etree.XMLSyntaxError:
        return
    # A namespace may hold brackets, which QName refuses.
    if root is None or root.tag.rpartition("}")[2] != "OpenSearchDescription":
        return
    for element in root.iter("{*}Url", "{*}SearchForm"):
        if element.tag.endswith("SearchForm"):
            yield (element.text or "").strip()
        elif element.get("type", "text/html").startswith(("text/html", "application/xhtml")):
            yield element.get("template", "").partition("?")[0].partition("{")[0]
