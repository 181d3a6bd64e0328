"""Read and write the attributes of a tag, with character references as browsers treat them."""

from __future__ import annotations

import re
from bisect import bisect_right
from html.entities import html5
from typing import NamedTuple
from urllib.parse import quote

from crawler.reading.link_extraction import REFERENCES

WS = rb"\t\n\f\r "
# A value that is not closed reaches to the end of the document: such a tag is none.
_VALUE = rb"(?:\"[^\"]*+(?:\"|\Z)|'[^']*+(?:'|\Z)|[^%b>\"'][^%b>]*+)" % (WS, WS)
# The rest after the name of an attribute; the name may begin with "=" but hold no other.
_EQUALS = rb"(?:[%b]*+=[%b]*+%b?+)?+" % (WS, WS, _VALUE)
ATTRIBUTE = rb"[^/>%b][^/>=%b]*+%b" % (WS, WS, _EQUALS)
SPACE = rb"[/%b]++" % WS
# The text between the name of a tag and its ">".
ATTRIBUTES = rb"(?:%b|%b)*+" % (SPACE, ATTRIBUTE)

_ATTRIBUTE = re.compile(
    rb"([^/>%b][^/>=%b]*+)(?:[%b]*+=[%b]*+(?:\"([^\"]*+)\"|'([^']*+)'|([^%b>\"'][^%b>]*+))?+)?+"
    % ((WS,) * 6)
)
_REFERENCE = re.compile(rb"&(?:#(?:[xX]([0-9a-fA-F]+)|([0-9]+));?|([a-zA-Z][a-zA-Z0-9]*+)(;?)(=?))")
_DIGITS = 9  # more make no character

_ENDS_OF_URLS = (b" ", b"\t", b"\n", b"\f", b"\r")

QUOTINGS = DOUBLE, SINGLE, UNQUOTED = 2, 3, 4  # groups of _ATTRIBUTE
_IN_QUOTES = {DOUBLE: ('"', "&quot;"), SINGLE: ("'", "&#39;")}
_SPECIAL = re.compile(r"[\s\"'<>=`&]")


class Attribute(NamedTuple):
    """The position of an attribute: of its name, of its value without quotes, and the quotes."""

    name_start: int
    name_end: int
    start: int
    end: int
    quotes: int


def read_attributes(text: bytes, start: int, end: int) -> dict[bytes, Attribute]:
    """Find the attributes between the name of a tag and its ``>``, by lower-case name.

    The first one of a repeated name counts.

    Complexity: O(end - start).
    """
    found: dict[bytes, Attribute] = {}
    for match in _ATTRIBUTE.finditer(text, start, end):
        name = match[1].lower()
        if name not in found:
            which = match.lastindex or 1
            value = match.span(which) if which > 1 else (match.end(), match.end())
            found[name] = Attribute(*match.span(1), *value, which)
    return found


class Value(NamedTuple):
    """A value with its character references decoded, and the original position of each byte."""

    text: bytes
    decoded: tuple[int, ...] = ()
    originals: tuple[int, ...] = ()

    def place(self, at: int) -> int:
        if not self.decoded:
            return at
        nearest = bisect_right(self.decoded, at) - 1
        return self.originals[nearest] + at - self.decoded[nearest]


def read_value(written: bytes, encoding: str) -> Value:
    """Decode the character references of an attribute's value; other bytes stay as they are.

    Complexity: O(length).
    """
    if b"&" not in written:
        return Value(written)
    parts: list[bytes] = []
    decoded, places = [0], [0]
    at = length = seen = 0
    in_query = False
    for match in _REFERENCE.finditer(written):
        character = _character(match)
        if character is None:
            continue
        try:
            new = character.encode(encoding)
        except UnicodeEncodeError:
            in_query = _is_in_query(written[seen : match.start()], was_in_query=in_query)
            seen = match.start()
            new = _as_in_url(character, encoding, in_query=in_query)
        plain = written[at : match.start()]
        parts += plain, new
        length += len(plain)
        at = match.end() - len(match[5] or b"")
        # Both ends of a reference: a position within it maps to its beginning.
        decoded += length, length + len(new)
        places += match.start(), at
        length += len(new)
    return Value(b"".join([*parts, written[at:]]), tuple(decoded), tuple(places))


def _is_in_query(text: bytes, *, was_in_query: bool) -> bool:
    """Return whether the end of a piece of a value is in the query of a URL, of maybe several."""
    last = max((text.rfind(mark), mark == b"?") for mark in (b"?", *_ENDS_OF_URLS))
    return was_in_query if last[0] < 0 else last[1]


def _as_in_url(character: str, encoding: str, *, in_query: bool) -> bytes:
    """Write a character that an encoding lacks as browsers send it in a URL."""
    return character.encode(encoding, REFERENCES) if in_query else quote(character).encode()


def _character(match: re.Match[bytes]) -> str | None:
    """Return the character of a reference, or None for text: ``&copy=1`` is part of a URL."""
    name = match[3]
    if name is not None:
        semicolon = match[4].decode()
        if not semicolon and match[5]:
            return None
        return html5.get(name.decode() + semicolon)
    digits, base = (match[1], 16) if match[1] else (match[2], 10)
    digits = digits.lstrip(b"0") or b"0"
    code = int(digits, base) if len(digits) <= _DIGITS else 0
    if not 0 < code < 0x110000 or 0xD800 <= code < 0xE000:
        return "\ufffd"
    if 0x80 <= code < 0xA0:
        return bytes([code]).decode("cp1252", "ignore") or chr(code)
    return chr(code)


def escape(value: str, quotes: int) -> bytes:
    """Escape a value, or a part of one, for a place within these quotes.

    Args:
        value: ASCII text.
        quotes: Kind of quotes, as in ``Attribute``. Without quotes the result is a part of a
            value, not empty.
    """
    if quotes == UNQUOTED:
        return _SPECIAL.sub(lambda match: f"&#{ord(match[0])};", value).encode()
    mark, reference = _IN_QUOTES[quotes]
    if "&" in value:
        value = value.replace("&", "&amp;")
    return (value.replace(mark, reference) if mark in value else value).encode()
