"""Find the URLs of a page, in the order of its bytes."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from crawler.mirror.documents.elements import Elements, end_of_unquoted
from crawler.mirror.documents.places import LinkKind, LinkPlace, Places, write_double
from crawler.mirror.documents.scripts import SCRIPT_TYPES, read_import_map, read_names
from crawler.mirror.documents.tags import (
    BREAKOUT,
    FOREIGN,
    FOREIGN_STOP,
    HTML_STOP,
    INTEGRATION,
    RAW,
    raw_text_end,
)

if TYPE_CHECKING:
    import re

    from crawler.mirror.documents.attributes import Attribute

_LINK, _TAG = 1, 3  # groups of a stop: the last that took part tells which it is


def read_html(elements: Elements) -> None:
    """Collect the URLs of an HTML document.

    Complexity: O(length).
    """
    _HtmlScan(elements).run(0, len(elements.places.text))


_MAX_DEPTH = 3
"""Read at most this many documents within each other."""


class _HtmlScan:
    def __init__(self, elements: Elements, depth: int = 1) -> None:
        self._elements = elements
        self._depth = depth
        self._end = 0
        self._text = elements.places.text
        self._inside: list[bytes] = []  # foreign elements, and those within that hold HTML again
        self._open: Counter[bytes] = Counter()  # the same, counted

    def run(self, at: int, last: int) -> None:
        text, places = self._text, self._elements.places
        add, encoding, page = places.add, places.encoding, LinkKind.PAGE
        self._end = last
        match = HTML_STOP.match
        while (stop := match(text, at, last)) is not None:
            at = stop.end()
            if stop.lastindex == _LINK:
                start, end = stop.span(1)
                written = str(stop[1], encoding, "replace")
                add(LinkPlace(start, end, written, page, False, write_double))
                continue
            at = self._tag(stop) if stop.lastindex == _TAG else self._end_tag(stop)
            match = FOREIGN_STOP.match if self._inside else HTML_STOP.match

    @property
    def _is_foreign(self) -> bool:
        return bool(self._inside) and self._inside[-1] in FOREIGN

    def _tag(self, stop: re.Match[bytes]) -> int:
        name, at = stop[2].lower(), stop.end()
        start, end = stop.span(3)
        if self._is_foreign and name in BREAKOUT:
            self._break_out()
        if self._is_foreign:
            attributes = self._elements.foreign(name, start, end)
            if name == b"style" and self._text[end - 1 : end] != b"/":
                self._elements.inline_sheet(at)
            if name in FOREIGN or name in INTEGRATION[self._inside[-1]]:
                self._enter(name, attributes, end)
            return at
        attributes = self._elements.html(name, start, end)
        if name in FOREIGN:
            self._enter(name, attributes, end)
        elif name in RAW:
            at, begun = raw_text_end(self._text, name, at, self._end), at
            self._raw(name, begun, at)
        return at

    def _raw(self, name: bytes, start: int, end: int) -> None:
        """Read the text of an element that is no markup of the document."""
        elements = self._elements
        if name == b"style":
            elements.places.sheet(start, end)
        elif name == b"script" and start < end:
            self._script(start, end)
        elif name == b"noframes" and self._depth < _MAX_DEPTH:
            # Its base and its robots are not those of the page.
            _HtmlScan(Elements(elements.places), self._depth + 1).run(start, end)
        elif name == b"iframe" and elements.srcdoc is not None and self._depth < _MAX_DEPTH:
            self._srcdoc(elements.srcdoc)

    def _script(self, start: int, end: int) -> None:
        kind, code = self._elements.script_type, self._text[start:end]
        if kind == "importmap":
            self._elements.places.script(start, read_import_map(code))
        elif not kind or kind == "module" or kind in SCRIPT_TYPES:
            self._elements.places.script(start, read_names(code, is_inline=True))
        elif kind == "application/json":  # what a script is told, such as the names of its workers
            named = (found for found in read_names(code, is_inline=True) if found.is_guess)
            self._elements.places.script(start, named)

    def _srcdoc(self, attribute: Attribute) -> None:
        """Read the document that an attribute holds, whose URLs are relative to the page.

        One with a base of its own is left as it is.
        """
        places = self._elements.places
        value = places.read(attribute)
        inner = Elements(Places(value.text, places.encoding))
        _HtmlScan(inner, self._depth + 1).run(0, len(value.text))
        if inner.base is None:
            self._elements.fixes += places.srcdoc(attribute, value, inner.places.found, inner.fixes)
            self._elements.has_modules |= inner.has_modules

    def _enter(self, name: bytes, attributes: dict[bytes, Attribute], end: int) -> None:
        if end <= end_of_unquoted(attributes) or self._text[end - 1 : end] != b"/":
            self._inside.append(name)
            self._open[name] += 1

    def _end_tag(self, stop: re.Match[bytes]) -> int:
        name = stop[4].lower()
        if self._open[name]:
            while self._leave() != name:
                pass
        elif self._is_foreign and name in BREAKOUT:
            self._break_out()
        return stop.end()

    def _break_out(self) -> None:
        while self._is_foreign:
            self._leave()

    def _leave(self) -> bytes:
        name = self._inside.pop()
        self._open[name] -= 1
        return name
