"""Read documents of office programs: Office Open XML (ECMA-376) and OpenDocument (ISO 26300)."""

from __future__ import annotations

import posixpath
import re
from itertools import islice
from typing import TYPE_CHECKING, Any

from lxml.etree import SubElement

from crawler.reading.content.blocks import RUBY
from crawler.reading.documents.document_text import (
    ITEM,
    PARAGRAPH,
    DocumentProperties,
    DocumentText,
    Extent,
    Flow,
    Lines,
    Roles,
    UnreadableError,
    clean,
    hide,
)
from crawler.reading.documents.package import OfficePackage, Package
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
_R_ID = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_ON = frozenset({"1", "true", "on"})
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
_DRAW = f"{{{_NAMES}:drawing:1.0}}"
_FO = f"{{{_NAMES}:xsl-fo-compatible:1.0}}"
_STYLE = f"{{{_NAMES}:style:1.0}}"
_MANIFEST = f"{{{_NAMES}:manifest:1.0}}"
_STYLE_NAME = f"{_TEXT}style-name"
_STYLED = (f"{_TEXT}span", f"{_TEXT}p", f"{_TEXT}h")
_OF_TEXT_STYLES = frozenset({f"{_TEXT}span", f"{_TEXT}a", f"{_TEXT}ruby-text"})
_HREF = "{http://www.w3.org/1999/xlink}href"


def read_word(body: bytes) -> DocumentText:
    """Read a Word document: its text with tables, text boxes, footnotes and endnotes.

    Raises:
        UnreadableError: It cannot be read.
    """
    archive = OfficePackage(body)
    main = archive.main_part("word/document.xml")
    root = archive.needed(main)
    folder = posixpath.dirname(main)
    sheet = archive.tree(f"{folder}/styles.xml")
    styles, language = _styles(sheet)
    hides = _hiding_styles(sheet)
    lines = Lines()
    flow = Flow(_word_roles(styles), lines)
    _prepare(root, hides)
    flow.read(root)
    links = archive.links(main)
    for name in ("footnotes", "endnotes"):
        notes = archive.tree(f"{folder}/{name}.xml")
        for note in () if notes is None else notes:
            if note.get(f"{_W}type") not in _SEPARATORS:
                _prepare(note, hides)
                flow.read(note)
        links += archive.links(f"{folder}/{name}.xml")
    return DocumentText(lines.blocks, archive.metadata(language), links)


def read_slides(body: bytes) -> DocumentText:
    """Read slides in their order: their text with tables, each with its notes.

    Raises:
        UnreadableError: It cannot be read.
    """
    archive = OfficePackage(body)
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
        hide(_framing(slide))
        flow.read(slide)
        links += archive.links(name)
        for other in archive.targets(name).values():
            notes = archive.tree(other) if "/notesSlides/" in other else None
            if notes is not None:
                hide(_framing(notes))
                flow.read(notes)
    return DocumentText(lines.blocks, archive.metadata(None), links)


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
        | _MATH_SIGNS
        | {f"{_W}rt": RUBY[0]},
        ends={f"{_W}rt": RUBY[1]},
        texts=frozenset({f"{_W}t", f"{_M}t"}),
        kind_of=kind_of,
        extent=_word_extent,
    )


def _word_extent(element: Element) -> Extent:
    """Return the empty columns before a row, or those behind a cell of which it takes the place."""
    is_row = element.tag == f"{_W}tr"
    path = f"{_W}trPr/{_W}gridBefore" if is_row else f"{_W}tcPr/{_W}gridSpan"
    found = element.find(path)
    columns = _number(None if found is None else found.get(f"{_W}val"))
    return Extent(empty=columns if is_row else max(columns - 1, 0))


def _number(written: str | None) -> int:
    """Return a number of at most nine digits that is not negative, 0 for anything else."""
    return int(written[:9]) if written and written.isdecimal() else 0


