"""Read texts, slides and tables of OpenDocument (ISO 26300)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crawler.reading.documents.document_metadata import DocumentProperties
from crawler.reading.documents.document_text import (
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
    from crawler.reading.metadata.metadata_record import Metadata

Element = Any  # lxml has no types

_NAMES = "urn:oasis:names:tc:opendocument:xmlns"
_OFFICE = f"{{{_NAMES}:office:1.0}}"
_TEXT = f"{{{_NAMES}:text:1.0}}"
_TABLE = f"{{{_NAMES}:table:1.0}}"
_META = f"{{{_NAMES}:meta:1.0}}"
_FO = f"{{{_NAMES}:xsl-fo-compatible:1.0}}"
_STYLE = f"{{{_NAMES}:style:1.0}}"
_MANIFEST = f"{{{_NAMES}:manifest:1.0}}"
_DC = "{http://purl.org/dc/elements/1.1/}"
_HREF = "{http://www.w3.org/1999/xlink}href"
_MAX_HEADING = 6


def _kind_of(paragraph: Element) -> str:
    if paragraph.tag != f"{_TEXT}h":
        return PARAGRAPH
    level = paragraph.get(f"{_TEXT}outline-level", "1")[:2]
    return f"h{min(max(int(level), 1), _MAX_HEADING)}" if level.isdecimal() else "h1"


_ROLES = Roles(
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
    kind_of=_kind_of,
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
    Flow(_ROLES, lines).read(root)
    links = [target for link in root.iter(f"{_TEXT}a") if (target := link.get(_HREF))]
    language = _language(archive.tree("styles.xml"))
    return DocumentText(lines.blocks, _metadata(archive.tree("meta.xml"), language), links)


def _metadata(root: Element | None, language: str | None) -> Metadata:
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


def _language(root: Element | None) -> str | None:
    """Return the language of the default style of paragraphs."""
    for style in () if root is None else root.iter(f"{_STYLE}default-style"):
        for properties in style.iter(f"{_STYLE}text-properties"):
            language, country = properties.get(f"{_FO}language"), properties.get(f"{_FO}country")
            if language and language.isalpha() and language != "none":
                known = country and country.isalnum() and country != "none"
                return f"{language}-{country}" if known else str(language)
    return None
