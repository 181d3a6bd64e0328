from __future__ import annotations

from io import BytesIO

import pytest
from odf import dc, meta, style, table, text
from odf.opendocument import OpenDocumentSpreadsheet, OpenDocumentText

from crawler.reading.documents.document_text import UnreadableError
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


def sheet_of(*rows: tuple[int, list[tuple[int, str]]]) -> bytes:
    """Return a sheet of rows that are repeated, with cells that are repeated."""
    document = OpenDocumentSpreadsheet()
    sheet = table.Table(name="Towns")
    for count, cells in rows:
        row = table.TableRow(numberrowsrepeated=count)
        for columns, said in cells:
            cell = table.TableCell(numbercolumnsrepeated=columns)
            if said:
                cell.addElement(text.P(text=said))
            row.addElement(cell)
        sheet.addElement(row)
    document.spreadsheet.addElement(sheet)
    stream = BytesIO()
    document.write(stream)
    return stream.getvalue()


def test_cells_and_rows_that_are_written_once_stand_in_each_of_their_places() -> None:
    body = sheet_of(
        (1, [(1, "Ravenby"), (3, "5"), (1, "9"), (16379, "")]),
        (2, [(2, ""), (1, "7")]),
        (1_048_573, [(16384, "")]),
    )
    found = read_open_document(body)
    assert found.blocks == [
        ("h2", "Towns"),
        ("row", "Ravenby\t5\t5\t5\t9"),
        ("row", "\t\t7"),
        ("row", "\t\t7"),
    ]


def test_a_sheet_that_says_one_thing_without_end_is_left_as_a_file() -> None:
    with pytest.raises(UnreadableError) as caught:
        read_open_document(sheet_of((1_048_576, [(16384, "5")])))
    assert caught.value.why == NoText.TOO_LARGE


def test_a_footnote_stands_behind_its_paragraph() -> None:
    document = OpenDocumentText()
    paragraph = text.P(text="The harbour")
    note = text.Note(noteclass="footnote")
    note.addElement(text.NoteCitation(text="1"))
    body = text.NoteBody()
    body.addElement(text.P(text="Of Ravenby."))
    note.addElement(body)
    paragraph.addElement(note)
    paragraph.addText(" was quiet.")
    document.text.addElement(paragraph)
    stream = BytesIO()
    document.write(stream)
    assert read_open_document(stream.getvalue()).text == "The harbour was quiet.\nOf Ravenby."


def test_what_a_text_hides_and_its_table_of_contents_are_not_read() -> None:
    document = OpenDocumentText()
    hidden = style.Style(name="Hidden", family="text")
    hidden.addElement(style.TextProperties(display="none"))
    document.automaticstyles.addElement(hidden)
    contents = text.TableOfContent(name="Contents")
    index = text.IndexBody()
    index.addElement(text.P(text="The harbour 1"))
    contents.addElement(index)
    document.text.addElement(contents)
    for shown, said in (("true", "The harbour"), ("none", "Not for readers")):
        section = text.Section(name=said, display=shown)
        section.addElement(text.P(text=said))
        document.text.addElement(section)
    paragraph = text.P(text="It was ")
    paragraph.addElement(text.Span(stylename=hidden, text="never "))
    paragraph.addText("quiet.")
    document.text.addElement(paragraph)
    stream = BytesIO()
    document.write(stream)
    assert read_open_document(stream.getvalue()).text == "The harbour\nIt was quiet."