def _hiding_styles(root: Element | None) -> dict[str, bool]:
    """Return whether styles hide text; that of paragraphs without a style is named by its tag."""
    own, bases = dict[str, bool | None](), dict[str, str]()
    for style in () if root is None else root.iter(f"{_W}style"):
        name = style.get(f"{_W}styleId", "")
        own[name] = _vanishes(style)
        base = style.find(f"{_W}basedOn")
        bases[name] = "" if base is None else base.get(f"{_W}val", "")
        if style.get(f"{_W}type") == "paragraph" and style.get(f"{_W}default") in _ON:
            own[f"{_W}pStyle"], bases[f"{_W}pStyle"] = None, name
    return _inheriting(own, bases)


def _inheriting(own: dict[str, bool | None], bases: dict[str, str]) -> dict[str, bool]:
    """Return whether styles hide text, where they or else the nearest base of them say it."""
    found = {name: hides for name, hides in own.items() if hides is not None}
    met = set[str]()  # each style is passed once, since a chain may hold all of a hostile file's
    for name in own:
        chain, at = list[str](), name
        while at not in found and at in bases and at not in met:
            met.add(at)
            chain.append(at)
            at = bases[at]
        if at in found:
            found.update(dict.fromkeys(chain, found[at]))
    return found


def _vanishes(element: Element) -> bool | None:
    """Return whether a run or a style is hidden, or None where it does not say."""
    found = element.find(f"{_W}rPr/{_W}vanish")
    return None if found is None else found.get(f"{_W}val") not in {"0", "false", "off"}


def _prepare(root: Element, hides: dict[str, bool]) -> None:
    """Hide what is not shown, and put the readings of characters behind them."""
    if True in hides.values() or next(root.iter(f"{_W}vanish"), None) is not None:
        hide(run for run in root.iter(f"{_W}r") if _is_hidden(run, hides))
    for ruby in root.iter(f"{_W}ruby"):
        if (reading := ruby.find(f"{_W}rt")) is not None:
            ruby.append(reading)


def _is_hidden(run: Element, hides: dict[str, bool]) -> bool:
    """Return whether a run is hidden for certain: by itself, or else by just one of its styles.

    Text is shown that both its style and that of its paragraph or table hide: each of them
    switches (ECMA-376, part 1, 17.7.3).
    """
    if next(run.iterdescendants(f"{_W}r"), None) is not None:
        return False  # the runs of a text box or a ruby say it themselves
    vanishes = _vanishes(run)
    if vanishes is not None:
        return vanishes
    names = [_style_name(run, "r")]
    names += [_style_name(paragraph, "p") for paragraph in islice(run.iterancestors(f"{_W}p"), 1)]
    said = [hides[name] for name in names if name in hides]
    tables = (_style_name(table, "tbl") for table in run.iterancestors(f"{_W}tbl"))
    return said[:1] == [True] and not any((*said[1:], *map(hides.get, tables)))


def _style_name(element: Element, of: str) -> str:
    # Properties come first; to look for them further on would pass over all runs of a paragraph.
    first = next(iter(element), None)
    if first is None or first.tag != f"{_W}{of}Pr":
        return f"{_W}{of}Style"
    style = first.find(f"{_W}{of}Style")
    return f"{_W}{of}Style" if style is None else style.get(f"{_W}val", "")


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


def _framing(slide: Element) -> Iterator[Element]:
    """Yield the number, the date and the footer of a slide."""
    for place in slide.iter(f"{_P}ph"):
        if place.get("type") in _FRAMING:
            yield from islice(place.iterancestors(f"{_P}sp", f"{_P}pic"), 1)


def _open_kind_of(paragraph: Element) -> str:
    if paragraph.tag != f"{_TEXT}h":
        return PARAGRAPH
    level = _number(paragraph.get(f"{_TEXT}outline-level"))
    return f"h{min(max(level, 1), _MAX_HEADING)}"


