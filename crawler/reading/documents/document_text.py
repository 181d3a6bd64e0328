"""Read a document of any kind: define what is read of it, and why nothing may be.

Formats of XML share one walk through their paragraphs, whatever they call them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from lxml import etree
from lxml.etree import iterwalk

from crawler.reading.content.content_xml import NOT_IN_XML
from crawler.reading.documents.document_metadata import clean
from crawler.reading.documents.kinds import DocumentKind
from crawler.reading.metadata.metadata_record import NO_METADATA, Metadata
from crawler.reading.reading import NoText

if TYPE_CHECKING:
    from collections.abc import Callable

Element = Any  # lxml has no types

HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
PARAGRAPH = "p"
ITEM = "item"
ROW = "row"
CODE = "code"

MAX_TEXT_CHARACTERS = 30_000_000
"""Read at most this many characters of one document; a longer one is left as a file."""

_HOLDERS = {ROW: "table", ITEM: "list"}


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
        self._room = MAX_TEXT_CHARACTERS

    def add(self, kind: str, text: str) -> None:
        """Add a block, its white space folded, unless it is empty.

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
        self._room -= len(text)
        if self._room < 0:
            limit = f"more than {MAX_TEXT_CHARACTERS:,} characters"
            raise UnreadableError(NoText.TOO_LARGE, limit)
        self.blocks.append(DocumentBlock(kind, text))


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


_SHARE_OF_TIME = 0.7
"""Leave the rest of a page's time for what follows on the text."""


def read_document(
    kind: str, body: bytes, content_type: str | None, timeout_secs: float
) -> DocumentText:
    """Read a document; what each kind needs is imported with its first document.

    Args:
        kind: A ``DocumentKind``.
        body: The document.
        content_type: Header of that name.
        timeout_secs: Time that the worker may use.

    Raises:
        UnreadableError: No text can be read of it, or it has none.
        MemoryError: It does not fit.
    """
    found = _read(DocumentKind(kind), body, content_type, timeout_secs * _SHARE_OF_TIME)
    if not found.blocks:
        raise UnreadableError(NoText.EMPTY, "nothing in it")
    found.metadata, found.kind = found.headed(), kind
    return found


def _read(  # one a kind
    kind: DocumentKind, body: bytes, content_type: str | None, max_secs: float
) -> DocumentText:
    if kind == DocumentKind.PDF:
        from crawler.reading.documents.pdf import read_pdf  # noqa: PLC0415

        return read_pdf(body, max_secs)
    if kind in {DocumentKind.WORD, DocumentKind.SLIDES}:
        from crawler.reading.documents.office import read_slides, read_word  # noqa: PLC0415

        return read_word(body) if kind == DocumentKind.WORD else read_slides(body)
    if kind == DocumentKind.OPEN_DOCUMENT:
        from crawler.reading.documents.office import read_open_document  # noqa: PLC0415

        return read_open_document(body)
    if kind == DocumentKind.EPUB:
        from crawler.reading.documents.hypertext import read_epub  # noqa: PLC0415

        return read_epub(body)
    if kind == DocumentKind.FEED:
        from crawler.reading.documents.feeds import read_feed  # noqa: PLC0415

        return read_feed(body, content_type)
    from crawler.reading.documents.plain import read_markdown, read_plain  # noqa: PLC0415

    read = read_markdown if kind == DocumentKind.MARKDOWN else read_plain
    return read(body, content_type)
