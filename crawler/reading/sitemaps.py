"""The addresses in a sitemap, whatever arrives under its name."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lxml.etree import LxmlError, XMLParser

from crawler.downloading.body_streams import GZIP_MAGIC
from crawler.downloading.encodings import open_body
from crawler.downloading.errors import AnswerError
from crawler.reading.link_extraction import resolve

if TYPE_CHECKING:
    from collections.abc import Iterator

# sitemaps.org takes feeds for sitemaps too: RSS 2.0, 1.0, Atom.
_ROOTS = frozenset({"urlset", "sitemapindex", "rss", "RDF", "feed"})
# The text of what, within what, is an address: of sitemaps, of RSS.
_ADDRESSES = (["url", "loc"], ["sitemap", "loc"], ["item", "link"])
_LINE = re.compile(rb"[^\r\n]+")
_ABSOLUTE = re.compile(rb"\s*https?://", re.IGNORECASE)
_BOM = b"\xef\xbb\xbf"
_CHUNK_BYTES = 2**16
# For each URL that may be taken; one of a site in fifty languages has as many children.
_ELEMENTS_PER_URL = 20
# What is no beginning of a reference that XML knows by itself.
_STRAY = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos|#\d+|#x[0-9a-fA-F]+);)")
# Where an ampersand may mean itself, or be two bytes.
_NO_PLAIN_TEXT = (b"<![CDATA[", b"<!DOCTYPE", b"\x00")


@dataclass(frozen=True, slots=True)
class SitemapContent:
    """What a sitemap lists: pages, or where ``is_index`` further sitemaps.

    ``is_cut`` where it goes on after what was read.
    """

    is_index: bool
    locations: tuple[str, ...]
    is_cut: bool = False

    def urls(self, base: str) -> Iterator[str]:
        """The locations that lead to http and https, absolute; the others are left out."""
        for location in self.locations:
            try:
                url = resolve(base, location)
            except ValueError:
                continue
            if url is not None:
                yield url


@dataclass(frozen=True, slots=True)
class SitemapLimits:
    """What is read of a sitemap.

    Attributes:
        max_bytes: It is none where it is larger when decompressed.
        max_urls: Locations that are taken.
        max_url_length: Longer locations are left out.
    """

    max_bytes: int
    max_urls: int = 50_000
    max_url_length: int = 8192


def read_sitemap(body: bytes, limits: SitemapLimits) -> SitemapContent | None:
    """Read a sitemap, gzipped or not; None for what is none.

    As sitemaps.org has them: XML, a feed in RSS or Atom, a text of one address a line.

    No tree is built, of which 32 MB of empty elements would make a gigabyte. Nothing outside the
    file is loaded, and libxml2 gives up where entities expand beyond measure.

    Args:
        body: The file as it came.
        limits: Where to give up.
    """
    try:
        if body.startswith(GZIP_MAGIC):
            body = open_body(body, ["gzip"], limits.max_bytes).body
    except AnswerError:
        return None
    if _ABSOLUTE.match(body.removeprefix(_BOM)):
        return _read_text(body.removeprefix(_BOM), limits)
    # libxml2 takes anything in front of the declaration for a fault.
    before, declaration, behind = body.partition(b"<?xml ")
    if declaration and b"<loc" not in before:
        body = declaration + behind
    body = body.lstrip()
    if b"<" not in body:
        return None
    listener, is_faulty = _listen(body, limits)
    if is_faulty and not any(sign in body for sign in _NO_PLAIN_TEXT):
        # Behind a fault, such as an ampersand that is not written out, it leaves out all that are.
        listener, _ = _listen(_STRAY.sub(b"&amp;", body), limits)
    if listener.root not in _ROOTS and not listener.locations:
        return None
    locations = tuple(listener.locations)
    return SitemapContent(listener.root == "sitemapindex", locations, listener.is_cut)


def _read_text(body: bytes, limits: SitemapLimits) -> SitemapContent:
    """The lines of a text that are addresses."""
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
    """What is heard of a file, and whether it is no well-formed XML."""
    listener = _Listener(limits)
    parser = XMLParser(target=listener, recover=True, resolve_entities=False, no_network=True)
    # What was read before a fault that cannot be recovered from counts.
    with suppress(LxmlError, ValueError, _EnoughError):
        for at in range(0, len(body), _CHUNK_BYTES):
            parser.feed(body[at : at + _CHUNK_BYTES])
        parser.close()
    return listener, len(parser.feed_error_log) > 0


class _EnoughError(Exception):
    """No more of this file is read."""


class _Listener:
    """Hears the elements of a file, and keeps the address of each entry."""

    def __init__(self, limits: SitemapLimits) -> None:
        self.root: str | None = None
        self.locations: list[str] = []
        self.is_cut = False
        self._limits = limits
        self._elements = limits.max_urls * _ELEMENTS_PER_URL
        self._path: list[str] = []
        self._text = ""

    def start(self, tag: str, attributes: Any) -> None:
        name = tag.rpartition("}")[2]
        self.root = self.root or name
        self._path.append(name)
        self._text = ""
        self._elements -= 1
        if self._elements < 0:
            self._stop()
        # In Atom; other links of an entry lead to comments, to what edits it, to a file.
        is_page = attributes.get("rel", "alternate") == "alternate"
        if is_page and self._path[-2:] == ["entry", "link"]:
            # libxml2 leaves an ampersand of an attribute so to whoever resolves entities.
            self._take(attributes.get("href", "").replace("&#38;", "&"))

    def data(self, text: str) -> None:
        if self._is_location() and len(self._text) <= self._limits.max_url_length:
            self._text += text

    def end(self, tag: str) -> None:
        if self._is_location():
            self._take(self._text)
        self._text = ""
        if self._path:
            self._path.pop()

    def close(self) -> None:
        """Nothing is left to do."""

    def _take(self, text: str) -> None:
        location = text.strip()
        if 0 < len(location) <= self._limits.max_url_length:
            if len(self.locations) == self._limits.max_urls:
                self._stop()
            self.locations.append(location)

    def _is_location(self) -> bool:
        """Whether this text is an entry's address; an image within one has another."""
        return self._path[-2:] in _ADDRESSES

    def _stop(self) -> None:
        self.is_cut = True
        raise _EnoughError
