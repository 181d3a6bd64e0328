"""Read documents of office programs: Office Open XML (ECMA-376) and OpenDocument (ISO 26300)."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, Any

from crawler.reading.documents.document_metadata import DocumentProperties, clean
from crawler.reading.documents.document_text import (
    ITEM,
    PARAGRAPH,
    DocumentText,
    Flow,
    Lines,
    Roles,
    UnreadableError,
)
from crawler.reading.documents.package import Package
from crawler.reading.reading import NoText

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.reading.metadata.metadata_record import Metadata

Element = Any  # lxml has no types

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_DC = "{http://purl.org/dc/elements/1.1/}"
_CORE = "{http://schemas.openxmlformats.org/package/2006/metadata/core-properties}"
_TERMS = "{http://purl.org/dc/terms/}"
_R_ID = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
# Strict documents have these names in the place of the usual ones.
_STRICT = (
    (b"http://purl.oclc.org/ooxml/wordprocessingml/main", _W[1:-1].encode()),
    (b"http://purl.oclc.org/ooxml/drawingml/main", _A[1:-1].encode()),
    (b"http://purl.oclc.org/ooxml/presentationml/main", _P[1:-1].encode()),
    (b"http://purl.oclc.org/ooxml/officeDocument/math", _M[1:-1].encode()),
    (b"http://purl.oclc.org/ooxml/officeDocument/relationships", _R_ID[1:-3].encode()),
)
_HEADING = re.compile(r"heading ([1-9])\b")
_MAX_HEADING = 6
# Formulas that differ in their structure alone shall differ in their text.
_MATH_SIGNS = {f"{_M}den": "/", f"{_M}sup": "^", f"{_M}sub": "_"}
_SEPARATORS = frozenset({"separator", "continuationSeparator", "continuationNotice"})
# Fields that slides repeat, and the picture of the slide on the page of its notes.
_FRAMING = frozenset({"sldNum", "dt", "ftr", "hdr", "sldImg"})

_NAMES = "urn:oasis:names:tc:opendocument:xmlns"
_OFFICE = f"{{{_NAMES}:office:1.0}}"
_TEXT = f"{{{_NAMES}:text:1.0}}"
_TABLE = f"{{{_NAMES}:table:1.0}}"
_META = f"{{{_NAMES}:meta:1.0}}"
_FO = f"{{{_NAMES}:xsl-fo-compatible:1.0}}"
_STYLE = f"{{{_NAMES}:style:1.0}}"
_MANIFEST = f"{{{_NAMES}:manifest:1.0}}"
_HREF = "{http://www.w3.org/1999/xlink}href"


def read_word(body: bytes) -> DocumentText:
    """Read a Word document: its text with tables, text boxes, footnotes and endnotes.

    Raises:
        UnreadableError: It cannot be read.
    """
    archive = _Package(body)
    main = archive.main_part("word/document.xml")
    root = archive.needed(main)
    folder = posixpath.dirname(main)
    styles, language = _styles(archive.tree(f"{folder}/styles.xml"))
    lines = Lines()
    flow = Flow(_word_roles(styles), lines)
    flow.read(root)
    links = archive.links(main)
    for name in ("footnotes", "endnotes"):
        notes = archive.tree(f"{folder}/{name}.xml")
        for note in () if notes is None else notes:
            if note.get(f"{_W}type") not in _SEPARATORS:
                flow.read(note)
        links += archive.links(f"{folder}/{name}.xml")
    return DocumentText(lines.blocks, archive.metadata(language), links)


def read_slides(body: bytes) -> DocumentText:
    """Read slides in their order: their text with tables, each with its notes.

    Raises:
        UnreadableError: It cannot be read.
    """
    archive = _Package(body)
    main = archive.main_part("ppt/presentation.xml")
    root, targets = archive.needed(main), archive.targets(main)
    lines, links = Lines(), list[str]()
    flow = Flow(_SLIDE_ROLES, lines)
    # A list that names one slide a million times shows each slide once.
    numbers = dict.fromkeys(slide.get(_R_ID) for slide in root.iter(f"{_P}sldId"))
    for name in [targets[number] for number in numbers if number in targets]:
        slide = archive.tree(name)
        if slide is None:
            continue
        _without_framing(slide)
        flow.read(slide)
        links += archive.links(name)
        for other in archive.targets(name).values():
            notes = archive.tree(other) if "/notesSlides/" in other else None
            if notes is not None:
                _without_framing(notes)
                flow.read(notes)
    return DocumentText(lines.blocks, archive.metadata(None), links)


class _Package(Package):
    """An archive whose parts name each other by relationships."""

    def read(self, name: str) -> bytes | None:
        found = super().read(name)
        if found is not None and b"http://purl.oclc.org/ooxml/" in found[:4096]:
            for strict, usual in _STRICT:
                found = found.replace(strict, usual)
        return found

    def main_part(self, usual: str) -> str:
        """Return the name of the main part, which few writers name otherwise."""
        if usual in self:
            return usual
        for kind, target, _ in self._relationships(""):
            if kind.endswith("/officeDocument"):
                return target
        return usual

    def targets(self, name: str) -> dict[str, str]:
        """Return the parts that a part names, by their ids."""
        return {number: target for _, target, number in self._relationships(name)}

    def links(self, name: str) -> list[str]:
        """Return the targets of the hyperlinks of a part."""
        root = self.tree(_relationships_of(name))
        found = () if root is None else root
        return [
            one.get("Target")
            for one in found
            if one.get("TargetMode") == "External"
            and one.get("Target")
            and one.get("Type", "").endswith("/hyperlink")
        ]

    def _relationships(self, name: str) -> Iterator[tuple[str, str, str]]:
        root = self.tree(_relationships_of(name))
        folder = posixpath.dirname(name)
        for one in () if root is None else root:
            target = one.get("Target")
            if target and one.get("TargetMode") != "External":
                path = posixpath.normpath(posixpath.join("/" + folder, target)).lstrip("/")
                yield one.get("Type", ""), path, one.get("Id", "")

    def metadata(self, language: str | None) -> Metadata:
        """Return what the core properties say; a bad part of them says nothing."""
        of_styles = ("styles:lang", language)
        root = self.tree("docProps/core.xml")
        if root is None:
            return DocumentProperties(language=[of_styles]).metadata()
        return DocumentProperties(
            title=[("dc:title", root.findtext(f"{_DC}title"))],
            author=[("dc:creator", root.findtext(f"{_DC}creator"))],
            date=[("dcterms:created", root.findtext(f"{_TERMS}created"))],
            modified=[("dcterms:modified", root.findtext(f"{_TERMS}modified"))],
            language=[("dc:language", root.findtext(f"{_DC}language")), of_styles],
            description=[("dc:description", root.findtext(f"{_DC}description"))],
            tags=[("cp:keywords", root.findtext(f"{_CORE}keywords"))],
        ).metadata()


def _relationships_of(name: str) -> str:
    folder, base = posixpath.split(name)
    return posixpath.join(folder, "_rels", f"{base}.rels")


def _styles(root: Element | None) -> tuple[dict[str, str], str | None]:
    """Return the kinds of paragraphs by their style, and the language of the document."""
    if root is None:
        return {}, None
    kinds: dict[str, str] = {}
    for style in root.iter(f"{_W}style"):
        name = style.find(f"{_W}name")
        said = "" if name is None else name.get(f"{_W}val", "").lower()
        heading = _HEADING.match(said)
        level = 1 if said == "title" else int(heading[1]) if heading else 0
        if level:
            kinds[style.get(f"{_W}styleId", "")] = f"h{min(level, _MAX_HEADING)}"
    default = root.find(f"{_W}docDefaults/{_W}rPrDefault/{_W}rPr/{_W}lang")
    return kinds, None if default is None else clean(default.get(f"{_W}val"))


def _word_roles(styles: dict[str, str]) -> Roles:
    def kind_of(paragraph: Element) -> str:
        properties = paragraph.find(f"{_W}pPr")
        if properties is None:
            return PARAGRAPH
        style = properties.find(f"{_W}pStyle")
        kind = None if style is None else styles.get(style.get(f"{_W}val", ""))
        listed = properties.find(f"{_W}numPr") is not None
        return kind or (ITEM if listed else PARAGRAPH)

    return Roles(
        paragraphs=frozenset({f"{_W}p"}),
        rows=frozenset({f"{_W}tr"}),
        cells=frozenset({f"{_W}tc"}),
        skipped=frozenset({f"{_MC}Fallback", f"{_W}del", f"{_W}moveFrom", f"{_W}sectPr"}),
        spaces={
            f"{_W}tab": " ",
            f"{_W}br": " ",
            f"{_W}cr": " ",
            f"{_W}ptab": " ",
            f"{_W}sym": " ",
            f"{_W}noBreakHyphen": "-",
        }
        | _MATH_SIGNS,
        texts=frozenset({f"{_W}t", f"{_M}t"}),
        kind_of=kind_of,
    )


def _slide_kind(paragraph: Element) -> str:
    shape = next(paragraph.iterancestors(f"{_P}sp"), None)
    place = None if shape is None else shape.find(f"{_P}nvSpPr/{_P}nvPr/{_P}ph")
    return "h2" if place is not None and place.get("type") in {"title", "ctrTitle"} else PARAGRAPH


_SLIDE_ROLES = Roles(
    paragraphs=frozenset({f"{_A}p"}),
    rows=frozenset({f"{_A}tr"}),
    cells=frozenset({f"{_A}tc"}),
    skipped=frozenset({f"{_MC}Fallback"}),
    spaces={f"{_A}br": " "} | _MATH_SIGNS,
    texts=frozenset({f"{_A}t", f"{_M}t"}),
    kind_of=_slide_kind,
)


def _without_framing(slide: Element) -> None:
    """Remove the number, the date and the footer of a slide."""
    for place in list(slide.iter(f"{_P}ph")):
        if place.get("type") in _FRAMING:
            shape = next(place.iterancestors(f"{_P}sp", f"{_P}pic"), None)
            if shape is not None and shape.getparent() is not None:
                shape.getparent().remove(shape)


def _open_kind_of(paragraph: Element) -> str:
    if paragraph.tag != f"{_TEXT}h":
        return PARAGRAPH
    level = paragraph.get(f"{_TEXT}outline-level", "1")[:2]
    return f"h{min(max(int(level), 1), _MAX_HEADING)}" if level.isdecimal() else "h1"


_OPEN_ROLES = Roles(
    paragraphs=frozenset({f"{_TEXT}p", f"{_TEXT}h"}),
    rows=frozenset({f"{_TABLE}table-row"}),
    cells=frozenset({f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"}),
    items=frozenset({f"{_TEXT}list-item", f"{_TEXT}list-header"}),
    skipped=frozenset(
        {
            f"{_TEXT}tracked-changes",
            f"{_OFFICE}annotation",
            f"{_TEXT}note-citation",
            f"{_TEXT}page-number",
        }
    ),
    spaces={f"{_TEXT}s": " ", f"{_TEXT}tab": " ", f"{_TEXT}line-break": " "},
    kind_of=_open_kind_of,
)


def read_open_document(body: bytes) -> DocumentText:
    """Read an OpenDocument file: its text with tables, footnotes and the notes of slides.

    Raises:
        UnreadableError: It cannot be read.
    """
    archive = Package(body)
    manifest = archive.tree("META-INF/manifest.xml")
    if manifest is not None and manifest.find(f".//{_MANIFEST}encryption-data") is not None:
        raise UnreadableError(NoText.ENCRYPTED, "needs a password")
    root = archive.needed("content.xml")
    lines = Lines()
    Flow(_OPEN_ROLES, lines).read(root)
    links = [target for link in root.iter(f"{_TEXT}a") if (target := link.get(_HREF))]
    language = _open_language(archive.tree("styles.xml"))
    return DocumentText(lines.blocks, _open_metadata(archive.tree("meta.xml"), language), links)


def _open_metadata(root: Element | None, language: str | None) -> Metadata:
    of_styles = ("styles:language", language)
    found = None if root is None else root.find(f"{_OFFICE}meta")
    if found is None:
        return DocumentProperties(language=[of_styles]).metadata()
    said = found.findtext
    return DocumentProperties(
        title=[("dc:title", said(f"{_DC}title"))],
        author=[
            ("meta:initial-creator", said(f"{_META}initial-creator")),
            ("dc:creator", said(f"{_DC}creator")),
        ],
        date=[("meta:creation-date", said(f"{_META}creation-date"))],
        modified=[("dc:date", said(f"{_DC}date"))],
        language=[("dc:language", said(f"{_DC}language")), of_styles],
        description=[("dc:description", said(f"{_DC}description"))],
        tags=[("meta:keyword", ",".join(one.text or "" for one in found.iter(f"{_META}keyword")))],
    ).metadata()


def _open_language(root: Element | None) -> str | None:
    """Return the language of the default style of paragraphs."""
    for style in () if root is None else root.iter(f"{_STYLE}default-style"):
        for properties in style.iter(f"{_STYLE}text-properties"):
            language, country = properties.get(f"{_FO}language"), properties.get(f"{_FO}country")
            if language and language.isalpha() and language != "none":
                known = country and country.isalnum() and country != "none"
                return f"{language}-{country}" if known else str(language)
    return None
