"""Tests of what the words of blocks tell, and of the descriptions that a page has of itself."""

from __future__ import annotations

import json
import re
import time
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.reading.content.block_features import PageFeatures, PageWords, page_descriptions
from crawler.reading.content.blocks import cut_blocks
from crawler.reading.content.kernels import ROWS_OF_FLAGS, TEXT_COLUMNS, read_texts
from crawler.reading.flat_page import flatten
from crawler.reading.html_parsing import parse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_TEXTS = st.lists(
    st.lists(
        st.text(min_size=1, max_size=9) | st.sampled_from(["I", "Reviews", "cookies,", "you!"])
    )
    .map(lambda words: " ".join(" ".join(words).split()))
    .filter(bool)
)


class Counts(NamedTuple):
    """Numbers of words of each text: of each kind, of the title, in runs of descriptions, all."""

    of_kinds: NDArray[np.float64]
    titled: NDArray[np.float64]
    described: NDArray[np.float64]
    tokens: NDArray[np.float64]


def counts_of(texts: list[str], title: str = "", descriptions: Sequence[str] = ()) -> Counts:
    columns, _ = read_texts(texts, PageWords(title, descriptions))
    first = TEXT_COLUMNS.index("i")
    return Counts(columns[first:-3], *columns[-3:])


def described(*texts: str, by: str) -> list[float]:
    found: list[float] = counts_of([*texts], descriptions=[by]).described.tolist()
    return found


def features_of(html: str) -> list[list[float]]:
    """Return of each block the shares of and in the title, whether below reviews, how far."""
    root = parse(html.encode())
    rows = PageFeatures(cut_blocks(flatten(root)), root).blocks.T
    found: list[list[float]] = rows[ROWS_OF_FLAGS - 20 : ROWS_OF_FLAGS - 16].tolist()
    return found


def descriptions_of(head: str) -> list[str]:
    root = parse(f"<head>{head}</head><p>x".encode())
    return page_descriptions(root.iter("meta", "script"))


class TestBlockWords:
    def test_words_are_counted_whatever_their_case_and_the_sign_behind_them(self) -> None:
        words = counts_of(["I think you, and YOU!", "Our cookies: we use cookies."])
        assert words.of_kinds.tolist() == [[1, 0], [0, 2], [2, 0], [0, 0], [0, 2]]

    def test_share_of_a_description_is_of_runs_of_three_words_within_a_block(self) -> None:
        by = "a fine pan of cast iron for every stove"
        assert described("A fine pan of cast iron", "cast iron", "Buy a fine pan", by=by) == [
            6,
            0,
            3,
        ]

    def test_a_run_does_not_go_on_in_the_next_block(self) -> None:
        assert described("one two", "three four", by="one two three four") == [0, 0]

    def test_words_of_the_title_are_shares_of_the_block_and_of_the_title(self) -> None:
        html = "<title>Cast Iron</title><p>Cast Iron<p>iron age here now"
        assert features_of(html)[:2] == [[1, 0.25], [1, 0.5]]

    def test_blocks_below_a_heading_know_its_kind_and_distance(self) -> None:
        headings = ("<h2>Customer reviews</h2>", "<h2>Shipping</h2>")
        html = f"{headings[0]}<p>I like it.<p>Very much.{headings[1]}<p>It takes a week."
        _, _, below, distance = features_of(html)
        assert below == [1, 1, 1, 0, 0]
        assert np.expm1(distance).round().tolist() == [0, 1, 2, 3, 4]

    def test_only_the_start_of_a_block_is_looked_at(self) -> None:
        words = counts_of(["I " * 749 + "I " + "you " * 10_000 + "you"])
        assert words.of_kinds[:3, 0].tolist() == [750, 0, 0]


class TestBlockWordsProperties:
    @given(_TEXTS, st.text())
    def test_words_are_those_of_each_block(self, texts: list[str], title: str) -> None:
        words = counts_of(texts, title, texts)
        for counts in (words.titled, words.described, *words.of_kinds):
            assert counts.shape == (len(texts),)
            assert ((counts >= 0) & (counts <= words.tokens)).all()

    @given(_TEXTS, _TEXTS)
    def test_a_block_counts_the_same_on_every_page(self, some: list[str], more: list[str]) -> None:
        alone, together = counts_of(some, "a b"), counts_of([*some, *more], "a b")
        assert (together.of_kinds[:, : len(some)] == alone.of_kinds).all()
        assert (together.titled[: len(some)] == alone.titled).all()

    @given(_TEXTS, _TEXTS)
    def test_words_equal_those_that_are_looked_for_one_by_one(
        self, texts: list[str], descriptions: list[str]
    ) -> None:
        by = [*descriptions, *texts[::3], *texts[::3]]
        title = " ".join(texts[:1]).lower()
        words = counts_of(texts, title, by)
        runs = {run for text in by for run in runs_of(text.lower().split())}
        assert PageWords(title, by).described == sum(len(text.split()) for text in by)
        for at, text in enumerate(texts):
            its = text.lower().split(" ")
            marked = {place + shift for place in places_of(its, runs) for shift in range(3)}
            assert words.tokens[at] == len(its)
            assert words.described[at] == len(marked)
            assert words.titled[at] == sum(word in title.split() for word in its)
            assert words.of_kinds[2, at] == sum(map(is_you, its))


def is_you(word: str) -> bool:
    return re.fullmatch("(?:you|yours?)[,.!?:;]?", word) is not None


def runs_of(words: list[str]) -> list[tuple[str, ...]]:
    return list(zip(words, words[1:], words[2:], strict=False))


def places_of(words: list[str], runs: set[tuple[str, ...]]) -> list[int]:
    return [place for place, run in enumerate(runs_of(words)) if run in runs]


class TestPageDescriptions:
    @pytest.mark.parametrize(
        "head",
        [
            '<meta name="Description" content="A fine pan">',
            '<meta property="og:description" content="A fine pan">',
            '<script type="application/ld+json">{"description" : "A fine pan"}</script>',
            '<script type="application/ld+json">{"description": "A fine pan", broken</script>',
            '<script type="application/ld+json">[{"articleBody": "A \\u0066ine pan"}]</script>',
        ],
    )
    def test_a_page_describes_itself(self, head: str) -> None:
        assert descriptions_of(head) == ["A fine pan"]

    def test_markup_in_a_description_is_left_out(self) -> None:
        data = json.dumps({"description": "<p>A <b>fine</b> pan</p>"}).replace("</", "<\\/")
        head = f'<script type="application/ld+json">{data}</script>'
        found = descriptions_of(head)
        assert [text.split() for text in found] == [["A", "fine", "pan"]]

    @pytest.mark.parametrize("piece", ['"description": "', '"description": "\\', "<", '\\"'])
    def test_odd_data_take_no_time_squared(self, piece: str) -> None:
        head = f'<script type="application/ld+json">{piece * 60_000}</script>'
        started = time.process_time()
        descriptions_of(head)
        assert time.process_time() - started < 2
