from __future__ import annotations

import time
from io import BytesIO

import pytest
from odf import dc, draw, meta, style, table, text
from odf.opendocument import OpenDocument, OpenDocumentSpreadsheet, OpenDocumentText

from crawler.reading.documents.document_text import MAX_TEXT_CHARACTERS, UnreadableError
from crawler.reading.documents.kinds import document_kind
from crawler.reading.documents.office import read_open_document
from crawler.reading.reading import NoText
from tests.crawler.reading.documents.made import packed

MIMETYPE = "application/vnd.oasis.opendocument.text"


def written() -> bytes:
    document = OpenDocumentText()
    document.meta.addElement(dc.Title(text="The captain"))
    document.meta.addElement(meta.InitialCreator(text="A. Writer"))
    document.meta.addElement(meta.CreationDate(text="2024-05-31T12:00:00"))
    document.meta.addElement(dc.Language(text="en-GB"))
    document.text.addElement(text.H(outlinelevel=2, text="The harbour"))
    paragraph = text.P(text="The harbour was ")
    paragraph.addElement(text.Span(text="quiet"))
    paragraph.addText(" when ")
    paragraph.addElement(text.A(href="http://other.test/a", text="the ferry"))
    paragraph.addText(" came in.")
    document.text.addElement(paragraph)
    listed = text.List()
    item = text.ListItem()
    item.addElement(text.P(text="Tea"))
    listed.addElement(item)
    document.text.addElement(listed)
    grid, row = table.Table(), table.TableRow()
    for said in ("Ferry", "12"):
        cell = table.TableCell()
        cell.addElement(text.P(text=said))
        row.addElement(cell)
    grid.addElement(row)
    document.text.addElement(grid)
    return bytes_of(document)


def bytes_of(document: OpenDocument) -> bytes:
    stream = BytesIO()
    document.write(stream)
    return stream.getvalue()


def test_a_text_is_read_with_headings_lists_and_tables() -> None:
    body = written()
    assert document_kind(None, body) == "opendocument"
    found = read_open_document(body)
    assert found.blocks == [
        ("h2", "The harbour"),
        ("p", "The harbour was quiet when the ferry came in."),
        ("item", "Tea"),
        ("row", "Ferry\t12"),
    ]
    assert found.metadata[:4] == ("The captain", "A. Writer", "2024-05-31", "en-GB")
    places = {"title": "dc:title", "author": "meta:initial-creator"}
    assert dict(found.metadata.sources).items() >= places.items()
    assert found.links == ["http://other.test/a"]


def sheet(*rows: table.TableRow) -> bytes:
    document = OpenDocumentSpreadsheet()
    towns = table.Table(name="Towns")
    for row in rows:
        towns.addElement(row)
    document.spreadsheet.addElement(towns)
    return bytes_of(document)


def cells(*said: tuple[str, int], times: int = 1) -> table.TableRow:
    row = table.TableRow(numberrowsrepeated=times)
    for one, columns in said:
        cell = table.TableCell(numbercolumnsrepeated=columns)
        if one:
            cell.addElement(text.P(text=one))
        row.addElement(cell)
    return row


def test_repeated_cells_and_rows_stand_where_they_are_shown() -> None:
    found = read_open_document(
        sheet(
            cells(("Ravenby", 1), ("5", 3), ("9", 1), ("", 16_379)),
            cells(("", 3), ("7", 1)),
            cells(("x", 2), times=3),
            cells(("", 16_384), times=1_048_000),
        )
    )
    assert found.blocks == [
        ("h2", "Towns"),
        ("row", "Ravenby\t5\t5\t5\t9"),
        ("row", "\t\t\t7"),
        *[("row", "x\tx")] * 3,
    ]


@pytest.mark.parametrize(
    "row", [cells(("x", 1), times=10**9), cells(("", 16_000), ("x", 1), times=3_000)]
)
def test_rows_repeated_to_the_end_of_a_sheet_leave_room_for_the_rest(row: table.TableRow) -> None:
    rows = [cells((word, 1), times=1_048_576) for word in ("a", "b", "c")]
    found = read_open_document(sheet(row, *rows, cells(("The end", 1), times=3)))
    said = [text for _, text in found.blocks]
    assert list(dict.fromkeys(text.strip() for text in said)) == ["Towns", *"xabc", "The end"]
    assert said.count("c") > 10_000
    assert said.count("The end") == 3
    assert sum(map(len, said)) < MAX_TEXT_CHARACTERS / 4


def test_many_rows_repeated_to_the_end_of_a_sheet_leave_room_for_the_rest() -> None:
    rows = [cells((f"v{at}", 1), times=1_048_576) for at in range(500)]
    found = read_open_document(sheet(*rows, cells(("The end", 1))))
    assert len({text for _, text in found.blocks}) == 502
    assert len(found.blocks) < 10**6


def within(row: table.TableRow, times: int) -> table.TableRow:
    """Return a row whose cell holds a table of many rows alike."""
    inner, outer, cell = table.Table(), table.TableRow(), table.TableCell()
    for _ in range(times):
        inner.childNodes.append(row)
    cell.addElement(inner)
    outer.addElement(cell)
    return outer