def _open_extent(element: Element) -> Extent:
    """Return the times that a row or a cell is repeated."""
    what = "rows" if element.tag == f"{_TABLE}table-row" else "columns"
    return Extent(times=max(_number(element.get(f"{_TABLE}number-{what}-repeated")), 1))


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
    notes=frozenset({f"{_TEXT}note"}),
    spaces={
        f"{_TEXT}s": " ",
        f"{_TEXT}tab": " ",
        f"{_TEXT}line-break": " ",
        f"{_TEXT}ruby-text": RUBY[0],
    },
    ends={f"{_TEXT}ruby-text": RUBY[1]},
    kind_of=_open_kind_of,
    extent=_open_extent,
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
    styles = archive.tree("styles.xml")
    hide(_unshown(root, _open_hiding_styles(styles, root)))
    for sheet in root.iterfind(f"{_OFFICE}body/{_OFFICE}spreadsheet/{_TABLE}table"):
        heading = SubElement(sheet, f"{_TEXT}h", {f"{_TEXT}outline-level": "2"})
        heading.text = sheet.get(f"{_TABLE}name")
        sheet.insert(0, heading)
    lines = Lines()
    Flow(_OPEN_ROLES, lines).read(root)
    links = [target for link in root.iter(f"{_TEXT}a") if (target := link.get(_HREF))]
    language = _open_language(styles)
    return DocumentText(lines.blocks, _open_metadata(archive.tree("meta.xml"), language), links)


def _open_hiding_styles(*roots: Element | None) -> dict[str, bool]:
    """Return whether styles hide text, by their families and names."""
    own, bases = dict[str, bool | None](), dict[str, str]()
    styles = (style for root in roots if root is not None for style in root.iter(f"{_STYLE}style"))
    for style in styles:
        family = style.get(f"{_STYLE}family", "")
        name = f"{family} {style.get(f'{_STYLE}name')}"
        properties = style.find(f"{_STYLE}text-properties")
        display = None if properties is None else properties.get(f"{_TEXT}display")
        own[name] = None if display is None else display == "none"
        bases[name] = f"{family} {style.get(f'{_STYLE}parent-style-name')}"
    return _inheriting(own, bases)


def _unshown(root: Element, hides: dict[str, bool]) -> Iterator[Element]:
    """Yield hidden sections and texts, and tables of contents that lead to what is read anyway."""
    for section in root.iter(f"{_TEXT}section"):
        is_hidden = section.get(f"{_TEXT}is-hidden") == "true"
        if is_hidden or section.get(f"{_TEXT}display") == "none":
            yield section
    hidden = list[Element]()
    for text in root.iter(*_STYLED) if True in hides.values() else ():
        family = "text" if text.tag == f"{_TEXT}span" else "paragraph"
        if hides.get(f"{family} {text.get(_STYLE_NAME)}"):
            hidden.append(text)
    for mark in root.iter(f"{_TEXT}hidden-paragraph"):
        if mark.get(f"{_TEXT}is-hidden") == "true":
            hidden += islice(mark.iterancestors(f"{_TEXT}p", f"{_TEXT}h"), 1)
    showing = _showing(root, hides) if hidden else frozenset()
    yield from (text for text in hidden if text not in showing)
    for contents in root.iter(f"{_TEXT}table-of-content"):
        entries = contents.iterfind(f"{_TEXT}index-body/{_TEXT}p")
        links = [next(entry.iter(f"{_TEXT}a"), entry) for entry in entries]
        if links and all(link.get(_HREF, "").startswith("#") for link in links):
            yield contents


def _showing(root: Element, hides: dict[str, bool]) -> frozenset[Element]:
    """Return the texts in which something may be shown though they are hidden.

    They hold text of a style that shows it, or a frame or a note, which have paragraphs of their
    own. They are read as a whole.
    """
    found = set[Element]()
    for element in root.iter(*_STYLED, f"{_TEXT}a", f"{_TEXT}ruby-text", f"{_DRAW}*"):
        is_of_text = element.tag in _OF_TEXT_STYLES
        if is_of_text and hides.get(f"text {element.get(_STYLE_NAME)}") is not False:
            continue
        for holder in element.iterancestors(*_STYLED):
            if holder in found:
                break
            found.add(holder)
    return frozenset(found)


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
