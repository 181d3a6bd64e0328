"""Read a document of any kind: define what is read of it, and why nothing may be.

Formats of XML share one walk through their paragraphs, whatever they call them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from lxml import etree
from lxml.etree import iterwalk

from crawler.reading.content.content_xml import NOT_IN_XML
from crawler.reading.metadata.dates import iso_date
from crawler.reading.metadata.metadata_record import NO_METADATA, Metadata
from crawler.reading.reading import NoText

if TYPE_CHECKING:
    from collections.abc import Iterable

Element = Any  # lxml has no types

HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
PARAGRAPH = "p"
ITEM = "item"
ROW = "row"
CODE = "code"

MAX_TEXT_CHARACTERS = 30_000_000
"""Read at most this many characters of one document; a longer one is left as a file."""

MAX_COLUMNS = 16_384
"""Read at most this many columns of a table, as many as the usual programs have."""

_HOLDERS = {ROW: "table", ITEM: "list"}

_MAX_REPEATED_CHARACTERS = MAX_TEXT_CHARACTERS // 2
"""Repeat rows of one document by at most this many characters more."""

_MIN_REPEATED_CHARACTERS = 30
"""A row that is repeated takes this many characters at least, each time."""

_REPEATED_SHARE = 20
"""Repeat a row by at most one part in this many of what is left of those characters.

The first short one is read 25,000 times: what is filled down to the end of a sheet, a million
times, says no more with each.
"""

_HIDDEN = "hidden"


class UnreadableError(Exception):
    """No text can be read of a document.

    Args:
        why: The code of the reason.
        words: The detail that people read.
    """

    def __init__(self, why: NoText, words: str) -> None:
        super().__init__(words)
        self.why = why
        self.words = words


def too_long() -> UnreadableError:
    """Return the error of a document that says more than is read."""
    return UnreadableError(NoText.TOO_LARGE, f"more than {MAX_TEXT_CHARACTERS:,} characters")


class DocumentBlock(NamedTuple):
    """A paragraph or a line of code; the cells of a row are separated by tabs.

    Attributes:
        kind: One of ``HEADINGS``, ``PARAGRAPH``, ``ITEM``, ``ROW`` or ``CODE``.
        text: Its text, without white space at its end. A row may begin with empty cells, and
            a line of code with spaces.
    """

    kind: str
    text: str


@dataclass(slots=True)
class DocumentText:
    """The text of a document, with its metadata and links.

    Attributes:
        blocks: Its paragraphs in reading order.
        metadata: Its metadata.
        links: Targets of its links as written, in their order.
        kind: The ``DocumentKind`` that it is.
        targets: Where a block leads as a whole, by its index.
    """

    blocks: list[DocumentBlock]
    metadata: Metadata = NO_METADATA
    links: list[str] = field(default_factory=list)
    kind: str = ""
    targets: dict[int, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The text, one line a paragraph."""
        return "\n".join(block.text for block in self.blocks)

    def body(self) -> Element:
        """Return the blocks as a tree in the words of trafilatura: ``p``, ``head``, ``list``."""
        body = etree.Element("body")
        parent = body
        code: list[str] = []
        codes: list[tuple[Element, list[str]]] = []
        for at, (kind, text) in enumerate(self.blocks):
            holder = _HOLDERS.get(kind, "")
            if not holder:
                parent = body
            elif parent.tag != holder:
                parent = etree.SubElement(body, holder)
            if kind == ROW:
                row = etree.SubElement(parent, "row")
                for cell in text.split("\t"):
                    etree.SubElement(row, "cell").text = cell
            elif kind == CODE and len(body) and body[-1].tag == CODE:
                code.append(text)
            elif kind == CODE:
                code = [text]
                codes.append((etree.SubElement(body, CODE), code))
            else:
                is_heading = kind in HEADINGS
                made = etree.SubElement(parent, "head" if is_heading else kind)
                if is_heading:
                    made.set("rend", kind)
                if target := NOT_IN_XML.sub("", self.targets.get(at, "")):
                    made = etree.SubElement(made, "ref", target=target)
                made.text = text
        for element, lines in codes:
            element.text = "\n".join(lines)
        return body

    def headed(self) -> Metadata:
        """Return the metadata with the document's first heading, which stands for a title."""
        found = self.metadata
        heading = next((block for block in self.blocks if block.kind in HEADINGS), None)
        text = None if heading is None else clean(heading.text)
        if heading is None or text is None:
            return found
        sources = (*found.sources, ("h1", heading.kind))
        if found.title:
            return found._replace(heading=text, sources=sources)
        return found._replace(heading=text, title=text, sources=(*sources, ("title", heading.kind)))


