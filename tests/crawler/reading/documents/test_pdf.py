from __future__ import annotations

import time
from contextlib import suppress

import pytest

pytest.importorskip("pypdfium2")

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crawler.reading.documents.document_text import DocumentText, UnreadableError
from crawler.reading.documents.pdf import read_pdf
from crawler.reading.documents.pdf_layout import Line, paragraphs
from crawler.reading.reading import NoText
from tests.crawler.reading.documents.made import Placed, pdf, wrapped

STORY = (
    "The harbour was quiet when the ferry came in, and nobody on the pier had seen the captain "
    "since the evening before. His cap lay on a bench beside a cup of tea that was still warm, "
    "and the gulls had taken what there was of his bread."
)
SECOND = (
    "Two days later a letter arrived at the town hall. It had been posted in a village that no "
    "map showed, and the mayor read it aloud to everyone who would listen."
)


def read(*pages: list[Placed], **options: str | tuple[str, ...]) -> DocumentText:
    return read_pdf(pdf(list(pages), **options), 20)  # type: ignore[arg-type]


def test_a_paragraph_is_one_line() -> None:
    first, second = wrapped(STORY), wrapped(SECOND, y=600)
    assert read(first + second).text.split("\n") == [STORY, SECOND]


def test_an_indented_line_begins_a_paragraph() -> None:
    first = wrapped(STORY)
    below = first[-1].y - 14.4
    second = wrapped(SECOND, y=below)
    second[0] = second[0]._replace(x=90)
    assert read(first + second).text.split("\n") == [STORY, SECOND]


def test_larger_lines_are_headings_and_stand_for_a_title() -> None:
    lines = [Placed("The captain", y=740, size=24), *wrapped(STORY)]
    lines += [Placed("The letter", y=590, size=16), *wrapped(SECOND, y=560)]
    found = read(lines)
    assert [block.kind for block in found.blocks] == ["h1", "p", "h2", "p"]
    assert found.headed().title == found.headed().heading == "The captain"


def test_a_word_divided_at_the_end_of_a_line_is_joined() -> None:
    lines = [
        Placed("All that the travellers could find of any infor-", y=700),
        Placed("mation was told in the old inn beside the road.", y=685.6),
    ]
    assert "any information was told" in read(lines).text


def test_a_paragraph_of_many_hyphens_takes_linear_time() -> None:
    text = "all that the travellers could find of any infor-"
    lines = [Line(text, 0, 72, 400, -14.4 * at, 12) for at in range(40_000)]
    started = time.process_time()
    (_, found), *others = paragraphs(lines)
    assert time.process_time() - started < 10
    assert not others
    assert found == text * 40_000


def test_a_hyphen_between_two_words_stays() -> None:
    lines = [
        Placed("She is well and known for it in the village, well-", y=700),
        Placed("known as her brother, and she is known abroad too.", y=685.6),
    ]
    assert "well-known as her brother" in read(lines).text


def framed(number: int, text: str, *, head: str = "The annual report") -> list[Placed]:
    foot = Placed(f"Page {number + 1} of 5", x=280, y=30, size=9)
    return [Placed(head, y=760, size=9), *wrapped(text), foot]


def test_what_stands_on_every_page_is_left_out() -> None:
    texts = [f"{STORY} Part {number} ends here." for number in range(5)]
    found = read(*[framed(number, text) for number, text in enumerate(texts)])
    assert found.text.split("\n") == texts


def test_numbers_of_pages_are_left_out_where_they_count() -> None:
    pages = [[*wrapped(f"{STORY} {n}."), Placed(str(n + 7), x=300, y=30)] for n in range(4)]
    assert read(*pages).text.split("\n") == [f"{STORY} {n}." for n in range(4)]


def test_a_line_that_not_all_pages_have_stays() -> None:
    pages = [framed(n, STORY, head="Chapter one" if n < 3 else "Chapter two") for n in range(5)]
    found = read(*pages).text
    assert found.count("Chapter one") == 3
    assert found.count("Chapter two") == 2


def test_two_pages_are_too_few_to_tell_what_is_repeated() -> None:
    assert read(*[framed(n, STORY) for n in range(2)]).text.count("The annual report") == 2


def test_a_sentence_goes_on_over_the_end_of_a_page() -> None:
    lines = wrapped(STORY)
    found = read(lines[:3], [line._replace(y=700 - at * 14.4) for at, line in enumerate(lines[3:])])
    assert found.text == STORY


def test_chinese_lines_are_joined_without_spaces() -> None:
    text = "这是一个很长的中文段落它没有任何空格所以在行尾断开的时候不应该插入空格"
    lines = [Placed(text[at : at + 12], y=700 - at) for at in range(0, len(text), 12)]
    assert read(lines).text == text


def test_arabic_and_hebrew_keep_their_order() -> None:
    # Written as programs do: the glyphs from left to right.
    arabic, hebrew = "مرحبا بالعالم الكبير", "שלום לכל העולם"
    found = read([Placed(arabic[::-1]), Placed(hebrew[::-1], y=600)])
    assert found.text.split("\n") == [arabic, hebrew]


