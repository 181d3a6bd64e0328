from __future__ import annotations

import pytest

from crawler.reading.documents.document_text import UnreadableError
from crawler.reading.documents.hypertext import read_epub
from crawler.reading.reading import NoText
from tests.crawler.reading.documents.made import epub

XHTML = '<html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head><body>{}</body></html>'
METADATA = (
    "<dc:title>The captain</dc:title><dc:creator>A. Writer</dc:creator>"
    "<dc:creator>B. Other</dc:creator><dc:date>2024-05-31</dc:date><dc:language>fr</dc:language>"
)
ENCRYPTED = (
    '<encryption xmlns:enc="http://www.w3.org/2001/04/xmlenc#"><enc:EncryptedData><enc:CipherData>'
    '<enc:CipherReference URI="OEBPS/{}"/></enc:CipherData></enc:EncryptedData></encryption>'
)


def test_chapters_are_read_in_the_order_of_the_spine() -> None:
    book = epub(
        {
            "z.xhtml": XHTML.format("<h1>One</h1><p>Caf&eacute; and<br/>tea</p>"),
            "a%20b.xhtml": XHTML.format("<div>Intro<p>Two</p>after</div><ul><li>item</li></ul>"),
        },
        metadata=METADATA,
        more={
            "OEBPS/a b.xhtml": XHTML.format("<div>Intro<p>Two</p>after</div><ul><li>x</li></ul>")
        },
    )
    found = read_epub(book)
    assert found.blocks == [
        ("h1", "One"),
        ("p", "Café and"),
        ("p", "tea"),
        ("p", "Intro"),
        ("p", "Two"),
        ("p", "after"),
        ("item", "x"),
    ]
    assert found.metadata[:4] == ("The captain", "A. Writer, B. Other", "2024-05-31", "fr")
    places = {"title": "dc:title", "author": "dc:creator", "date": "dc:date"}
    assert dict(found.metadata.sources).items() >= places.items()


def test_only_links_that_lead_out_of_a_book_count() -> None:
    chapter = XHTML.format('<p><a href="b.xhtml">in</a> <a href="https://other.test/">out</a></p>')
    assert read_epub(epub({"a.xhtml": chapter})).links == ["https://other.test/"]


def test_a_chapter_that_is_no_xml_is_read_as_html() -> None:
    assert read_epub(epub({"a.xhtml": "<p>One<p>Two &amp three"})).text == "One\nTwo & three"


def test_a_chapter_nested_ten_thousand_deep_is_read() -> None:
    deep = "<div>" * 10_000 + "words" + "</div>" * 10_000
    assert read_epub(epub({"a.xhtml": XHTML.format(deep)})).text == "words"


def test_an_encrypted_chapter_has_a_reason_and_an_encrypted_font_has_none() -> None:
    chapter = {"a.xhtml": XHTML.format("<p>One</p>")}
    locked = {"META-INF/encryption.xml": ENCRYPTED.format("a.xhtml")}
    with pytest.raises(UnreadableError) as caught:
        read_epub(epub(chapter, more={**locked}))
    assert caught.value.why == NoText.ENCRYPTED
    font = {"META-INF/encryption.xml": ENCRYPTED.format("font.otf")}
    assert read_epub(epub(chapter, more={**font})).text == "One"


def test_a_table_has_a_line_a_row_and_code_keeps_its_lines() -> None:
    shown = "<table><tr><td>a <p>b</p></td><td>c</td></tr></table><pre>x = 1\n  y</pre>"
    found = read_epub(epub({"a.xhtml": XHTML.format(shown)}))
    assert found.blocks == [("row", "a b\tc"), ("code", "x = 1"), ("code", "  y")]


def test_the_empty_first_cell_of_an_indented_row_stays() -> None:
    rows = ("<td>Tea</td>", "<td></td>\n <td>5</td>", "<td>6</td><td/>", "<td/><td/>")
    shown = "<table>\n" + "\n".join(f"<tr>\n {row}\n</tr>" for row in rows) + "</table>"
    found = read_epub(epub({"a.xhtml": XHTML.format(shown)}))
    assert found.blocks == [("row", "Tea"), ("row", "\t5"), ("row", "6")]


def test_the_reading_of_characters_is_in_brackets() -> None:
    chapter = XHTML.format(
        "<p><ruby>漢字<rt>かんじ</rt></ruby>と<ruby>仮<rp>(</rp><rt>か</rt><rp>)</rp></ruby></p>"
    )
    assert read_epub(epub({"a.xhtml": chapter})).text == "漢字（かんじ）と仮(か)"


def test_blocks_within_a_cell_or_within_code_join_no_words() -> None:
    shown = (
        "<table><tr><td>one<br/>two</td><td><p>three</p><p>four</p></td></tr></table>"
        "<pre>int a;<br/>int b;<div>int c;</div>int d;</pre>"
    )
    found = read_epub(epub({"a.xhtml": XHTML.format(shown)}))
    assert found.text.split("\n") == ["one two\tthree four", *(f"int {x};" for x in "abcd")]
