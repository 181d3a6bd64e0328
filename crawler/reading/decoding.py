"""Decode the bytes of a page and encode them as UTF-8, whatever the page declares."""

from __future__ import annotations

import re
from typing import NamedTuple

from w3lib.encoding import (
    html_body_declared_encoding,
    http_content_type_encoding,
    read_bom,
    to_unicode,
)

_REPLACEMENT = "\ufffd"
_FALLBACK = "cp1252"  # what browsers assume of a page that declares nothing

# Characters that HTML forbids, libxml2 accepts and lxml refuses when a text with them is written
# anywhere: control characters and U+FFFE, U+FFFF, as such and as references. Browsers drop NUL,
# older libxml2 ends the document there.
_CONTROLS = bytes(code for code in range(32) if code not in b"\t\n\f\r")
_FORM_FEED_IS_SPACE = bytes.maketrans(b"\f", b" ")
_NONCHARACTERS = ("\ufffe".encode(), "\uffff".encode())
# A pattern of one fixed byte is sought ten times as fast as one of two.
_REFERENCES = re.compile(
    rb"&(?=#)#(?:0*(?:[0-8]|1[124-9]|2[0-9]|3[01]|6553[45])(?![0-9]);?"
    rb"|[xX]0*(?:[0-8bcefBCEF]|1[0-9a-fA-F]|[fF]{3}[efEF])(?![0-9a-fA-F]);?)"
)

# Python codecs from bytes to text that are no encoding of web pages.
_NO_WEB_ENCODINGS = frozenset(
    {"idna", "punycode", "undefined", "unicode_escape", "raw_unicode_escape", "utf-7", "mbcs"}
)
# Encodings whose every byte is ASCII: that the bytes are valid UTF-8 says nothing there.
_SEVEN_BITS = ("iso2022", "hz")
_WIDE = ("utf-16", "utf-32")
_MANY_BYTES = ("gb", "big5", "cp932", "cp949", "cp950", "euc", "shift", "johab")
# This many characters beyond ASCII in valid UTF-8 are no accident of a double-byte encoding.
_NO_ACCIDENT = 8
_SAMPLE_BYTES = 1024
_MAX_HEAD_BYTES = 2**20  # the head of a page may never end
# What may stand in a head before its declaration, its end, and a declaration: each byte is looked
# at once, since what is not closed reaches to the end.
_HEAD_PARTS = re.compile(
    rb"<(?:!--.*?(?:-->|\Z)"
    rb"|(script|style|title|noscript|template)(?=[\s/>]).*?(?:</\1(?=[\s/>])|\Z)"
    rb"|(?P<end>/head(?=[\s/>])|(?:body|frameset)(?=[\s/>]))"
    rb"|(?P<declaration>(?:meta(?=[\s/])|\?xml\s)[^>]*+(?:>|\Z)))",
    re.IGNORECASE | re.DOTALL,
)
# With fewer bytes beyond ASCII the detection may take French for Russian. It is asked where one of
# them is, in the fallback, a sign within a word ("ksi¹¿ki"), but none that stands there ("l´été"),
# or a letter of few languages of the fallback ("kýþ" is Turkish, not Icelandic).
_ENOUGH_TO_GUESS = 16
_RARE = re.compile(r"(?<=[^\W\d_])[¡-©«-³¶¸¹»-¿×÷](?=[^\W\d_])|[ÐÝÞŠŽðýþšž]")
# Of the double-byte encodings of Chinese, Japanese and Korean, most of which are UTF-8 too.
_PAIRS = re.compile(rb"(?:[\xa1-\xfe]{2})++")
_BEYOND_ASCII = re.compile(rb"[\x80-\xff]+")
# Those of the web, but for what is rarer than it is guessed.
_GUESSED = (
    *(f"windows-125{number}" for number in range(9)),
    *("windows-874", "koi8-r", "koi8-u", "ibm866", "gb18030", "big5", "euc-jp", "cp932"),
    *(f"iso-8859-{number}" for number in (2, 4, 5, 6, 7, 8, 13, 15)),
    *("cp949", "iso-2022-jp"),
)
_LONG_ASCII = re.compile(rb"[\0-\x7f]{64,}")
_HIGH = bytes(range(128, 256))


class Decoded(NamedTuple):
    """A body as UTF-8 without control characters, and the encoding that it was read in."""

    utf8: bytes
    encoding: str


def decode(body: bytes, content_type: str | None) -> Decoded:
    """Decode a body in the encoding that fits; it never fails, and replaces invalid bytes.

    Complexity: O(length); a page that no declaration fits costs a detection of some milliseconds.
    """
    encoding, mark_bytes, is_valid = _found(body, content_type)
    body = body[mark_bytes:]
    if is_valid:
        return Decoded(_without_controls(body), encoding)
    text = to_unicode(body, encoding)
    return Decoded(_without_controls(text.encode("utf-8", "replace")), encoding)


def find_encoding(body: bytes, content_type: str | None) -> tuple[str, int]:
    """Return the encoding that fits a body, and the length of its byte order mark.

    Byte order mark first, then the header, then the page's own declaration, as browsers do; but
    unlike them a declaration that the bytes contradict is not believed. Bytes that are UTF-8 are
    read so, since text in another encoding is hardly ever valid UTF-8 by accident.
    """
    return _found(body, content_type)[:2]


