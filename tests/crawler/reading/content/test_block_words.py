"""Tests of what the words of blocks tell, and of the descriptions that a page has of itself."""

from __future__ import annotations

import json
import re
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.reading.content.block_features import BlockWords, page_descriptions
from crawler.reading.html_parsing import parse

_TEXTS = st.lists(
    st.lists(
        st.text(min_size=1, max_size=9) | st.sampled_from(["I", "Reviews", "cookies,", "you!"])
    )
    .map(lambda words: " ".join(" ".join(words).split()))
    .filter(bool)
)


def described(*texts: str, by: str) -> list[float]:
    found: list[float] = BlockWords(texts, "", [by]).described.tolist()
    return found


def descriptions_of(head: str) -> list[str]:
    root = parse(f"<head>{head}</head><p>x".encode())
    return page_descriptions(root.iter("meta", "script"))


class TestBlockWords:
    def test_words_are_counted_whatever_their_case_and_the_sign_behind_them(self) -> None:
        words = BlockWords(["I think you, and YOU!", "Our cookies: we use cookies."], "", [])
        assert words.counts.tolist() == [[1, 0], [0, 2], [2, 0], [0, 0], [0, 2]]

    def test_share_of_a_description_is_of_runs_of_three_words_within_a_block(self) -> None:
        by = "a fine pan of cast iron for every stove"
        assert described("A fine pan of cast iron", "cast iron", "Buy a fine pan", by=by) == [
            1,
            0,
            0.75,
        ]

    def test_a_run_does_not_go_on_in_the_next_block(self) -> None:
        assert described("one two", "three four", by="one two three four") == [0, 0]

    def test_words_of_the_title_are_shares_of_the_block_and_of_the_title(self) -> None:
        words = BlockWords(["Cast Iron", "iron age here now"], "cast iron", [])
        assert words.titled.tolist() == [1, 0.25]
        assert words.of_title.tolist() == [1, 0.5]

    def test_blocks_below_a_heading_know_its_kind_and_distance(self) -> None:
        texts = ["Customer reviews", "I like it.", "Very much.", "Shipping", "It takes a week."]
        words = BlockWords(texts, "", [])
        heading = np.array([2.0, 0, 0, 2, 0])
        ends = np.array([0.0, 1, 1, 0, 1])
        chars = np.array([float(len(text)) for text in texts])
        below, distance = words.below_headings(heading, chars, ends)[:2]
        assert below.tolist() == [1, 1, 1, 0, 0]
        assert np.expm1(distance).round().tolist() == [0, 1, 2, 3, 4]

    def test_only_the_start_of_a_block_is_looked_at(self) -> None:
        words = BlockWords(["I " * 749 + "I " + "you " * 10_000 + "you"], "", [])
        assert words.counts[:3, 0].tolist() == [750, 0, 0]


class TestBlockWordsProperties:
    @given(_TEXTS, st.text())
    def test_shares_are_of_the_words_of_each_block(self, texts: list[str], title: str) -> None:
        words = BlockWords(texts, title, texts)
        for shares in (words.titled, words.described):
            assert shares.shape == (len(texts),)
            assert ((shares >= 0) & (shares <= 1)).all()
        assert (words.counts <= words.sizes).all()

    @given(_TEXTS, _TEXTS)
    def test_a_block_counts_the_same_on_every_page(self, some: list[str], more: list[str]) -> None:
        alone, together = BlockWords(some, "a b", []), BlockWords([*some, *more], "a b", [])
        assert (together.counts[:, : len(some)] == alone.counts).all()
        assert (together.titled[: len(some)] == alone.titled).all()

    @given(_TEXTS, _TEXTS)
    def test_words_equal_those_that_are_looked_for_one_by_one(
        self, texts: list[str], descriptions: list[str]
    ) -> None:
        by = [*descriptions, *texts[::3], *texts[::3]]
        title = " ".join(texts[:1]).lower()
        words = BlockWords(texts, title, by)
        runs = {run for text in by for run in runs_of(text.lower().split())}
        assert words.descriptions == sum(len(text.split()) for text in by)
        for at, text in enumerate(texts):
            its = text.lower().split(" ")
            marked = {place + shift for place in places_of(its, runs) for shift in range(3)}
            assert words.sizes[at] == len(its)
            assert words.described[at] == len(marked) / len(its)
            assert words.titled[at] == sum(word in title.split() for word in its) / len(its)
            assert words.counts[2, at] == sum(map(is_you, its))


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