class Lines:
    """Collects the blocks of a document within ``MAX_TEXT_CHARACTERS``."""

    def __init__(self) -> None:
        self.blocks: list[DocumentBlock] = []
        self.room = MAX_TEXT_CHARACTERS
        self._repeated_room = _MAX_REPEATED_CHARACTERS

    def take(self, characters: int) -> None:
        """Take characters of the room, and raise ``UnreadableError`` where they do not fit."""
        self.room -= characters
        if self.room < 0:
            raise too_long()

    def add(self, kind: str, text: str, times: int = 1) -> None:
        """Add a block, its white space folded, unless it is empty.

        Args:
            kind: The kind of the block.
            text: Its text.
            times: The times that it stands in the document, one after the other. More than fit
                in the share of repeated rows are left out.

        Raises:
            UnreadableError: The document says too much.
        """
        if kind == ROW:
            text = "\t".join(" ".join(cell.split()) for cell in text.split("\t")).rstrip("\t")
        else:
            text = text.rstrip() if kind == CODE else " ".join(text.split())
        text = NOT_IN_XML.sub("", text)
        if not text.strip():
            return
        self.take(len(text))
        repeated = max(len(text), _MIN_REPEATED_CHARACTERS)
        more = min(times - 1, self._repeated_room // _REPEATED_SHARE // repeated)
        self._repeated_room -= more * repeated
        self.blocks += [DocumentBlock(kind, text)] * (1 + more)


class Extent(NamedTuple):
    """The reach of a cell or a row.

    Attributes:
        times: The times that it stands, one after the other.
        empty: The empty columns before the cells of a row, or behind a cell.
    """

    times: int = 1
    empty: int = 0


@dataclass(frozen=True, slots=True)
class Roles:
    """The tags of a format, by the role of their elements.

    Attributes:
        paragraphs: Paragraphs and headings; one may hold others, such as those of a text box.
        rows: Rows of tables.
        cells: Cells of rows.
        items: Items of lists, whose paragraphs are items.
        notes: What is read behind the paragraph in which it stands.
        skipped: What is not shown.
        spaces: Elements that stand for white space or a character, or begin with one.
        ends: Elements that end with a character.
        texts: Elements whose text counts; None where all text within a paragraph does.
        kind_of: Returns the kind of a paragraph's block.
        extent: Returns how far a cell or a row reaches.
    """

    paragraphs: frozenset[str]
    rows: frozenset[str] = frozenset()
    cells: frozenset[str] = frozenset()
    items: frozenset[str] = frozenset()
    notes: frozenset[str] = frozenset()
    skipped: frozenset[str] = frozenset()
    spaces: dict[str, str] = field(default_factory=dict)
    ends: dict[str, str] = field(default_factory=dict)
    texts: frozenset[str] | None = None
    kind_of: Callable[[Element], str] = lambda _: PARAGRAPH
    extent: Callable[[Element], Extent] = lambda _: Extent()


def hide(elements: Iterable[Element]) -> None:
    """Mark elements as not shown, so that a ``Flow`` leaves them out."""
    for element in list(elements):
        element.tag = _HIDDEN


class Flow:
    """Walks a tree once, without recursion, and adds its blocks to ``lines``."""

    def __init__(self, roles: Roles, lines: Lines) -> None:
        self._roles = roles
        self._skipped = roles.skipped | {_HIDDEN}
        self._lines = lines
        self._open: list[list[str]] = []  # the texts of the paragraphs that are open
        self._rows: list[_Row] = []
        self._items = 0
        self._around: list[list[_Row]] = []  # the rows in which each open note stands
        self._noted: list[tuple[str, str]] = []

    def read(self, root: Element) -> None:
        """Add the blocks below an element.

        Raises:
            UnreadableError: The document says too much.
        """
        walk = iterwalk(root, events=("start", "end"))
        for event, element in walk:
            if event == "start":
                if element.tag in self._skipped:
                    walk.skip_subtree()
                else:
                    self._start(element)
            else:
                if element.tag not in self._skipped:
                    self._end(element)
                if element is not root and self._roles.texts is None:
                    self._say(element.tail)

    def _start(self, element: Element) -> None:
        roles, tag = self._roles, element.tag
        if tag in roles.paragraphs:
            self._open.append([])
        elif tag in roles.rows:
            self._rows.append(_Row(roles.extent(element)))
        elif tag in roles.cells and self._rows:
            self._rows[-1].begin(roles.extent(element))
        elif tag in roles.items:
            self._items += 1
        elif tag in roles.notes:
            self._around.append(self._rows)
            self._rows = []
        self._say(roles.spaces.get(tag))
        if roles.texts is None or tag in roles.texts:
            self._say(element.text)

    def _end(self, element: Element) -> None:
        roles, tag = self._roles, element.tag
        self._say(roles.ends.get(tag))
        if tag in roles.paragraphs and self._open:
            kind = ITEM if self._items else PARAGRAPH
            kind = roles.kind_of(element) if kind == PARAGRAPH else kind
            self._put(kind, "".join(self._open.pop()))
            if self._noted and not self._around:
                noted, self._noted = self._noted, []
                for note in noted:
                    self._put(*note)
        elif tag in roles.rows and self._rows:
            row = self._rows.pop()
            self._put(ROW, row.text(self._lines.room), row.times)
        elif tag in roles.items:
            self._items -= 1
        elif tag in roles.notes:
            self._rows = self._around.pop()

    def _put(self, kind: str, text: str, times: int = 1) -> None:
        """Add a block; within a cell or a note it is part of that, and stands once."""
        is_in_cell = bool(self._rows and self._rows[-1].cells)
        is_in_note = bool(self._around and self._open)
        if kind == ROW and (is_in_cell or is_in_note):
            # It may say more than the file does, and is kept until what is around it ends.
            self._lines.take(len(text))
        if is_in_cell:
            self._rows[-1].cells[-1][0].append(text)
        elif is_in_note:
            self._noted.append((kind, text))
        else:
            self._lines.add(kind, text, times)

    def _say(self, text: str | None) -> None:
        if text and self._open:
            self._open[-1].append(text)


class _Row:
    """A row that is open, its cells each with the times that it stands."""

    def __init__(self, extent: Extent) -> None:
        self.times = extent.times
        self.cells: list[tuple[list[str], int]] = []
        self._empty = extent.empty

    def begin(self, cell: Extent) -> None:
        """Begin a cell, behind the columns that are empty before it."""
        if self._empty:
            self.cells.append(([], self._empty))
        self.cells.append(([], cell.times))
        self._empty = cell.empty

    def text(self, room: int) -> str:
        """Return the texts of the cells, without empty ones at the end.

        Raises:
            UnreadableError: They do not fit in the room.
        """
        said = [" ".join(" ".join(parts).split()) for parts, _ in self.cells]
        while said and not said[-1]:
            said.pop()
        columns = list[str]()
        for text, (_, times) in zip(said, self.cells, strict=False):
            columns += [text] * max(1, min(times, MAX_COLUMNS - len(columns)))
        if sum(map(len, columns)) + len(columns) - 1 > room:
            raise too_long()
        return "\t".join(columns)


Places = Sequence[tuple[str, str | None]]
"""Codes of places, and what is written there."""

_MAX_CHARACTERS = 1000
_MAX_WORDS = 50
_MAX_WORD_CHARACTERS = 100
_SEPARATOR = re.compile(r"\s*[,;]\s*")


def clean(value: str | None) -> str | None:
    """Return a value of metadata in one line, None for an empty one."""
    return " ".join((value or "").split())[:_MAX_CHARACTERS] or None


@dataclass(frozen=True, slots=True)
class DocumentProperties:
    """Metadata of a document; of each field the first place that says something counts."""

    title: Places = ()
    author: Places = ()
    date: Places = ()
    modified: Places = ()
    language: Places = ()
    description: Places = ()
    tags: Places = ()

    def metadata(self) -> Metadata:
        """Return the values with their places.

        The day of the last change stands for that of publication where only it is known.
        """
        sources: dict[str, str] = {}
        changed = _first("modified", self.modified, sources, iso_date)
        day = _first("date", self.date, sources, iso_date)
        if day is None and changed is not None:
            day, sources["date"] = changed, sources["modified"]
        words = _first("tags", self.tags, sources) or ""
        return Metadata(
            title=_first("title", self.title, sources),
            author=_first("author", self.author, sources),
            date=day,
            modified=changed,
            language=_first("language", self.language, sources),
            description=_first("description", self.description, sources),
            tags=tuple(dict.fromkeys(_words(words))),
            sources=tuple(sources.items()),
        )


def _first(
    name: str,
    places: Places,
    sources: dict[str, str],
    read: Callable[[str | None], str | None] = clean,
) -> str | None:
    for code, value in places:
        if found := read(value):
            sources[name] = code
            return found
    return None


def _words(text: str) -> list[str]:
    words = _SEPARATOR.split(text)[:_MAX_WORDS]
    return [word[:_MAX_WORD_CHARACTERS] for word in words if word]