@pytest.mark.parametrize(
    "row",
    [
        cells(("x" * 10_000, 10**9)),
        # 32 million characters are made, and few are said: the cell folds its tabs.
        within(cells(("", 16_000), ("x", 1)), 2_000),
    ],
)
def test_more_repeated_cells_than_are_read_are_refused(row: table.TableRow) -> None:
    started = time.process_time()
    with pytest.raises(UnreadableError) as caught:
        read_open_document(sheet(row))
    assert caught.value.why == NoText.TOO_LARGE
    assert time.process_time() - started < 10


def test_a_note_stands_behind_its_paragraph() -> None:
    document = OpenDocumentText()
    paragraph = text.P(text="The ferry")
    note, body = text.Note(noteclass="footnote"), text.NoteBody()
    note.addElement(text.NoteCitation(text="1"))
    body.addElement(text.P(text="Built in 1950."))
    note.addElement(body)
    paragraph.addElement(note)
    paragraph.addText(" came in.")
    document.text.addElement(paragraph)
    assert read_open_document(bytes_of(document)).text == "The ferry came in.\nBuilt in 1950."


def test_hidden_parts_are_left_out() -> None:
    document = OpenDocumentText()
    for name, family in (("gone", "text"), ("draft", "paragraph")):
        hidden = style.Style(name=name, family=family)
        hidden.addElement(style.TextProperties(display="none"))
        document.styles.addElement(hidden)
    derived = style.Style(name="derived", family="paragraph", parentstylename="draft")
    document.styles.addElement(derived)
    paragraph = text.P(text="The ferry")
    paragraph.addElement(text.Span(stylename="gone", text=" unseen"))
    paragraph.addText(" came in.")
    section = text.Section(name="Draft", display="none")
    section.addElement(text.P(text="A draft."))
    for element in (paragraph, section, text.P(stylename=derived, text="Notes.")):
        document.text.addElement(element)
    assert read_open_document(bytes_of(document)).text == "The ferry came in."


def test_what_is_shown_within_hidden_text_is_read() -> None:
    document = OpenDocumentText()
    for name, family, display in (
        ("gone", "text", "none"),
        ("shown", "text", "true"),
        ("bold", "text", None),
        ("draft", "paragraph", "none"),
    ):
        made = style.Style(name=name, family=family)
        made.addElement(style.TextProperties(**({"display": display} if display else {})))
        document.styles.addElement(made)
    for inner in ("shown", "bold"):
        outer = text.Span(stylename="gone", text="hidden ")
        outer.addElement(text.Span(stylename=inner, text=f"{inner} in a span"))
        paragraph = text.P()
        paragraph.addElement(outer)
        document.text.addElement(paragraph)
        paragraph = text.P(stylename="draft")
        paragraph.addElement(text.Span(stylename=inner, text=f"{inner} in a paragraph"))
        document.text.addElement(paragraph)
    marked = text.P()
    marked.addElement(text.HiddenParagraph(condition="ooow:1", ishidden="true"))
    for boxed in (text.P(stylename="draft"), marked):
        frame, box = draw.Frame(), draw.TextBox()
        box.addElement(text.P(text="in a frame"))
        frame.addElement(box)
        boxed.addElement(frame)
        document.text.addElement(boxed)
    found = read_open_document(bytes_of(document)).text.split("\n")
    shown = ["hidden shown in a span", "shown in a paragraph"]
    assert found == [*shown, "in a frame", "in a frame"]


def test_a_table_of_contents_without_links_stays() -> None:
    document = OpenDocumentText()
    for target in ("#harbour", ""):
        contents, body = text.TableOfContent(name=f"Contents{target}"), text.IndexBody()
        entry = text.P()
        entry.addElement(text.A(href=target, text="The harbour") if target else text.Span(text="x"))
        body.addElement(entry)
        contents.addElement(body)
        document.text.addElement(contents)
    assert read_open_document(bytes_of(document)).text == "x"


def test_a_heading_of_any_level_is_read() -> None:
    names = "urn:oasis:names:tc:opendocument:xmlns:text:1.0"
    said = "".join(
        f'<t:h t:outline-level="{level}">Tea</t:h>' for level in ("2", "9" * 5000, "-1", "")
    )
    body = packed({"content.xml": f'<a xmlns:t="{names}">{said}</a>'}, mimetype=MIMETYPE)
    assert [block.kind for block in read_open_document(body).blocks] == ["h2", "h6", "h1", "h1"]


def test_an_encrypted_text_has_a_reason() -> None:
    manifest = (
        '<m:manifest xmlns:m="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"><m:file-entry>'
        "<m:encryption-data/></m:file-entry></m:manifest>"
    )
    body = packed(
        {"META-INF/manifest.xml": manifest, "content.xml": b"\x8f\x02"}, mimetype=MIMETYPE
    )
    with pytest.raises(UnreadableError) as caught:
        read_open_document(body)
    assert caught.value.why == NoText.ENCRYPTED


def test_a_text_without_its_content_has_a_reason() -> None:
    with pytest.raises(UnreadableError, match=r"it has no content\.xml") as caught:
        read_open_document(packed({"meta.xml": "<a/>"}, mimetype=MIMETYPE))
    assert caught.value.why == NoText.DAMAGED
