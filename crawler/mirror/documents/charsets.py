"""Find the encoding of a document, and declare it in the file.

The header that declared it is gone when a file is opened from disk. If the bytes do not declare the
same, a declaration is inserted: ``<meta charset>``, ``@charset``, the encoding of ``<?xml ?>``, or
a byte order mark for UTF-16. For an encoding that browsers do not know (UTF-32, UTF-7, HZ) none is
inserted. ASCII bytes need none, unless a header gives the encoding for the files beside them.
"""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING, NamedTuple

from crawler.mirror.documents.places import Edit
from crawler.mirror.documents.tags import ATTRIBUTES
from crawler.reading.decoding import declared_encoding, find_encoding, header_encoding

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_MARKS = {"utf-16-le": codecs.BOM_UTF16_LE, "utf-16-be": codecs.BOM_UTF16_BE}
# Names of Python's codecs as https://encoding.spec.whatwg.org/#names-and-labels has them.
_LABELS = {
    "utf-8": "utf-8",
    "cp932": "shift_jis",
    "shift_jis": "shift_jis",
    "euc_jp": "euc-jp",
    "iso2022_jp": "iso-2022-jp",
    "gb18030": "gb18030",
    "gbk": "gbk",
    "gb2312": "gbk",
    "big5": "big5",
    "big5hkscs": "big5",
    "cp949": "euc-kr",
    "euc_kr": "euc-kr",
    "koi8-r": "koi8-r",
    "koi8-u": "koi8-u",
    "cp866": "ibm866",
    "cp874": "windows-874",
    "mac-roman": "macintosh",
    "mac-cyrillic": "x-mac-cyrillic",
}
# Bytes below 0x80 within their characters: "\" only, or anything.
_DOUBLE_BYTE = frozenset({"cp932", "shift_jis", "gb18030", "gbk", "big5", "big5hkscs", "cp949"})
_NO_ASCII = ("utf-16", "utf-32", "iso2022", "hz")

_CSS_CHARSET = re.compile(rb"(?:\xef\xbb\xbf)?@charset \"([^\"\\\n]{1,40})\";")
_HEAD = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:\s++|<!--(?:-?>|(?:[^-]++|-(?!-!?>))*+--!?>)|<[!?](?!--)[^>]*+>)*+"
    rb"(?:<html(?=[\s/>])%b>)?+(?:\s++|<!--(?:-?>|(?:[^-]++|-(?!-!?>))*+--!?>))*+"
    rb"(?:<head(?=[\s/>])%b>)?+" % (ATTRIBUTES, ATTRIBUTES),
    re.IGNORECASE,
)
_XML_DECLARATION = re.compile(
    rb"<\?xml\s+version\s*=\s*(?:\"[^\"]*\"|'[^']*')(\s+encoding\s*=\s*(?:\"([^\"]*)\"|'([^']*)'))?"
)


class Charset(NamedTuple):
    """The encoding of a body (a codec of Python), and the edit that declares it in the file."""

    encoding: str
    declaration: Edit | None


def html_charset(body: bytes, content_type: str | None) -> Charset:
    encoding, mark_bytes = find_encoding(body, content_type)
    wanted = _wanted(body, encoding, mark_bytes, content_type)
    if wanted is None or wanted == declared_encoding(body):
        return Charset(encoding, None)
    if wanted in _MARKS:
        return Charset(encoding, Edit(0, 0, _MARKS[wanted]))
    label = _label(wanted)
    head = _HEAD.match(body)
    if label is None or head is None:
        return Charset(encoding, None)
    # Before any declaration of the page's own: browsers use the first.
    at = head.end()
    return Charset(encoding, Edit(at, at, f'<meta charset="{label}"/>'.encode()))


def css_charset(body: bytes, content_type: str | None) -> Charset:
    """Find the encoding of a style sheet; one without a declaration takes that of the page."""
    own = _CSS_CHARSET.match(body)
    header = header_encoding(content_type)
    declared = header_encoding(f"text/css; charset={own[1].decode('latin-1')}") if own else None
    name = header or declared
    encoding, mark_bytes = find_encoding(body, f"text/css; charset={name}" if name else None)
    if encoding in _MARKS and not mark_bytes:
        return Charset(encoding, Edit(0, 0, _MARKS[encoding]))
    label = _label(encoding)
    if mark_bytes or header is None or encoding == declared or body.isascii() or label is None:
        return Charset(encoding, None)
    return Charset(encoding, Edit(0, 0, f'@charset "{label}";'.encode()))