def test_metadata_and_links_are_read() -> None:
    found = read(
        wrapped(STORY),
        links=("http://other.test/a", "chapter2.pdf"),
        info="/Title (The captain) /Author (A. Writer) /CreationDate (D:20240531120000Z)",
        catalog="/Lang (en-GB)",
    )
    assert found.metadata[:4] == ("The captain", "A. Writer", "2024-05-31", "en-GB")
    assert dict(found.metadata.sources) == {
        "title": "pdf:Title",
        "author": "pdf:Author",
        "date": "pdf:CreationDate",
        "language": "pdf:Lang",
    }
    assert found.links == ["http://other.test/a", "chapter2.pdf"]


PRINTED = "/Producer (Skia/PDF m120)"


@pytest.mark.parametrize(
    "mark", ["/Artifact BMC", "/Artifact <</Type/Layout>> BDC", "/Span <</ActualText ()>> BDC"]
)
def test_what_is_marked_on_a_printed_page_is_read_all_the_same(mark: str) -> None:
    price = Placed("The price of it is seven crowns a day.", y=400, mark=mark)
    found = read([*wrapped(STORY), price], info=PRINTED)
    assert [block.text for block in found.blocks] == [STORY, price.text]


def test_headers_and_footers_of_a_printed_page_are_left_out() -> None:
    footer = Placed("Page one of nine", y=40, mark="/Artifact <</Type/Pagination>> BDC")
    assert [block.text for block in read([*wrapped(STORY), footer], info=PRINTED).blocks] == [STORY]


def test_a_printed_page_that_says_more_than_a_page_can_is_left_to_pdfium() -> None:
    said = f"/Span <</ActualText ({'a ' * 600_000})>> BDC"
    marked = [Placed("x", y=300 - at, mark=said) for at in range(4)]
    found = read([*wrapped(STORY), *marked], info=PRINTED)
    assert found.blocks[0].text == STORY
    assert sum(len(block.text) for block in found.blocks) < 40_000


def test_forms_within_forms_that_multiply_are_left_to_pdfium() -> None:
    ten = "/X Do " * 10
    first, *others = wrapped(STORY)
    page = [first._replace(mark=f"{ten}/P BMC"), *others]
    body = pdf([page], info=PRINTED, forms=(ten.encode(),) * 5 + (b"q Q",))
    assert [block.text for block in read_pdf(body, 4).blocks] == [STORY]


@pytest.mark.parametrize("title", ["untitled", "Microsoft Word - draft.doc", "paper.dvi"])
def test_a_title_that_a_program_made_up_is_none(title: str) -> None:
    assert read(wrapped(STORY), info=f"/Title ({title})").metadata.title is None


def test_a_line_of_odd_spaces_alone_is_left_out() -> None:
    lines = wrapped(STORY)
    odd = Placed("\x01\xa0\x01", y=lines[-1].y - 14.4)
    assert read([*lines, odd, *wrapped(SECOND, y=600)]).text.split("\n") == [STORY, SECOND]


@pytest.mark.parametrize("stamp", ["Scanned with CamScanner", "a1 |"])
def test_a_scan_with_a_stamp_is_no_text(stamp: str) -> None:
    with pytest.raises(UnreadableError, match="a scan") as caught:
        read([Placed(stamp)], [])
    assert caught.value.why == NoText.EMPTY


def test_one_page_in_full_is_a_text_beside_empty_ones() -> None:
    assert read(wrapped(STORY), [], []).text == STORY


def test_a_page_without_text_gives_none() -> None:
    assert read([]).blocks == []


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"%PDF-1.7\n", NoText.DAMAGED),
        (b"%PDF-1.7\n" + bytes(range(256)) * 100, NoText.DAMAGED),
        (pdf([wrapped(STORY)])[:300], NoText.DAMAGED),
    ],
)
def test_what_cannot_be_opened_has_a_reason(body: bytes, why: NoText) -> None:
    with pytest.raises(UnreadableError) as caught:
        read_pdf(body, 20)
    assert caught.value.why == why


def test_an_encrypted_document_has_a_reason() -> None:
    locked = pdf([wrapped(STORY)]).replace(
        b"/Info 6 0 R",
        b"/Info 6 0 R /ID [<00112233445566778899aabbccddeeff> <00112233445566778899aabbccddeeff>]"
        b" /Encrypt << /Filter /Standard /V 2 /R 3 /Length 128 /P -3904"
        b" /O <%b> /U <%b> >>" % (b"41" * 32, b"42" * 32),
    )
    with pytest.raises(UnreadableError) as caught:
        read_pdf(locked, 20)
    assert caught.value.why == NoText.ENCRYPTED


def test_more_pages_than_the_time_allows_are_refused() -> None:
    with pytest.raises(UnreadableError) as caught:
        read_pdf(pdf([wrapped(STORY)] * 2000), 0.05)
    assert caught.value.why == NoText.TOO_LARGE


class TestDamagedProperties:
    @settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(st.lists(st.tuples(st.integers(0, 1 << 14), st.integers(0, 255)), max_size=30))
    def test_any_damage_is_read_or_refused_with_a_reason(
        self, damage: list[tuple[int, int]]
    ) -> None:
        body = bytearray(pdf([wrapped(STORY)], links=("http://a.test/",)))
        for place, value in damage:
            body[place % len(body)] = value
        with suppress(UnreadableError):
            read_pdf(bytes(body), 20)
