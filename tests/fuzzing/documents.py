"""Documents: PDF, packages of office files and books, feeds, plain text."""

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING

from crawler.reading.content.content_text import shown_text
from crawler.reading.content.content_xml import pack_content
from crawler.reading.documents.document_text import UnreadableError
from crawler.reading.documents.kinds import DocumentKind, document_kind
from crawler.reading.page_reading import read_document
from tests.crawler.reading.documents.made import Placed, epub, packed, pdf, wrapped
from tests.crawler.reading.documents.test_feeds import ATOM, RSS
from tests.crawler.reading.documents.test_office import slides, word
from tests.crawler.reading.documents.test_opendocument import written
from tests.crawler.reading.pages import PROSE
from tests.fuzzing.target import Target, together

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.fuzzing.target import Read

_SECS = 5.0
_RSS = "application/rss+xml"
_MAX_PART_BYTES = 8_000
_WORD_PARTS = (
    "word/document.xml",
    "word/styles.xml",
    "docProps/core.xml",
    "word/_rels/document.xml.rels",
)
_OPEN_PARTS = ("content.xml", "meta.xml", "styles.xml", "META-INF/manifest.xml")
_BOOK_PARTS = (
    "META-INF/container.xml",
    "OEBPS/book.opf",
    "OEBPS/a.xhtml",
    "META-INF/encryption.xml",
)
_SLIDE_PARTS = (
    *("ppt/presentation.xml", "ppt/slides/slide1.xml", "ppt/_rels/presentation.xml.rels"),
    *("ppt/slides/_rels/slide1.xml.rels", "docProps/core.xml"),
)
_MARKDOWN = (
    '---\ntitle: A title\nauthor: x\n---\n# Head #\n\nText with [a link](http://a.test/ "t"), '
    "`code`, **bold** and ![p](x.png).\n\n* one\n1. two\n> quoted\n\n```\ncode\n```\n"
    "| a | b |\n|---|---|\n[x]: http://b.test/ 'T'\n<http://c.test/>\n\nUnder\n=====\n"
)


def _book() -> bytes:
    return epub(
        {"a.xhtml": f"<html><body><h1>A</h1><p>{PROSE}</p></body></html>", "b.xhtml": "<p>b"}
    )


def _read(kind: str, body: bytes, content_type: str | None) -> None:
    """Read a document as a worker does, and make the content that people are shown."""
    found = read_document(kind, body, content_type, _SECS)
    found.text.encode()
    shown_text(pack_content(found.body()))


def _begin(*kinds: str, content_type: str | None = None) -> Callable[[Path], Read]:
    def begin(_: Path) -> Read:
        def read(data: bytes) -> None:
            document_kind(content_type, data)
            for kind in kinds:
                _read(kind, data, content_type)

        return read

    return begin


def _parts_of(body: bytes, names: tuple[str, ...]) -> list[bytes]:
    """Return parts of a package as inputs: the number of the part, and its content."""
    with zipfile.ZipFile(io.BytesIO(body)) as archive:
        there = set(archive.namelist())
        return [
            bytes([number]) + archive.read(name)[:_MAX_PART_BYTES]
            for number, name in enumerate(names)
            if name in there
        ]


def _begin_parts(
    kind: str, make: Callable[[], bytes], names: tuple[str, ...]
) -> Callable[[Path], Read]:
    """Put an input in place of one part: damage of a whole package mostly breaks its packing."""

    def begin(_: Path) -> Read:
        with zipfile.ZipFile(io.BytesIO(make())) as archive:
            entries: dict[str, str | bytes] = {
                name: archive.read(name)
                for name in archive.namelist()
                if name in names or name.endswith((".xml", ".xhtml", ".rels", ".opf"))
            }

        def read(data: bytes) -> None:
            name = names[(data[:1] or b"\0")[0] % len(names)]
            _read(kind, packed(entries | {name: data[1:]}), None)

        return read

    return begin


def _part_target(name: str, kind: str, make: Callable[[], bytes], parts: tuple[str, ...]) -> Target:
    return Target(
        f"{name}-parts",
        lambda: _parts_of(make(), parts),
        _begin_parts(kind, make, parts),
        (UnreadableError,),
    )


def _pdfs() -> list[bytes]:
    lines = [Placed("The captain", y=740, size=24), *wrapped(PROSE)]
    return [
        pdf(
            [lines, lines], links=("http://a.test/", "/b"), info="/Title (T) /CreationDate (D:2024)"
        ),
        pdf(
            [[Placed("שלום עולם"), Placed("•  one", y=600), Placed("2", y=20)]],
            catalog="/Lang (de)",
        ),
    ]


def _packages() -> list[bytes]:
    return [word(), slides(), written(), _book(), packed({"a": "text", "b.xml": "<a><b>c</b></a>"})]


def _feeds() -> list[bytes]:
    return [RSS.format(name).encode(name) for name in ("utf-8", "utf-16")] + [ATOM.encode()]


def _plain() -> list[bytes]:
    return [_MARKDOWN.encode(), PROSE.encode(), "Wide\n".encode("utf-16")]


def _begin_packages(_: Path) -> Read:
    kinds = (DocumentKind.WORD, DocumentKind.SLIDES, DocumentKind.OPEN_DOCUMENT, DocumentKind.EPUB)

    def read(data: bytes) -> None:
        for kind in {document_kind(None, data)} & {*kinds} or kinds:
            try:
                _read(str(kind), data, None)
            except UnreadableError:
                continue

    return read


TARGETS = (
    Target("pdf", _pdfs, _begin(DocumentKind.PDF), (UnreadableError,)),
    Target("packages", _packages, _begin_packages, (UnreadableError,)),
    together(
        "parts-of-packages",
        _part_target("word", DocumentKind.WORD, word, _WORD_PARTS),
        _part_target("slides", DocumentKind.SLIDES, slides, _SLIDE_PARTS),
        _part_target("opendocument", DocumentKind.OPEN_DOCUMENT, written, _OPEN_PARTS),
        _part_target("epub", DocumentKind.EPUB, _book, _BOOK_PARTS),
    ),
    together(
        "feeds-and-plain-text",
        Target("feeds", _feeds, _begin(DocumentKind.FEED, content_type=_RSS), (UnreadableError,)),
        Target("markdown", _plain, _begin(DocumentKind.MARKDOWN), (UnreadableError,)),
        Target("text", _plain, _begin(DocumentKind.TEXT), (UnreadableError,)),
    ),
)
