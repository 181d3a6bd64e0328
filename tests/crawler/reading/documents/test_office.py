from __future__ import annotations

import time
from datetime import UTC, datetime
from io import BytesIO
from typing import TYPE_CHECKING, Any

import pytest
from docx import Document
from docx.enum.style import WD_STYLE_TYPE
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.oxml import parse_xml as docx_xml
from pptx import Presentation
from pptx.oxml import parse_xml
from pptx.util import Inches

from crawler.reading.documents.document_text import UnreadableError
from crawler.reading.documents.kinds import document_kind
from crawler.reading.documents.office import read_slides, read_word
from crawler.reading.reading import NoText
from tests.crawler.reading.documents.made import packed

if TYPE_CHECKING:
    from pathlib import Path

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
TYPES = {"[Content_Types].xml": "<Types/>"}


def word() -> bytes:
    document = Document()
    document.core_properties.title = "The captain"
    document.core_properties.author = "A. Writer"
    document.core_properties.created = datetime(2024, 5, 31, tzinfo=UTC)
    document.core_properties.language = "en-GB"
    document.add_heading("The captain", 0)
    document.add_heading("The harbour", 1)
    paragraph = document.add_paragraph("The harbour was ")
    paragraph.add_run("quiet").bold = True
    paragraph.add_run(" when the ferry\tcame in.")
    document.add_paragraph("Tea", style="List Bullet")
    table = document.add_table(2, 2)
    for at, text in enumerate(("Ship", "Crew", "Ferry", "12")):
        table.cell(at // 2, at % 2).text = text
    document.sections[0].footer.paragraphs[0].text = "Printed on paper"
    document.part.relate_to("http://other.test/a", RELATIONSHIP_TYPE.HYPERLINK, is_external=True)
    return saved(document)


def saved(document: Any) -> bytes:
    stream = BytesIO()
    document.save(stream)
    return stream.getvalue()


def slides() -> bytes:
    shown = Presentation()
    shown.core_properties.title = "The harbour"
    for number in range(2):
        slide = shown.slides.add_slide(shown.slide_layouts[1])
        slide.shapes.title.text = f"Slide {number}"
        slide.placeholders[1].text = f"First point of {number}\nSecond point of {number}"
        slide.notes_slide.notes_text_frame.text = f"Say it slowly {number}"
    table = slide.shapes.add_table(1, 2, Inches(1), Inches(1), Inches(4), Inches(1)).table
    table.cell(0, 0).text, table.cell(0, 1).text = "Ferry", "12"
    run = slide.shapes.title.text_frame.paragraphs[0].runs[0]
    run.hyperlink.address = "http://other.test/b"
    return saved(shown)


def test_a_word_document_is_read_with_headings_and_tables() -> None:
    body = word()
    assert document_kind("application/octet-stream", body) == "word"
    found = read_word(body)
    assert found.blocks == [
        ("h1", "The captain"),
        ("h1", "The harbour"),
        ("p", "The harbour was quiet when the ferry came in."),
        ("p", "Tea"),
        ("row", "Ship\tCrew"),
        ("row", "Ferry\t12"),
    ]
    assert found.metadata[:4] == ("The captain", "A. Writer", "2024-05-31", "en-GB")
    places = {"title": "dc:title", "author": "dc:creator", "date": "dcterms:created"}
    assert dict(found.metadata.sources).items() >= places.items()
    assert found.links == ["http://other.test/a"]


def test_slides_are_read_in_their_order_with_notes() -> None:
    body = slides()
    assert document_kind(None, body) == "slides"
    found = read_slides(body)
    assert found.text.split("\n") == [
        "Slide 0",
        "First point of 0",
        "Second point of 0",
        "Say it slowly 0",
        "Slide 1",
        "First point of 1",
        "Second point of 1",
        "Ferry\t12",
        "Say it slowly 1",
    ]
    assert found.blocks[0].kind == "h2"
    assert found.metadata.title == "The harbour"
    assert found.links == ["http://other.test/b"]


def written(xml: str, **more: str) -> bytes:
    entries: dict[str, str | bytes] = {**TYPES, "word/document.xml": xml}
    return packed(entries | {f"word/{name}.xml": content for name, content in more.items()})


def test_text_boxes_footnotes_and_changes_are_read_as_they_are_shown() -> None:
    body = written(
        f"""<w:document {W} xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006">
        <w:body><w:p><w:r><w:t>Before</w:t></w:r>
        <mc:AlternateContent><mc:Choice><w:txbxContent><w:p><w:r><w:t>in a box</w:t></w:r></w:p>
        </w:txbxContent></mc:Choice><mc:Fallback><w:p><w:r><w:t>in a box</w:t></w:r></w:p>
        </mc:Fallback></mc:AlternateContent><w:r><w:t xml:space="preserve"> after</w:t></w:r>
        <w:del><w:r><w:delText>gone</w:delText></w:r></w:del>
        <w:ins><w:r><w:t>, added</w:t></w:r></w:ins></w:p></w:body></w:document>""",
        footnotes=f"""<w:footnotes {W}><w:footnote w:type="separator"><w:p><w:r><w:t>-</w:t></w:r>
        </w:p></w:footnote><w:footnote><w:p><w:r><w:t>A note</w:t></w:r></w:p></w:footnote>
        </w:footnotes>""",
    )
    lines = read_word(body).text.split("\n")
    assert lines == ["in a box", "Before after, added", "A note"]


@pytest.mark.parametrize("host", ["schemas.openxmlformats.org", "purl.oclc.org"])
def test_formulas_and_symbols_are_read(host: str) -> None:
    strict = host == "purl.oclc.org"
    base = "http://purl.oclc.org/ooxml" if strict else "http://schemas.openxmlformats.org"
    word_names = f"{base}/wordprocessingml/{'main' if strict else '2006/main'}"
    math = f"{base}/officeDocument/{'math' if strict else '2006/math'}"
    xml = f"""<w:document xmlns:w="{word_names}" xmlns:m="{math}"><w:p><w:r><w:t>Tea</w:t>
    <w:sym w:font="Wingdings" w:char="F04A"/><w:t>is</w:t></w:r><m:oMath><m:f><m:num><m:r>
    <m:t> x</m:t></m:r></m:num><m:den><m:sSup><m:e><m:r><m:t>y</m:t></m:r></m:e><m:sup><m:r>
    <m:t>2</m:t></m:r></m:sup></m:sSup></m:den></m:f></m:oMath></w:p></w:document>"""
    assert read_word(written(xml)).text == "Tea is x/y^2"


def test_cells_stand_in_their_columns() -> None:
    document = Document()
    table = document.add_table(2, 4)
    for row, texts in enumerate(("abcd", "efgh")):
        for column, text in enumerate(texts):
            table.cell(row, column).text = text
    table.cell(0, 0).merge(table.cell(0, 2)).text = "wide"
    second = table.rows[1]._tr
    second.remove(second.tc_lst[0])
    second.get_or_add_trPr().append(docx_xml(f'<w:gridBefore {W} w:val="1"/>'))
    assert read_word(saved(document)).text == "wide\t\t\td\n\tf\tg\th"


def test_hidden_runs_are_left_out_by_themselves_and_by_their_style() -> None:
    document = Document()
    paragraph = document.add_paragraph("The ferry")
    paragraph.add_run(" unseen").font.hidden = True
    paragraph.add_run(" came").font.hidden = False
    secret = document.styles.add_style("Secret", WD_STYLE_TYPE.CHARACTER)
    secret.font.hidden = True
    derived = document.styles.add_style("Derived", WD_STYLE_TYPE.CHARACTER)
    derived.base_style = secret
    paragraph.add_run(" gone", "Secret")
    paragraph.add_run(" too", "Derived")
    shown = paragraph.add_run(" in.", "Derived")
    shown.font.hidden = False
    whole = document.styles.add_style("Draft", WD_STYLE_TYPE.PARAGRAPH)
    whole.font.hidden = True
    document.add_paragraph("A draft.", "Draft")
    document.add_paragraph("The end.")
    assert read_word(saved(document)).text == "The ferry came in.\nThe end."


def test_text_that_two_styles_hide_is_shown() -> None:
    styles = "".join(
        f'<w:style w:type="{kind}" w:styleId="{name}" {more}><w:rPr><w:vanish w:val="{value}"/>'
        "</w:rPr></w:style>"
        for kind, name, value, more in (
            *(("character", "Gone", 1, ""), ("character", "Shown", 0, "")),
            *(("paragraph", "Draft", 1, ""), ("table", "Grid", 1, "")),
            ("paragraph", "Normal", 1, 'w:default="1"'),
            ("paragraph", "Plain", 0, ""),
        )
    )

    def run(text: str, style: str) -> str:
        return f'<w:r><w:rPr><w:rStyle w:val="{style}"/></w:rPr><w:t>{text}</w:t></w:r>'

    def paragraph(runs: str, style: str) -> str:
        return f'<w:p><w:pPr><w:pStyle w:val="{style}"/></w:pPr>{runs}</w:p>'

    boxed = f"<w:txbxContent>{paragraph(run('box', ''), 'Plain')}</w:txbxContent>"
    parts = (
        paragraph(run("both", "Gone") + run("unseen", "") + run("off", "Shown"), "Draft"),
        f"<w:p>{run('default', 'Gone')}{run('unseen', '')}</w:p>",
        paragraph(run("unseen", "Gone") + run("plain", ""), "Plain"),
        '<w:tbl><w:tblPr><w:tblStyle w:val="Grid"/></w:tblPr><w:tr><w:tc>'
        f"{paragraph(run('table', 'Gone'), 'Plain')}</w:tc></w:tr></w:tbl>",
        paragraph(f"<w:r><w:rPr><w:vanish/></w:rPr>{boxed}</w:r>", "Plain"),
    )
    xml = f"<w:document {W}><w:body>{''.join(parts)}</w:body></w:document>"
    found = read_word(written(xml, styles=f"<w:styles {W}>{styles}</w:styles>"))
    assert found.text.split("\n") == ["bothoff", "default", "plain", "table", "box"]


def test_a_reading_stands_in_brackets_behind_its_characters() -> None:
    xml = f"""<w:document {W}><w:p><w:r><w:t>名は</w:t></w:r><w:r><w:ruby><w:rt><w:r>
    <w:t>かんじ</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>漢字</w:t></w:r></w:rubyBase></w:ruby>
    </w:r><w:r><w:t>です</w:t></w:r></w:p></w:document>"""
    assert read_word(written(xml)).text == "名は漢字（かんじ）です"


def test_formulas_of_slides_are_read() -> None:
    shown = Presentation()
    slide = shown.slides.add_slide(shown.slide_layouts[1])
    slide.shapes.title.text = "Tea"
    math = "http://schemas.openxmlformats.org/officeDocument/2006/math"
    formula = f'<m:oMath xmlns:m="{math}"><m:r><m:t> = 2</m:t></m:r></m:oMath>'
    slide.shapes.title.text_frame.paragraphs[0]._p.append(parse_xml(formula))
    assert read_slides(saved(shown)).text == "Tea = 2"


def test_a_strict_document_is_read() -> None:
    strict = "http://purl.oclc.org/ooxml/wordprocessingml/main"
    xml = f'<w:document xmlns:w="{strict}"><w:p><w:r><w:t>Words</w:t></w:r></w:p></w:document>'
    assert read_word(written(xml)).text == "Words"


@pytest.mark.parametrize(
    "xml",
    [
        "",
        "<w:document",
        "no XML",
        "<a>" * 10_000,
        '<!DOCTYPE a [<!ENTITY b "bb"><!ENTITY c "&b;&b;">]><a x="&c;">&c;</a',
    ],
)
def test_a_bad_part_has_a_reason(xml: str) -> None:
    with pytest.raises(UnreadableError) as caught:
        read_word(written(xml))
    assert caught.value.why == NoText.DAMAGED


def test_entities_that_multiply_have_a_reason() -> None:
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    xml = (
        f'<!DOCTYPE w [<!ENTITY l0 "lol">{laughs}]>'
        f"<w:document {W}><w:p><w:r><w:t>Words &l9; end</w:t></w:r></w:p></w:document>"
    )
    with pytest.raises(UnreadableError) as caught:
        read_word(written(xml))
    assert caught.value.why == NoText.DAMAGED


def test_entities_name_no_file_of_this_machine(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("a secret")
    xml = (
        f'<!DOCTYPE w [<!ENTITY f SYSTEM "{secret.as_uri()}">]>'
        f"<w:document {W}><w:p><w:r><w:t>Words &f; end</w:t></w:r></w:p></w:document>"
    )
    assert "secret" not in read_word(written(xml)).text


def test_an_archive_in_an_archive_stays_closed() -> None:
    entries: dict[str, str | bytes] = {**TYPES, "word/document.xml": word()}
    with pytest.raises(UnreadableError) as caught:
        read_word(packed(entries))
    assert caught.value.why == NoText.DAMAGED


def test_a_truncated_document_has_a_reason() -> None:
    with pytest.raises(UnreadableError) as caught:
        read_word(word()[:-200])
    assert caught.value.why == NoText.DAMAGED


def test_a_paragraph_of_many_runs_takes_linear_time() -> None:
    """Where a style hides words, the style of the paragraph is asked for at each run."""
    style = '<w:style w:type="character" w:styleId="Gone"><w:rPr><w:vanish/></w:rPr></w:style>'
    runs = "<w:r><w:t>x</w:t></w:r>" * 40_000
    xml = f"<w:document {W}><w:p>{runs}</w:p></w:document>"
    started = time.process_time()
    found = read_word(written(xml, styles=f"<w:styles {W}>{style}</w:styles>"))
    assert time.process_time() - started < 10
    assert found.text == "x" * 40_000
