"""Define what is read of a document, and why nothing may be read of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from lxml import etree

from crawler.reading.content.content_xml import NOT_IN_XML
from crawler.reading.documents.document_metadata import with_heading
from crawler.reading.metadata.metadata_record import NO_METADATA, Metadata
from crawler.reading.reading import NoText

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
        notes: Oddities that did not keep it from being read.
        kind: The ``DocumentKind`` that it is.
        targets: Where a block leads as a whole, by its index.
    """

    blocks: list[DocumentBlock]
    metadata: Metadata = NO_METADATA
    links: list[str] = field(default_factory=list)
    notes: tuple[str, ...] = ()
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
        heading = next((block for block in self.blocks if block.kind in HEADINGS), None)
        if heading is None:
            return self.metadata
        return with_heading(self.metadata, heading.text, heading.kind)


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
