"""Write a content as plain text: a line for each paragraph, item and row.

Markdown (``markdown_writer``) shares the walk over the tree, and marks up the same blocks.
"""

from __future__ import annotations

import re
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, NamedTuple

from lxml.etree import iterwalk

if TYPE_CHECKING:
    from collections.abc import Iterator

Element = Any  # lxml has no types

_NUMBER = re.compile("[0-9]{1,9}")
_INLINE = frozenset({"ref", "hi", "del", "lb", "graphic"})

# What else is no printable character: marks that join letters of Persian, of Hindi and of emoji,
# and those of direction.
_MARKS = frozenset(
    chr(code)
    for first, last in (
        (0x061C, 0x061C), (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x2064), (0x2066, 0x2069),
        (0xE0020, 0xE007F),
    )
    for code in range(first, last + 1)
)  # fmt: skip


class WrittenBlock(NamedTuple):
    """Lines of a paragraph, a list, a table and so on.

    Attributes:
        kind: Tag of its element.
        lines: Its lines.
        mark: What the first item of a list begins with.
        last_mark: What its last item begins with.
    """

    kind: str
    lines: list[str]
    mark: str = ""
    last_mark: str = ""


class ListItem(NamedTuple):
    """An item of a list with the blocks in it.

    Attributes:
        number: Its number in an ordered list, else None.
        blocks: Its blocks.
    """

    number: int | None
    blocks: list[WrittenBlock]


def is_block(element: Element) -> bool:
    """Return whether an element stands for itself, and is no part of a line."""
    tag = element.tag
    if tag != "code":
        return tag not in _INLINE
    if element.get("rend") == "block" or "\n" in (element.text or ""):
        return True
    parent = element.getparent()
    if parent is None or parent.tag == "body":
        return True
    if not len(element):
        return False
    return element.find(".//lb") is not None or "\n" in "".join(element.itertext())


def code_text(element: Element) -> str:
    """Return code with its lines."""
    if not len(element):
        return element.text or ""
    parts = list[str]()
    for event, one in iterwalk(element, events=("start", "end")):
        if event == "start":
            parts.append("\n" if one.tag == "lb" else one.text or "")
        elif one is not element:
            parts.append(one.tail or "")
    return "".join(parts)


