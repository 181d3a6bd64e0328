"""Read the paragraphs of an XML document in their order, whatever its format calls them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lxml.etree import iterwalk

from crawler.reading.documents.document_text import ITEM, PARAGRAPH, ROW, Lines

if TYPE_CHECKING:
    from collections.abc import Callable

Element = Any  # lxml has no types


@dataclass(frozen=True, slots=True)
class Roles:
    """The tags of a format, by the role of their elements.

    Attributes:
        paragraphs: Paragraphs and headings; one may hold others, such as those of a text box.
        rows: Rows of tables.
        cells: Cells of rows.
        items: Items of lists, whose paragraphs are items.
        skipped: What is not shown.
        spaces: Elements that stand for white space or a character.
        texts: Elements whose text counts; None where all text within a paragraph does.
        kind_of: Returns the kind of a paragraph's block.
    """

    paragraphs: frozenset[str]
    rows: frozenset[str] = frozenset()
    cells: frozenset[str] = frozenset()
    items: frozenset[str] = frozenset()
    skipped: frozenset[str] = frozenset()
    spaces: dict[str, str] = field(default_factory=dict)
    texts: frozenset[str] | None = None
    kind_of: Callable[[Element], str] = lambda _: PARAGRAPH


class Flow:
    """Walks a tree once, without recursion, and adds its blocks to ``lines``."""

    def __init__(self, roles: Roles, lines: Lines) -> None:
        self._roles = roles
        self._lines = lines
        self._open: list[list[str]] = []  # the texts of the paragraphs that are open
        self._cells: list[list[list[str]]] = []  # of the rows that are open: their cells
        self._items = 0

    def read(self, root: Element) -> None:
        """Add the blocks below an element.

        Raises:
            UnreadableError: The document says too much.
        """
        walk = iterwalk(root, events=("start", "end"))
        for event, element in walk:
            if event == "start":
                if element.tag in self._roles.skipped:
                    walk.skip_subtree()
                else:
                    self._start(element)
            else:
                if element.tag not in self._roles.skipped:
                    self._end(element)
                if element is not root and self._roles.texts is None:
                    self._say(element.tail)

    def _start(self, element: Element) -> None:
        roles, tag = self._roles, element.tag
        if tag in roles.paragraphs:
            self._open.append([])
        elif tag in roles.rows:
            self._cells.append([])
        elif tag in roles.cells and self._cells:
            self._cells[-1].append([])
        elif tag in roles.items:
            self._items += 1
        self._say(roles.spaces.get(tag))
        if roles.texts is None or tag in roles.texts:
            self._say(element.text)

    def _end(self, element: Element) -> None:
        roles, tag = self._roles, element.tag
        if tag in roles.paragraphs and self._open:
            kind = ITEM if self._items else PARAGRAPH
            kind = roles.kind_of(element) if kind == PARAGRAPH else kind
            self._put(kind, "".join(self._open.pop()))
        elif tag in roles.rows and self._cells:
            cells = self._cells.pop()
            said = [" ".join(" ".join(cell).split()) for cell in cells]
            self._put(ROW, "\t".join(said).rstrip("\t"))
        elif tag in roles.items:
            self._items -= 1

    def _put(self, kind: str, text: str) -> None:
        if self._cells and self._cells[-1]:
            self._cells[-1][-1].append(text)
        else:
            self._lines.add(kind, text)

    def _say(self, text: str | None) -> None:
        if text and self._open:
            self._open[-1].append(text)
