"""A document as bytes in which ASCII is ASCII, whatever it is encoded in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.mirror.documents.charsets import is_ascii_apart
from crawler.mirror.documents.edits import Edit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_UTF8 = "utf-8"
_LENIENT = "surrogatepass"


class View:
    """The body itself, or its text in UTF-8, with the way back to the places in the body.

    A body that its encoding does not give back exactly is looked at as it is.

    Attributes:
        text: What to look for markup in.
        encoding: Of that text.
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