class TextWriter:
    """Writes plain text."""

    def write(self, body: Element) -> str:
        """Return a content as text.

        Complexity: O(characters times nesting of lists).
        """
        return "\n".join(self.joined(self.blocks(body))).strip("\n")

    def blocks(self, place: Element) -> list[WrittenBlock]:
        """Return the blocks of an element; text between its children becomes paragraphs."""
        found = list[WrittenBlock]()
        children = list(place)
        run = list[str]()
        if text := place.text:
            run.append(self.text(text, children[0] if children else None))
        for child, following in zip_longest(children, children[1:]):
            if is_block(child):
                self._end_run(run, found)
                found += self._block(child, found[-1] if found else None)
            else:
                run.append(self.inline_element(child, frozenset()))
            if tail := child.tail:
                run.append(self.text(tail, following))
        self._end_run(run, found)
        return found

    def _end_run(self, run: list[str], found: list[WrittenBlock]) -> None:
        if run:
            if lines := self.paragraph("".join(run)):
                found.append(WrittenBlock("p", lines))
            run.clear()

    def _block(self, element: Element, before: WrittenBlock | None) -> list[WrittenBlock]:
        tag = element.tag
        if tag == "head":
            lines = self.heading(element)
        elif tag == "code":
            lines = self.code(code_text(element).strip("\n"), element.get("lang") or "")
        elif tag == "table":
            lines = self.table(element)
        elif tag == "quote":
            lines = self.quotation(self.joined(self.blocks(element)))
        elif tag == "list":
            return self._list(element, before)
        else:
            return self.blocks(element)
        return [WrittenBlock(tag, lines)] if lines else []

    def _list(self, element: Element, before: WrittenBlock | None) -> list[WrittenBlock]:
        items, number = list[ListItem](), 0
        is_ordered = element.get("rend") == "ol"
        if element.text and (loose := self.paragraph(self.text(element.text))):
            items.append(ListItem(None, [WrittenBlock("p", loose)]))
        for child in element:
            blocks = self.blocks(child) if child.tag == "item" else self._block(child, None)
            if child.tail and (tail := self.paragraph(self.text(child.tail))):
                blocks.append(WrittenBlock("p", tail))
            number = _number(child.get("n"), number + 1) if is_ordered else 0
            is_new = child.tag == "item" and not (child.get("rend") or "").startswith("dd")
            if blocks and (is_new or not items):
                items.append(ListItem(number if is_ordered else None, blocks))
            elif blocks:
                items[-1].blocks.extend(blocks)
        return [self.list_block(items, before)] if items else []

    def joined(self, blocks: list[WrittenBlock], *, in_item: bool = False) -> list[str]:
        """Return the lines of blocks that follow each other."""
        return [line for block in blocks for line in block.lines]

    def list_block(self, items: list[ListItem], before: WrittenBlock | None) -> WrittenBlock:
        """Return a list; ``before`` is the block in front of it."""
        lines = list[str]()
        for item in items:
            lines += indented("- ", self.joined(item.blocks))
        return WrittenBlock("list", lines)

    def paragraph(self, text: str) -> list[str]:
        """Return the lines of a run of text, in which white space counts as one space."""
        if "\n" in text:
            return [line for part in text.split("\n") if (line := " ".join(part.split()))]
        line = " ".join(text.split())
        return [line] if line else []

    def heading(self, element: Element) -> list[str]:
        return self.paragraph(self.inline(element))

    def code(self, text: str, language: str = "") -> list[str]:
        return [line.rstrip() for line in text.split("\n")] if text.strip() else []

    def quotation(self, lines: list[str]) -> list[str]:
        return lines

    def table(self, element: Element) -> list[str]:
        """Return a line for each row, its cells with tabs between."""
        rows = (cells for _, cells in self.rows(element))
        return ["\t".join(cells).rstrip("\t") for cells in rows]

    def rows(self, table: Element) -> Iterator[tuple[Element, list[str]]]:
        """Yield each row that says something, with the texts of its cells."""
        if text := self.cell(self.text(table.text)):
            yield table, [text]
        for row in table:
            if row.tag == "row":
                cells = [self.cell(self.text(row.text))] if (row.text or "").strip() else []
                cells += (self.cell(self.cell_of(cell) + self.text(cell.tail)) for cell in row)
            else:
                cells = [self.cell(self.inline(row))]
            if any(cells):
                yield row, cells
            if tail := self.cell(self.text(row.tail)):
                yield table, [tail]

    def cell_of(self, element: Element) -> str:
        """Return what a cell of a table holds as part of a row."""
        return self.inline(element)

    def cell(self, text: str) -> str:
        return " ".join(text.split())

    def inline(self, place: Element, within: frozenset[str] = frozenset()) -> str:
        """Return the text of an element, with that of blocks in it, as a run of text.

        Args:
            place: The element.
            within: Marks that are open around it.
        """
        children = list(place)
        parts = [self.text(place.text, children[0] if children else None)]
        for child, following in zip_longest(children, children[1:]):
            if not is_block(child):
                parts.append(self.inline_element(child, within))
            elif child.tag == "code":
                parts.append(f" {self.inline_element(child, within)} ")
            else:
                parts.append(f" {self.inline(child, within)} ")
            if tail := child.tail:
                parts.append(self.text(tail, following))
        return "".join(parts)

    def inline_element(self, element: Element, within: frozenset[str]) -> str:
        """Return a link, emphasis, code or the end of a line as part of a run of text."""
        if element.tag == "lb":
            return "\n"
        if element.tag == "code":
            return printable(" ".join(code_text(element).split()))
        return self.inline(element, within)

    def text(self, text: str | None, following: Element | None = None) -> str:
        """Return a text of the tree without what cannot be seen; its lines are one.

        Args:
            text: The text.
            following: The element behind it.
        """
        return printable(text.replace("\n", " ")) if text else ""


def indented(mark: str, lines: list[str]) -> list[str]:
    """Return lines of which the first begins with a mark, and the others under its text."""
    if len(lines) == 1:
        return [f"{mark}{lines[0]}"]
    space = " " * len(mark)
    rest = (f"{space}{line}" if line else "" for line in lines[1:])
    return [f"{mark}{lines[0]}", *rest] if lines else []


def printable(text: str) -> str:
    """Return a text without characters that cannot be printed, but for white space and marks."""
    if text.isprintable():
        return text
    left_out = {one for one in set(text) - _MARKS if not one.isprintable() and not one.isspace()}
    return "".join(one for one in text if one not in left_out) if left_out else text


def _number(written: str | None, following: int) -> int:
    return int(written) if written and _NUMBER.fullmatch(written) else following
