from __future__ import annotations

from io import BytesIO

import pytest
from odf import dc, meta, table, text
from odf.opendocument import OpenDocumentText

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
