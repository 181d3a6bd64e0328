"""What is compared, a text or a stored page, and the comparison as lines and cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.lab.app.compare_tab import (
    bit_cells,
    find,
    is_url,
    pair_lines,
    side_lines,
    verdict_lines,
)
from crawler.lab.comparison import compare
from crawler.lab.crawl_source import SourceError, open_sources
from crawler.lab.session import Session
from tests.crawler.lab.crawls import make_text_crawl
from tests.sites.prose import prose

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.lab.sides import TextSide


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = ((f"http://a.example/{n % 2}", f"text {n} is here") for n in range(4))
    return make_text_crawl(tmp_path, rows)


def found(given: str, folder: Path) -> TextSide:
    sources = open_sources([folder])
    session = Session(sources.texts, sources.parameters(), sources.boilerplate)
    while pages := sources.read_new():
        session.extend(pages)
    return find(given, session, sources)


def test_a_text_is_what_it_is(folder: Path) -> None:
    one = found("  some words\nand more ", folder)
    assert (one.text, one.name) == ("  some words\nand more ", "")


def test_a_url_is_its_newest_page(folder: Path) -> None:
    one = found(" http://a.example/1\n", folder)
    assert one.text == "text 3 is here"
    assert one.name == "http://a.example/1"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("", "are needed"),
        (" \n\t", "are needed"),
        ("http://a.example/2", "no page with a text.*the lab fetches nothing"),
        ("http://b.example/1", "did you mean http://a.example/1\\? \\(the lab"),
        ("http://a.example/\u202e", "⟨U\\+202E⟩"),
    ],
)
def test_nothing_is_found_elsewhere(given: str, words: str, folder: Path) -> None:
    with pytest.raises(SourceError, match=words):
        found(given, folder)


def test_a_text_that_begins_with_an_address_is_a_text() -> None:
    assert is_url("HTTP://a.example/?q")
    assert not is_url("http://a.example/ says so")
    assert not is_url("file:///etc/passwd")
    assert not is_url("a.example")


WORDS = st.lists(st.sampled_from("a few words of which texts are made".split()), max_size=80)


class TestLines:
    def test_every_measure_has_a_line(self) -> None:
        found = compare(prose("one", 100), prose("one", 100))
        said = dict(pair_lines(found, 0.8))
        assert said["digests"] == "equal"
        assert said["Hamming distance"] == "0 bits"
        assert said["Jaccard, exact"] == "1.000"
        assert said["Jaccard by MinHash"].startswith("1.000 ± ")
        assert said["names"] == "no difference"
        assert said["share a band"] == "yes"
        assert len(said) == 13
        assert [bits for bits, _, _ in verdict_lines(found)] == list("012345678")

    def test_texts_without_words_have_no_distance(self) -> None:
        found = compare("", "!")
        assert dict(pair_lines(found, 0.8))["Hamming distance"] == "–"
        assert bit_cells(found) == []
        assert len(list(side_lines(found))) == 5


class TestCellProperties:
    @given(WORDS, WORDS)
    def test_so_many_cells_differ_as_there_are_bits_of_distance(
        self, first: list[str], second: list[str]
    ) -> None:
        found = compare(" ".join(first), " ".join(second))
        cells = bit_cells(found)
        if found.distance is None:
            assert cells == []
            return
        assert len(cells) == 64
        assert sum(kind == "bit differs" for kind, _ in cells) == found.distance
        ours = int("".join(words.split(": ")[1][0] for _, words in cells), 2)
        assert ours == found.first.fingerprint
