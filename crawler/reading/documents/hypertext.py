"""Read the paragraphs of hypertext that stands within a document, such as a chapter or an entry."""

from __future__ import annotations

import re
from html.entities import name2codepoint
from typing import TYPE_CHECKING, Any

from lxml.etree import iterwalk

from crawler.reading.content.blocks import RUBY
from crawler.reading.decoding import decode
from crawler.reading.documents.document_text import (
    CODE,
    HEADINGS,
    ITEM,
    PARAGRAPH,
    ROW,
    Lines,
    UnreadableError,
)
from crawler.reading.documents.package import parse_xml
from crawler.reading.html_parsing import parse
from crawler.reading.text import BLOCKS

if TYPE_CHECKING:
    from collections.abc import Iterator

Element = Any  # lxml has no types

_XHTML = "{http://www.w3.org/1999/xhtml}"
_BLOCKS = frozenset(BLOCKS) | {"body", "html"}
_HIDDEN = frozenset({"head", "script", "style", "noscript", "template"})
_CELLS = frozenset({"td", "th"})
# What stands at both ends of a block that is within a row or within code.
_INNER = {ROW: " ", CODE: "\n"}
_ENTITY = re.compile(rb"&([A-Za-z][A-Za-z0-9]*);")
_OF_XML = frozenset({b"amp", b"lt", b"gt", b"quot", b"apos"})


def parse_xhtml(content: bytes) -> Element:
    """Return the root of a chapter: XHTML, or else HTML.

    A parser of HTML takes ``<title/>`` for a title that lasts to the end.
    """
    try:
        return parse_xml(_ENTITY.sub(_number, content))
    except UnreadableError:
        return parse(decode(content, "application/xhtml+xml").utf8)


def parse_fragment(text: str) -> Element:
    """Return the root of a fragment of HTML, as feeds have it."""
    return parse(decode(text.encode("utf-8", "replace"), "text/html; charset=utf-8").utf8)


def add_hypertext(root: Element, lines: Lines) -> None:
    """Add the paragraphs below an element, without recursion.

    Raises:
        UnreadableError: The document says too much.
    """
    said: list[str] = []
    kinds = [PARAGRAPH]
    walk = iterwalk(root, events=("start", "end"))
    for event, element in walk:
        name = _name(element)
        is_block = name in _BLOCKS
        if event == "start":
            if name in _HIDDEN:
                walk.skip_subtree()
                continue
            if is_block:
                if kinds[-1] not in _INNER:
                    _flush(said, kinds[-1], lines)
                else:
                    said.append("\t" if name in _CELLS else _INNER[kinds[-1]])
                kinds.append(_kind(name, kinds[-1]))
            said.append(RUBY[0] if name == "rt" and _lacks_brackets(element) else "")
            said.append(element.text or "")
            continue
        if name == "rt" and _lacks_brackets(element):
            said.append(RUBY[1])
        if is_block and name not in _HIDDEN:
            kind = kinds.pop()
            if kinds[-1] not in _INNER:
                _flush(said, kind, lines)
            elif name not in _CELLS:
                said.append(_INNER[kinds[-1]])
        if element is not root:
            said.append(element.tail or "")
    _flush(said, PARAGRAPH, lines)


def hyperlinks(root: Element) -> Iterator[str]:
    """Yield the targets of the links below an element, as written."""
    for element in root.iter("a", f"{_XHTML}a"):
        if target := element.get("href"):
            yield target


def _name(element: Element) -> str:
    return str(element.tag).rpartition("}")[2].lower()


def _lacks_brackets(reading: Element) -> bool:
    """Return whether a page does not bracket the reading of a ruby for browsers without ruby."""
    before = reading.getprevious()
    is_empty = not reading.text and not len(reading)
    return not is_empty and (before is None or _name(before) != "rp")


def _kind(name: str, outer: str) -> str:
    if outer in _INNER:
        return outer
    if name in HEADINGS:
        return name
    if name in {"li", "dd"}:
        return ITEM
    return {"tr": ROW, "pre": CODE}.get(name, outer if outer == ITEM else PARAGRAPH)


def _flush(said: list[str], kind: str, lines: Lines) -> None:
    text = "".join(said)
    said.clear()
    if kind == CODE:
        for line in text.split("\n"):
            lines.add(kind, line)
    else:
        outside, tab, cells = text.partition("\t")
        is_table = kind == ROW and tab and not outside.strip()
        lines.add(kind, cells if is_table else text)


def _number(match: re.Match[bytes]) -> bytes:
    name = match[1]
    code = None if name in _OF_XML else name2codepoint.get(name.decode())
    return match[0] if code is None else b"&#%d;" % code
