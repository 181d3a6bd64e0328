"""Find the places of URLs in a document and their kinds, and write others there.

Edits of a body are recorded, so that they can be undone byte for byte. A patch is empty without an
edit. Otherwise it is zstd over one record for each edit, in the order of the bytes: three varints
(bytes since the end of the last edit, length of the new bytes, length of the old ones), and the old
bytes.

The package's docstring has the table of kinds.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

import zstandard

from crawler.mirror.documents.tags import (
    DOUBLE,
    QUOTINGS,
    SINGLE,
    UNQUOTED,
    Value,
    escape,
    read_value,
)
from crawler.reading import link_kinds
from crawler.reading.content.content_xml import decompress
from crawler.reading.value_addresses import (
    may_hold_addresses,
    read_css,
    read_escapes,
    read_refresh,
    read_srcset,
    write_css,
    write_srcset,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from crawler.mirror.documents.scripts import ScriptAddress
    from crawler.mirror.documents.tags import Attribute


_COMPRESS = zstandard.ZstdCompressor(level=3).compress
_MORE = 0x80


class Edit(NamedTuple):
    """The replacement of the bytes from ``start`` to ``end``, which are equal for an insertion."""

    start: int
    end: int
    replacement: bytes


class Rewritten(NamedTuple):
    """A body after its edits, and the patch for ``undo``."""

    body: bytes
    patch: bytes


class PatchError(ValueError):
    """The patch does not fit the given body, or is no patch."""


def apply_edits(body: bytes, edits: Iterable[Edit]) -> Rewritten:
    """Apply edits that do not overlap, in any order; those without effect are left out.

    Complexity: O(length + edits * log(edits)).
    """
    parts: list[bytes] = []
    records = bytearray()
    at = 0
    for start, end, replacement in sorted(edits):
        old = body[start:end]
        if old == replacement:
            continue
        parts += body[at:start], replacement
        for number in (start - at, len(replacement), len(old)):
            _put(records, number)
        records += old
        at = end
    if not parts:
        return Rewritten(body, b"")
    parts.append(body[at:])
    return Rewritten(b"".join(parts), _COMPRESS(bytes(records)))


def undo(body: bytes, patch: bytes) -> bytes:
    """Return the bytes that were served.

    Raises:
        PatchError: The patch does not belong to this body.
    """
    if not patch:
        return body
    try:
        records = decompress(patch)
    except zstandard.ZstdError as error:
        raise PatchError(f"a patch of {len(patch)} bytes is damaged: {error}") from None
    parts: list[bytes] = []
    at = place = 0
    while place < len(records):
        unchanged, place = _take(records, place)
        new, place = _take(records, place)
        old, place = _take(records, place)
        if at + unchanged + new > len(body) or place + old > len(records):
            raise PatchError(f"a patch reaches beyond the {len(body)} bytes of its body")
        parts += body[at : at + unchanged], records[place : place + old]
        at += unchanged + new
        place += old
    return b"".join([*parts, body[at:]])


def _put(records: bytearray, number: int) -> None:
    while number >= _MORE:
        records.append(number & 0x7F | _MORE)
        number >>= 7
    records.append(number)


def _take(records: bytes, place: int) -> tuple[int, int]:
    number = shift = 0
    while place < len(records) and shift < 64:
        byte = records[place]
        place += 1
        number |= (byte & 0x7F) << shift
        if byte < _MORE:
            return number, place
        shift += 7
    raise PatchError("a patch ends within a number")


_QUOTES = re.compile(r"[\"'`\\]")


class LinkRole(Enum):
    """The relation of a URL to the document that contains it."""

    PAGE = "page"
    FRAME = "frame"
    REQUISITE = "requisite"
    FEED = "feed"
    FORM = "form"
    NAMED = "named"
    OTHER = "other"


_OF_CRAWLS = {
    link_kinds.ANCHOR: LinkRole.PAGE,
    link_kinds.RELATION: LinkRole.PAGE,
    link_kinds.FRAME: LinkRole.FRAME,
    link_kinds.FEED: LinkRole.FEED,
} | dict.fromkeys(
    (link_kinds.RESOURCE, link_kinds.EMBEDDED, link_kinds.MANIFEST, link_kinds.SEARCH),
    LinkRole.REQUISITE,
)
"""Map the kinds of links in crawls to those in mirrors; those that are missing are OTHER."""

_OF_NAMED_ELEMENTS = frozenset({"src", "srcset", "cite", "longdesc"})
"""Attributes that browsers read of the elements in the table alone: elsewhere they may be words."""

_KINDS = {
    attribute.encode(): {
        element.encode(): _OF_CRAWLS.get(kind, LinkRole.OTHER)
        for element, kind in kinds.items()
        if element != link_kinds.ANY or attribute not in _OF_NAMED_ELEMENTS
    }
    for attribute, kinds in link_kinds.URL_ATTRIBUTES.items()
}
_ANY = link_kinds.ANY.encode()
SETS = frozenset(name.encode() for name in link_kinds.URL_SETS)
# Attributes with values of any kind: "5", "true", JSON.
GUESSED = frozenset(name.encode() for name in link_kinds.LAZY)
# SVG, where every element with a URL embeds its content, except for links.
_FOREIGN_ADDRESSES = frozenset({b"href", b"xlink:href"})


def kind_of(element: bytes, attribute: bytes) -> LinkRole | None:
    kinds = _KINDS.get(attribute)
    return None if kinds is None else kinds.get(element) or kinds.get(_ANY)


def foreign_kind_of(element: bytes, attribute: bytes) -> LinkRole | None:
    """Return the kind of the URL in an attribute of SVG or MathML, or None if it holds none."""
    if attribute not in _FOREIGN_ADDRESSES:
        return None
    return LinkRole.PAGE if element == b"a" else LinkRole.REQUISITE


def kind_of_relation(relation: str, media_type: str) -> LinkRole:
    """Return the kind of the URL of a ``<link>``.

    Args:
        relation: Value of the ``rel`` attribute.
        media_type: Value of the ``type`` attribute.
    """
    names = relation.lower().split()
    if "alternate" in names and "feed" in names:
        return LinkRole.FEED
    if not link_kinds.RESOURCES.isdisjoint(names):
        return LinkRole.REQUISITE
    kind = link_kinds.kind_of_relation(names, media_type) or ""
    if kind == link_kinds.SEARCH and "opensearchdescription" not in media_type.lower():
        return LinkRole.OTHER
    is_search_page = kind == link_kinds.VERSION and "search" in names
    return LinkRole.FORM if is_search_page else _OF_CRAWLS.get(kind, LinkRole.OTHER)


class LinkPlace(NamedTuple):
    """The place of a URL.

    Attributes:
        start: Offset of the replaced bytes.
        end: Offset of their end.
        written: URL as written, with character references and escapes decoded.
        kind: Relation of the URL to the document.
        nofollow: Whether the document asks not to follow it.
        write: Function that writes a URL for this place.
        companions: Edits that accompany a local URL: removal of checks that it would not pass.
        is_joined: Whether the URL was joined with a base that the copy has no more.
    """

    start: int
    end: int
    written: str
    kind: LinkRole
    nofollow: bool
    write: Callable[[str], bytes]
    companions: tuple[Edit, ...] = ()
    is_joined: bool = False


def write_double(address: str) -> bytes:
    return escape(address, DOUBLE)


def _writer(quotes: int, write: Callable[[str], str]) -> Callable[[str], bytes]:
    return lambda address: escape(write(address), quotes)


def _write_unquoted(address: str) -> bytes:
    # An empty value would swallow the next attribute.
    return escape(address, UNQUOTED) or b'""'


_PLAIN = {DOUBLE: write_double, SINGLE: _writer(SINGLE, str), UNQUOTED: _write_unquoted}
_CSS = {quotes: _writer(quotes, write_css) for quotes in QUOTINGS}
_SET = {quotes: _writer(quotes, write_srcset) for quotes in QUOTINGS}


def write_raw_css(address: str) -> bytes:
    return write_css(address).encode()


def write_text(address: str) -> bytes:
    return address.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").encode()


def write_text_css(address: str) -> bytes:
    return write_text(write_css(address))


def write_cdata(address: str) -> bytes:
    return address.replace(">", "%3E").encode()


def _write_module(address: str) -> bytes:
    """Write the specifier of a module: a name without a dot in front means another thing."""
    is_bare = not address.startswith((".", "/", "data:")) and "://" not in address
    return _write_in_script(f"./{address}" if is_bare else address)


def _write_in_script(address: str) -> bytes:
    """Write an address within any quotes of a script."""
    return _QUOTES.sub(lambda found: f"%{ord(found[0]):02X}", address).encode()


def _constant(written: bytes) -> Callable[[str], bytes]:
    return lambda _: written


def _nested(quotes: int, write: Callable[[str], bytes]) -> Callable[[str], bytes]:
    return lambda address: escape(write(address).decode(), quotes)


class Places:
    """Collects the places of a document.

    Args:
        text: The document, in an encoding whose ASCII is ASCII.
        encoding: Encoding of the text.
    """

    def __init__(self, text: bytes, encoding: str) -> None:
        self.text = text
        self.encoding = encoding
        self.found: list[LinkPlace] = []
        self.add = self.found.append

    def decode(self, written: bytes) -> str:
        text = written.decode(self.encoding, "replace")
        return text.replace("\0", "\ufffd") if "\0" in text else text

    def value(self, attribute: Attribute | None) -> str:
        if attribute is None:
            return ""
        written = self.text[attribute.start : attribute.end]
        return self.decode(read_value(written, self.encoding).text)

    def address(
        self,
        attribute: Attribute,
        kind: LinkRole,
        *,
        nofollow: bool = False,
        companions: tuple[Edit, ...] = (),
        written: str | None = None,
    ) -> None:
        """Add an attribute that is a URL; more may be known of it than is written there."""
        written = self.value(attribute) if written is None else written
        if kind is LinkRole.REQUISITE and is_own(written):
            return
        start, end, write = attribute.start, attribute.end, _PLAIN.get(attribute.quotes)
        if write is not None:
            self.add(LinkPlace(start, end, written, kind, nofollow, write, companions))

    def addresses(
        self, attribute: Attribute, kind: LinkRole, companions: tuple[Edit, ...] = ()
    ) -> None:
        """Add an attribute that is a ``srcset``."""
        value = self.read(attribute)
        for start, end in read_srcset(value.text):
            written = self.decode(value.text[start:end])
            if not is_own(written):
                span = attribute.start + value.place(start), attribute.start + value.place(end)
                write = _SET[attribute.quotes]
                self.add(LinkPlace(*span, written, kind, False, write, companions))

    def refresh(self, attribute: Attribute) -> None:
        """Add the target of a ``<meta http-equiv=refresh>``."""
        value = self.read(attribute)
        span = read_refresh(value.text)
        if span is not None:
            start, end = (attribute.start + value.place(at) for at in span)
            written, write = self.decode(value.text[slice(*span)]), _PLAIN[attribute.quotes]
            self.add(LinkPlace(start, end, written, LinkRole.PAGE, False, write))

    def srcdoc(
        self, attribute: Attribute, value: Value, inner: Iterable[LinkPlace], fixes: Iterable[Edit]
    ) -> list[Edit]:
        """Add what was found in the document that is the value of an attribute.

        Returns:
            The edits that the copy needs, for their places in this document.
        """

        def outer(edit: Edit) -> Edit:
            start, end = (attribute.start + value.place(at) for at in (edit.start, edit.end))
            return Edit(start, end, escape(edit.replacement.decode(), attribute.quotes))

        for place in inner:
            start, end, _ = outer(Edit(place.start, place.end, b""))
            write = _nested(attribute.quotes, place.write)
            companions = tuple(map(outer, place.companions))
            self.add(place._replace(start=start, end=end, write=write, companions=companions))
        return list(map(outer, fixes))

    def script(self, start: int, addresses: Iterable[ScriptAddress]) -> None:
        """Add URLs of a script that begins at an offset."""
        for found in addresses:
            first, last = start + found.start, start + found.end
            written = self.text[first:last]
            if found.is_left:
                write = _constant(written)
            else:
                write = _write_module if found.is_module else _write_in_script
            kind = LinkRole.NAMED if found.is_guess else LinkRole.REQUISITE
            address = self.decode(written) if found.address is None else found.address
            self.add(LinkPlace(first, last, address, kind, False, write))

    def style(self, attribute: Attribute) -> None:
        """Add an attribute that is CSS."""
        write = _CSS.get(attribute.quotes)
        if write is not None:  # it has a value
            self._sheet(attribute.start, self.read(attribute), write)

    def sheet(self, start: int, end: int) -> None:
        """Add the URLs of a style sheet that is raw text of the document."""
        self._sheet(start, Value(self.text[start:end]), write_raw_css)

    def text_sheet(self, start: int, end: int) -> None:
        """Add the URLs of a style sheet that is text with character references."""
        self._sheet(start, read_value(self.text[start:end], self.encoding), write_text_css)

    def _sheet(self, start: int, css: Value, write: Callable[[str], bytes]) -> None:
        if may_hold_addresses(css.text):
            for first, last in read_css(css.text):
                written = read_escapes(self.decode(css.text[first:last]))
                span = start + css.place(first), start + css.place(last)
                self.add(LinkPlace(*span, written, LinkRole.REQUISITE, False, write))

    def read(self, attribute: Attribute) -> Value:
        """Return the value of an attribute with its character references decoded."""
        return read_value(self.text[attribute.start : attribute.end], self.encoding)


def is_own(written: str) -> bool:
    """Return whether a URL is empty or only a fragment, so that no file is fetched for it."""
    written = written.strip()
    return not written or written.startswith("#")