def script_charset(body: bytes, content_type: str | None) -> Charset:
    """Find the encoding of a script, which is UTF-8 by default and cannot be declared within."""
    encoding, _ = find_encoding(
        body, f"text/css; charset={header_encoding(content_type) or 'utf-8'}"
    )
    return Charset(encoding, None)


def xml_charset(body: bytes, content_type: str | None) -> Charset:
    """Find the encoding of an XML document, which is UTF-8 by default."""
    encoding, mark_bytes = find_encoding(body, content_type)
    wanted = _wanted(body, encoding, mark_bytes, None)
    if wanted in _MARKS:
        return Charset(encoding, Edit(0, 0, _MARKS[wanted]))
    label = None if wanted is None else _label(wanted)
    found = _XML_DECLARATION.match(body)
    says = declared_encoding(body) if found and found[1] else "utf-8"
    if label is None or says == wanted:
        return Charset(encoding, None)
    if found is None:
        declaration = f'<?xml version="1.0" encoding="{label}"?>'.encode()
        return Charset(encoding, Edit(0, 0, declaration))
    start, end = found.span(1) if found[1] else (found.end(), found.end())
    return Charset(encoding, Edit(start, end, f' encoding="{label}"'.encode()))


def is_ascii_apart(encoding: str, body: bytes) -> bool:
    """Return whether markup can be searched in the raw bytes, each ASCII byte a character."""
    if encoding.startswith(_NO_ASCII):
        return False
    # Of the bytes of markup and style sheets only this one is also half a character.
    return encoding not in _DOUBLE_BYTE or b"\\" not in body


def _wanted(body: bytes, encoding: str, mark_bytes: int, content_type: str | None) -> str | None:
    if mark_bytes or not body:
        return None
    if body.isascii() and not encoding.startswith(_NO_ASCII):
        return header_encoding(content_type)
    return encoding


def _label(encoding: str) -> str | None:
    name = codecs.lookup(encoding).name
    if name.startswith("cp125"):
        return f"windows-{name[2:]}"
    if name.startswith("iso8859"):
        return name.replace("iso8859", "iso-8859")
    return _LABELS.get(name)


_UTF8 = "utf-8"
_LENIENT = "surrogatepass"


class View:
    """The body itself, or its text in UTF-8 with the positions in the body.

    A body that its encoding does not reproduce exactly is searched as it is.

    Attributes:
        text: Bytes in which markup is searched.
        encoding: Encoding of that text.
    """

    def __init__(self, body: bytes, encoding: str) -> None:
        self.text, self.encoding = body, encoding
        self._body_encoding = ""
        if is_ascii_apart(encoding, body):
            return
        errors = _LENIENT if encoding.startswith("utf") else "strict"
        whole = len(body) - len(body) % 2 if encoding.startswith("utf-16") else len(body)
        try:
            text = body[:whole].decode(encoding, errors)
            if text.encode(encoding, errors) != body[:whole]:
                return
        except UnicodeError:
            return
        self.text, self.encoding = text.encode(_UTF8, _LENIENT), _UTF8
        self._body_encoding, self._errors = encoding, errors

    def in_body(self, edits: Iterable[Edit]) -> Iterator[Edit]:
        """Yield edits of the text as edits of the body.

        Complexity: O(length + edits * log(edits)).
        """
        if not self._body_encoding:
            yield from edits
            return
        at = place = 0
        for start, end, replacement in sorted(edits):
            first = place + self._body_length(at, start)
            place = first + self._body_length(start, end)
            at = end
            yield Edit(first, place, self._in_encoding(replacement))

    def _body_length(self, start: int, end: int) -> int:
        return len(self._in_encoding(self.text[start:end]))

    def _in_encoding(self, text: bytes) -> bytes:
        return text.decode(_UTF8, _LENIENT).encode(self._body_encoding, self._errors)
