"""Find the tags that can hold a URL, by tokens as browsers cut them; read and write attributes.

One regular expression passes over everything that cannot hold one, whole tags with their quoted
values, comments and text, and stops at the next that can. The skipped text never comes to Python,
which makes this fast. All repetition is possessive: linear on any input.

Three modes, since the same bytes mean other things: HTML; foreign content within it (``svg`` and
``math``), with CDATA sections and without raw text; XML. Facts that only the tree could tell are
not known: that a ``style`` within ``select`` is no element. The content of ``noscript`` is markup,
as for a browser without scripts.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from html.entities import html5
from typing import NamedTuple
from urllib.parse import quote

from crawler.reading.link_extraction import REFERENCES
from crawler.reading.link_kinds import URL_ATTRIBUTES

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


def _either(name: str) -> bytes:
    """Match a name in any case: cheaper than IGNORECASE, which looks at no first letter."""
    return "".join(f"[{c}{c.upper()}]" if c.isalpha() else re.escape(c) for c in name).encode()


def _any_of(names: str) -> bytes:
    """Match any of these names, grouped by first letter, since branches are tried in turn."""
    words = sorted(names.split())
    first = {word[0]: [each[1:] for each in words if each[0] == word[0]] for word in words}
    branches = (
        _either(letter) + b"(?:" + b"|".join(map(_either, rests)) + b")(?=[/>=%b])" % WS
        for letter, rests in first.items()
    )
    return b"(?:" + b"|".join(branches) + b")"


def _begun(attribute: bytes) -> bytes:
    """Match an attribute up to its value."""
    return rb"%b[%b]*+=[%b]*+[\"']?[%b]*+" % (attribute, WS, WS, WS)


# Attributes that hold a URL or are changed for another reason.
_NAMES = " ".join((
    *URL_ATTRIBUTES, "style", "imagesrcset", "http-equiv", "crossorigin", "integrity", "xlink:href",
))  # fmt: skip
# <meta name=robots> and <meta property=og:image> but no others: some pages have a hundred keywords.
_ROBOTS = _begun(_either("name")) + rb"[rR&]"
_PICTURE = _begun(_either("property")) + rb"og:image"
# And those of plug-ins: <param name=movie>, and <meta name="twitter:image">.
_PLAYERS = ("twitter:image", "msapplication-tile", "movie", "src", "filename")
_PLAYED = _begun(_either("name")) + rb"(?:%b)" % b"|".join(map(_either, _PLAYERS))
_TELLING = rb"(?:%b|%b|%b|%b)" % (_any_of(_NAMES), _ROBOTS, _PICTURE, _PLAYED)

# Elements whose text is no markup, or other markup.
RAW = frozenset(b"script style title textarea xmp iframe noembed noframes plaintext".split())
FOREIGN = frozenset({b"svg", b"math"})
_CHANGING_NAMES = "script style title textarea xmp iframe noembed noframes plaintext svg math"
_CHANGING = _any_of(_CHANGING_NAMES)
# Elements of SVG and MathML whose content is HTML again.
INTEGRATION = {
    b"svg": frozenset({b"foreignobject", b"desc", b"title"}),
    b"math": frozenset({b"mi", b"mo", b"mn", b"ms", b"mtext"}),
}
_BREAKOUT_NAMES = (
    "b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li"
    " listing menu meta nobr ol p pre ruby s small span strong strike sub sup table tt u ul var"
)
# Tags of HTML that end foreign content:
# https://html.spec.whatwg.org/multipage/parsing.html#parsing-main-inforeign
BREAKOUT = frozenset(_BREAKOUT_NAMES.encode().split())
_CHANGING_IN_FOREIGN = _any_of(
    f"{_CHANGING_NAMES} {_BREAKOUT_NAMES} "
    + b" ".join(INTEGRATION[b"svg"] | INTEGRATION[b"math"]).decode()
)

_NAME = rb"[a-zA-Z][^/>%b]*+" % WS
_DULL = rb"(?:%b|(?!%b)%b)*+" % (SPACE, _TELLING, ATTRIBUTE)
_NO_RELATION = rb"(?:%b|(?!%b|%b)%b)*+" % (SPACE, _either("rel"), _TELLING, ATTRIBUTE)
_TEXT = rb"[^<]++|<(?![a-zA-Z/!?])"
_COMMENT = rb"<!--(?:-?>|(?:[^-]++|-(?!-!?>))*+--!?>)"
_BOGUS = rb"</(?![a-zA-Z])[^>]*+>|<(?:!(?!--)|\?)[^>]*+>"
# With the text after them, and end tags without attributes first: fewer rounds.
_END = rb"</[a-zA-Z][a-zA-Z0-9]*+>[^<]*+|</%b%b>" % (_NAME, ATTRIBUTES)
_PLAIN = rb"<(?!%b)%b%b>[^<]*+" % (_CHANGING, _NAME, _DULL)
# The commonest, without a look at its attributes one by one.
_LINK = rb"<[aA](?=[%b])%b%b=\"([^\"&\0]*+)\"%b>" % (
    WS,
    _NO_RELATION,
    _either("href"),
    _NO_RELATION,
)
_TAG = rb"<(%b)(%b)>" % (_NAME, ATTRIBUTES)

# Groups: the URL of a link; the name and the attributes of another tag; an end tag's name.
HTML_STOP = re.compile(
    rb"(?:%b|%b|%b|%b|%b)*+(?:%b|%b)" % (_PLAIN, _END, _TEXT, _COMMENT, _BOGUS, _LINK, _TAG)
)

_CDATA = rb"<!\[CDATA\[(?:[^\]]++|\](?!\]>))*+\]\]>"
_END_TAG = rb"</(%b)(?:%b)>" % (_NAME, ATTRIBUTES)
_BOGUS_BUT_CDATA = _BOGUS.replace(b"(?!--)", rb"(?!--|\[CDATA\[)")
# Each part of a drawing may have its style, with no function but for colours.
_COLOURS = rb"%b[%b]*+=[%b]*+\"(?:[^\"@\\&(]++|(?<=rgb)\()*+\"" % (_either("style"), WS, WS)
PAINTS = "clip-path cursor fill filter marker marker-end marker-mid marker-start mask stroke"
# What is painted by a part of another file, and not by one of the same document.
_PAINTED = _begun(_any_of(PAINTS)) + rb"[uU][rR][lL]\((?![\"']?#)"
_DULL_IN_FOREIGN = rb"(?:%b|%b|(?!%b|%b)%b)*+" % (SPACE, _COLOURS, _TELLING, _PAINTED, ATTRIBUTE)
_PLAIN_IN_FOREIGN = rb"<(?!%b)%b%b>" % (_CHANGING_IN_FOREIGN, _NAME, _DULL_IN_FOREIGN)
_END_IN_FOREIGN = rb"</(?!%b)%b%b>" % (_CHANGING_IN_FOREIGN, _NAME, ATTRIBUTES)
# Within svg and math the tags count too that end the foreign content. A CDATA section is taken for
# one in HTML within foreignObject too: whether it is one depends on the parent's namespace.
FOREIGN_STOP = re.compile(
    rb"(?:%b|%b|%b|%b|%b|%b)*+(?:()%b|%b)"
    % (
        _TEXT,
        _PLAIN_IN_FOREIGN,
        _END_IN_FOREIGN,
        _COMMENT,
        _CDATA,
        _BOGUS_BUT_CDATA,
        _TAG,
        _END_TAG,
    )
)
_XML_NAME = rb"[^<>/!?=%b][^<>/=%b]*+" % (WS, WS)
_XML_COMMENT = rb"<!--(?:[^-]++|-(?!->))*+-->"
_XML_INSTRUCTION = rb"<\?(?!xml-stylesheet)(?:[^?]++|\?(?!>))*+\?>"
# With the declarations within the brackets of a DOCTYPE.
_XML_DOCTYPE = (
    rb"<!(?!--|\[CDATA\[)(?:[^>\[\"']++|\"[^\"]*+\"|'[^']*+'"
    rb"|\[(?:[^\]\"'<]++|\"[^\"]*+\"|'[^']*+'|<!--(?:[^-]++|-(?!->))*+-->|<)*+\])*+>"
)
# Groups: an end tag's name; the name and the attributes of a start tag; those of an instruction.
XML_STOP = re.compile(
    rb"(?:[^<]++|%b|%b|%b|%b)*+"
    rb"(?:</([^>%b]*+)[^>]*+>|<(%b)(%b)>|<\?xml-stylesheet((?:[^?]++|\?(?!>))*+)\?>)"
    % (_CDATA, _XML_COMMENT, _XML_INSTRUCTION, _XML_DOCTYPE, WS, _XML_NAME, ATTRIBUTES)
)

_RAW_ENDS = {name: re.compile(rb"</%b(?=[/>%b])" % (name, WS), re.IGNORECASE) for name in RAW} | {
    b"plaintext": re.compile(rb"(?!)")
}
_SCRIPT_TURNS = re.compile(rb"<!(?=--)|-->|<(/?)script(?=[/>%b])" % WS, re.IGNORECASE)


def raw_text_end(text: bytes, name: bytes, at: int, last: int) -> int:
    """Return the end of a raw text element's text: its end tag, or the end of the document.

    Args:
        text: The document.
        name: Name of the element.
        at: Offset of its text.
        last: Offset of the document's end.

    Complexity: O(distance), for ``script`` too.
    """
    end = _RAW_ENDS[name].search(text, at, last)
    stop = last if end is None else end.start()
    if name == b"script" and text.find(b"<!--", at, stop) >= 0:
        return _script_end(text, at, last)
    return stop


def _script_end(text: bytes, at: int, last: int) -> int:
    """Find the end of a script with ``<!--``: a script within that comment hides one end tag."""
    escaped = nested = False
    for turn in _SCRIPT_TURNS.finditer(text, at, last):
        mark = turn[0]
        if mark == b"-->":
            escaped = nested = False
        elif mark == b"<!":
            escaped = True
        elif turn[1]:
            if not nested:
                return turn.start()
            nested = False
        elif escaped:
            nested = True
    return last