def _found(body: bytes, content_type: str | None) -> tuple[str, int, bool]:
    """Return what ``find_encoding`` does, and whether the body is known to be valid UTF-8."""
    encoding, mark = read_bom(body)
    if encoding is not None and mark is not None:
        return encoding, len(mark), encoding == "utf-8" and _is_valid(body)
    wide = _wide_encoding(body[:_SAMPLE_BYTES])
    if wide is not None:
        return wide, 0, False
    header = header_encoding(content_type)
    declared = header or declared_encoding(body)
    if declared is not None and declared.startswith(_SEVEN_BITS):
        return declared, 0, False
    if declared is None and b"\x1b$" in body and _fits(body, "iso2022_jp"):
        return "iso2022_jp", 0, False
    if _is_utf8(body, declared):
        return "utf-8", 0, True
    return _by_declaration(body, header, declared_encoding(body) if header else declared), 0, False


def header_encoding(content_type: str | None) -> str | None:
    """Return the encoding that a ``Content-Type`` names, if a page can be in it."""
    return _usable(http_content_type_encoding(content_type))


def declared_encoding(body: bytes) -> str | None:
    """Return the encoding that a page names in its head, if it can be in it.

    Complexity: O(length of the head), of which a mebibyte is read.
    """
    for part in _HEAD_PARTS.finditer(body, 0, _MAX_HEAD_BYTES):
        if part["end"]:
            break
        if part["declaration"] and (declared := html_body_declared_encoding(part[0])):
            return _usable(declared)
    return None


def _by_declaration(body: bytes, header: str | None, meta: str | None) -> str:
    """Return the encoding of a body that is not read as valid UTF-8."""
    declared = header or meta
    may_be_utf8 = declared.startswith("utf-8") if declared else not _is_in_pairs(body)
    if may_be_utf8 and _is_mostly_utf8(body):
        return "utf-8"
    for encoding in (header, meta):
        if encoding is not None and _fits(body, encoding):
            return encoding
    is_short = len(body) - len(body.translate(None, _HIGH)) < _ENOUGH_TO_GUESS
    if is_short and _RARE.search(body.decode(_FALLBACK, "replace")) is None:
        return _FALLBACK
    return _guess(body)


def _guess(body: bytes) -> str:
    import chardet  # noqa: PLC0415  # few bodies need it

    # It looks at the first bytes alone, which may be those of a style sheet.
    told = _LONG_ASCII.sub(lambda found: found[0][:24] + b" " + found[0][-24:], body)
    guess = chardet.detect(
        told,
        include_encodings=_GUESSED,
        no_match_encoding=_FALLBACK,
        empty_input_encoding=_FALLBACK,
    )
    return guess["encoding"] or _FALLBACK


def _is_utf8(body: bytes, declared: str | None) -> bool:
    if body.isascii():
        return True
    if not _is_valid(body):
        return False
    if declared is None or not declared.startswith(_MANY_BYTES):
        return True
    return _beyond_ascii(body.decode()) >= _NO_ACCIDENT or not _fits(body, declared)


def _is_valid(utf8: bytes) -> bool:
    try:
        utf8.decode()
    except UnicodeDecodeError:
        return False
    return True


def _is_in_pairs(body: bytes) -> bool:
    """Return whether bytes are in pairs, and not those of letters of UTF-8 such as "ñ" and "é".

    Where UTF-8 is damaged, all words but a few are valid; of pairs few words are.
    """
    words = _BEYOND_ASCII.findall(body)
    valid = sum(map(_is_valid, words))
    return valid <= 2 * (len(words) - valid) and all(map(_PAIRS.fullmatch, words))


def _is_mostly_utf8(body: bytes) -> bool:
    """Return whether invalid bytes are the exception: a cut end, a name pasted from elsewhere."""
    text = body.decode("utf-8", "replace")
    wrong = text.count(_REPLACEMENT)
    return _beyond_ascii(text) > 2 * wrong


def _beyond_ascii(text: str) -> int:
    return len(text) - len(text.encode("ascii", "ignore"))


def _fits(body: bytes, encoding: str) -> bool:
    if encoding.startswith("utf-8"):
        return False  # tried before
    try:
        body.decode(encoding)
    except (LookupError, UnicodeError):
        return False
    return True


def _usable(encoding: str | None) -> str | None:
    """Return an encoding if a page may declare it, else None.

    A page whose declaration could be read is not in UTF-16, whatever it declares.
    """
    if encoding is None or encoding in _NO_WEB_ENCODINGS or encoding.startswith(_WIDE):
        return None
    try:
        b"a".decode(encoding)
    except (LookupError, UnicodeError):
        return None  # Python counts compression and hexadecimal digits among its codecs
    return encoding


def _wide_encoding(sample: bytes) -> str | None:
    """Return UTF-16 if it has no byte order mark: every second byte of the markup is NUL."""
    half = len(sample) // 2
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    if half < 4 or max(even, odd) < 0.4 * half or min(even, odd) > 0.1 * half:
        return None
    return "utf-16-le" if odd > even else "utf-16-be"


def _without_controls(utf8: bytes) -> bytes:
    utf8 = utf8.translate(_FORM_FEED_IS_SPACE, _CONTROLS)
    if _NONCHARACTERS[0][:1] in utf8:  # one byte is sought in a tenth of the time of three
        for noncharacter in _NONCHARACTERS:
            utf8 = utf8.replace(noncharacter, b"")
    return _REFERENCES.sub(b" ", utf8)
