from __future__ import annotations

from dataclasses import replace

import pytest

from crawler.reading.content.main_content import read_content
from crawler.reading.flat_page import flatten
from crawler.reading.html_parsing import parse
from crawler.reading.page_reading import PageReader
from crawler.reading.protocol import ReadingOptions
from crawler.reading.reading import ReadingTask
from crawler.reading.text import (
    MAX_COMPARED_CHARACTERS,
    JudgedText,
    Visible,
    is_credible,
    judge_page,
    tidy,
)
from crawler.reading.visible_text import read_visible
from neardup import Deduplicator, Document, Parameters, analyse
from neardup.fingerprints.digest import text_digest
from neardup.names import Name, unpacked
from neardup.whole import part_of
from tests.crawler.reading.pages import NAVIGATION, PROSE, article, page, read_page
from tests.sites.prose import prose

PARAMETERS = Parameters()
NOTICE = (
    "This index lists every entry whose name begins with the letter at the top of the page. Follow "
    "an entry to read about it, or choose another letter to see its entries. Entries that are out "
    "of date are kept for the sake of old books that refer to them, and are marked as such in the "
    "right hand column of the list, where it is shown."
)


def judged(body: bytes) -> JudgedText:
    root = parse(body)
    return judge_page(read_content(root, flatten(root)).text, read_visible(flatten(root)))


def document_of(body: bytes) -> Document:
    reading = read_page("http://site.test/", body, "text/html", ReadingOptions())
    document = reading.document(50)
    assert document is not None
    return document


def test_an_article_is_judged_by_its_main_text() -> None:
    document = document_of(article(before=f"<nav><ul>{NAVIGATION[:400]}</ul></nav>"))
    assert document.text.split() == ["Lamps", *PROSE.split()]
    assert document == replace(analyse(document.text), name=document.name)
    assert unpacked(document.name) == Name("A title", "Lamps")
    assert document.fingerprint is not None


def test_articles_of_the_same_main_text_are_duplicates_whatever_stands_around() -> None:
    one = document_of(article(before="<nav><a href=/a>Home of lamps</a></nav>"))
    other = document_of(article(after="<footer><a href=/b>Imprint</a></footer>"))
    assert one.digest == other.digest


def test_a_short_page_is_judged_by_the_equality_of_all_that_is_visible() -> None:
    document = document_of(article("Only a few words.", after="<footer>Imprint</footer>"))
    assert document.fingerprint is None
    assert document.digest == text_digest("Lamps Only a few words. Imprint")
    assert "Only a few words." in document.text
    assert document.words == analyse(document.text).words


def test_which_text_is_short_is_decided_when_it_is_judged() -> None:
    body = article("Only a few words.", after="<footer>Imprint</footer>")
    extract = read_page("http://site.test/", body, "text/html", ReadingOptions()).extract
    assert extract is not None
    analysed = analyse(extract.judged_text, Parameters(min_words=3))
    assert extract.document(3) == replace(analysed, name="")
    assert extract.document(50).fingerprint is None
    assert extract.digests == {extract.document(3).digest, extract.document(50).digest}


def test_short_pages_differ_by_what_stands_around_their_main_text() -> None:
    one = document_of(article("Nothing uses this.", before="<h2>Uses of Alpha</h2>"))
    other = document_of(article("Nothing uses this.", before="<h2>Uses of Beta</h2>"))
    assert one.digest != other.digest


def test_pages_with_the_same_long_navigation_are_not_near_duplicates() -> None:
    deduplicator = Deduplicator(PARAMETERS)
    for number, text in enumerate((PROSE, " ".join(reversed(PROSE.split())))):
        body = article(text, before=f"<ul>{NAVIGATION}{NAVIGATION}</ul>")
        assert not deduplicator.judge_document(number, document_of(body)).is_duplicate


def test_indexes_with_the_same_introduction_are_not_duplicates() -> None:
    deduplicator = Deduplicator(PARAMETERS)
    for number, letter in enumerate("ABC"):
        entries = "".join(f"<a href=/{letter}{n}>{letter}{n} entry</a> " for n in range(200))
        document = document_of(page(f"<article><p>{NOTICE}</p></article><div>{entries}</div>"))
        assert not deduplicator.judge_document(number, document).is_duplicate


def test_tables_that_the_extraction_drops_are_not_lost() -> None:
    deduplicator = Deduplicator(PARAMETERS)
    for number in range(3):
        rows = "".join(
            f"<div class=menu>Lamp {number}{row} burnt for {row * 7 % 23} hours</div>"
            for row in range(80)
        )
        document = document_of(page(f"<article><p>{NOTICE}</p></article>{rows}"))
        assert not deduplicator.judge_document(number, document).is_duplicate


def test_a_page_without_main_text_is_stored_with_all_that_is_visible() -> None:
    body = page("<nav><a href=/a>One</a> <a href=/b>Two</a></nav>")
    document = document_of(body)
    assert document.text.split() == ["One", "Two"]
    assert document.fingerprint is None


@pytest.mark.parametrize("body", [b"", b"<!-- x -->", page("")])
def test_an_empty_page_has_an_empty_text(body: bytes) -> None:
    document = document_of(body)
    assert (document.words, document.text, document.fingerprint) == (0, "", None)
    assert document.digest == text_digest("")


def test_a_page_nested_2000_deep_keeps_its_text() -> None:
    body = page("<div>" * 2000 + f"<p>{PROSE}</p>" + "</div>" * 2000)
    assert PROSE in document_of(body).text


def test_comments_of_readers_belong_to_the_text() -> None:
    comments = "<div class=comments><p>I climbed those steps once, and it was foggy.</p></div>"
    assert "I climbed those steps" in document_of(article(after=comments)).text


def test_the_tree_is_not_changed() -> None:
    root = parse(article(before=f"<ul>{NAVIGATION}</ul>"))
    before = list(root.itertext())
    read_content(root, flatten(root))
    assert list(root.itertext()) == before


@pytest.mark.parametrize(
    ("main", "visible", "unlinked", "credible"),
    [
        (100, 100, 100, True),
        (100, 500, 100, True),
        (100, 501, 100, False),
        (100, 400, 300, True),
        (100, 400, 301, False),
        (10, 0, 0, True),
    ],
)
def test_credible_is_a_fifth_of_the_page_and_a_third_outside_links(
    main: int, visible: int, unlinked: int, credible: bool
) -> None:
    shown = Visible("\n x\t" * visible, "x\xa0 " * unlinked)
    assert is_credible("x " * main, shown) is credible


def test_a_huge_text_is_compared_by_equality() -> None:
    words = " ".join(f"w{number % 90_000}" for number in range(400_000))
    body = page(f"<main><article><p>{words} Caf\u00e9</p></article></main>")
    reader = PageReader(ReadingOptions())
    parsed = reader.see(reader.parse(ReadingTask("http://site.test/", body, "text/html")))
    extract = reader.extract().extract
    assert extract.words == 400_001
    assert (extract.is_main, extract.fingerprint) == (False, None)
    assert len(extract.text) > MAX_COMPARED_CHARACTERS
    assert extract.document(50).digest == parsed.visible_digest
    plain = ReadingTask("http://site.test/", words.encode(), "text/plain", kind="text")
    reader.see(reader.parse(plain))
    extract = reader.extract().extract
    assert (extract.words, extract.is_main, extract.fingerprint) == (400_000, False, None)


@pytest.mark.parametrize(
    "choice",
    [
        "<select><option>{}<option>48</select>",
        "<select><optgroup label=Sizes><option>{}</optgroup></select>",
        "<label><input type=radio> {}</label>",
        "<button>{}</button>",
        "<label>Size <select><option>{}</select></label>",
    ],
)
@pytest.mark.parametrize("words", [12, 200])
def test_pages_that_differ_in_what_is_to_choose_have_other_texts(choice: str, words: int) -> None:
    text = f"<article><p>{prose('A coat', words)}</p>{choice}</article>"
    one, other = (document_of(page(text.format(size))) for size in ("44", "46"))
    assert one.digest != other.digest
    assert one.digest == document_of(page(text.format("44"))).digest


def test_what_is_to_choose_does_not_hide_the_main_text() -> None:
    countries = "".join(f"<option>Country {number} of the world" for number in range(30))
    document = document_of(article(after=f"<form><select>{countries}</select></form>"))
    assert document.fingerprint is not None
    assert part_of(document.text).strip() == part_of(document_of(article()).text).strip()


def test_tidy_leaves_lines_of_words() -> None:
    assert tidy(" \n one \t two\xa0three \n\n\n four\n ") == "one two three\nfour"
