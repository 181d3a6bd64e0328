"""Tests of ``neardup.boilerplate``: blocks, what is marked, and what is left to compare."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neardup import Parameters
from neardup.boilerplate import (
    MAX_BLOCKS,
    MAX_COUNTED_BLOCKS,
    MAX_LINE_CHARACTERS,
    NO_HASH,
    RestComparison,
    block_hashes,
    blocks,
    boilerplate_spans,
    rest_of,
)
from neardup.whole import with_whole
from tests.neardup.texts import prose

TEXTS = st.text(st.characters(codec="utf-8") | st.sampled_from("\n\n a1"))
LONG_LINES = st.integers(0, 2**32).map(lambda seed: prose(seed, 400))  # some 1,700 characters


def hashes(text: str) -> set[int]:
    return set(np.frombuffer(block_hashes(text), "<u8").tolist())


def lines(*numbers: int) -> str:
    return "\n".join(f"this is the line of number {number}" for number in numbers)


def spoken(text: str) -> list[str]:
    return [text[block.start : block.end] for block in blocks(text)]


class TestBlocks:
    @pytest.mark.parametrize(
        ("first", "second"),
        [
            ("All rights reserved", "all  RIGHTS reserved "),
            ("Page made at 12:37:40", "Page made at 07:22:12"),
            ("12,345 visitors so far", "987 visitors so far"),
            ("(c) 2019 Widgets", "(c) 2024 Widgets"),
        ],
    )
    def test_what_changes_at_each_request_makes_no_other_block(
        self, first: str, second: str
    ) -> None:
        assert hashes(first) == hashes(second) != set()

    @pytest.mark.parametrize(("first", "second"), [("Section 12", "Section 13"), ("a b", "b a")])
    def test_what_says_something_else_is_another_block(self, first: str, second: str) -> None:
        assert hashes(first).isdisjoint(hashes(second))

    def test_blocks_without_a_letter_do_not_count(self) -> None:
        assert hashes("12.50\n\n---\n\N{EURO SIGN}") == set()

    def test_long_lines_of_scripts_without_spaces_are_cut(self) -> None:
        source = random.Random(1)
        line = "".join(chr(source.randrange(0x4E00, 0x9000)) for _ in range(4000))
        assert len(spoken(line)) > 40

    def test_a_whole_has_blocks_too(self) -> None:
        assert block_hashes(with_whole(lines(1, 2), lines(2, 3))) == block_hashes(lines(1, 2, 3))

    def test_no_more_blocks_than_stated_are_counted(self) -> None:
        counted = block_hashes(lines(*range(MAX_COUNTED_BLOCKS + 10)))
        assert counted == block_hashes(lines(*range(MAX_COUNTED_BLOCKS)))

    @pytest.mark.parametrize("text", ["\u4e18" * 1_000_000, "7\n" * 600_000, "word " * 200_000])
    def test_hostile_texts_have_a_bounded_number(self, text: str) -> None:
        found = list(blocks(text))
        assert len(found) <= MAX_BLOCKS
        assert "".join(text[start:end] for start, end, _ in found) == text


class TestBlocksProperties:
    @given(TEXTS | LONG_LINES)
    def test_concatenated_they_are_the_text(self, text: str) -> None:
        assert "".join(spoken(text)) == text
        assert all(block.start < block.end for block in blocks(text))

    @given(LONG_LINES, LONG_LINES, st.data())
    @settings(max_examples=50)
    def test_an_insertion_changes_no_block_but_those_around_it(
        self, line: str, inserted: str, data: st.DataObject
    ) -> None:
        place = data.draw(st.integers(0, len(line)))
        before, after = spoken(line), spoken(line[:place] + inserted + line[place:])
        ends = np.cumsum([len(one) for one in before]).tolist()
        left = sum(end <= place - 1 for end in ends)
        # A cut is told by the 16 characters before it, and by the 32 places before.
        right = sum(end < place + 48 for end in ends) + 1
        assert after[:left] == before[:left]
        assert after[len(after) - len(before[right:]) :] == before[right:]

    @given(st.text(max_size=2 * MAX_LINE_CHARACTERS, alphabet="ab1 \n"))
    def test_the_same_lines_have_the_same_hashes_wherever_they_stand(self, text: str) -> None:
        assert hashes(text) == hashes("\n".join(reversed(text.split("\n"))))


def without_spans(text: str, spans: list[tuple[int, int]]) -> str:
    """Return a text without some spans, such as those of ``boilerplate_spans``."""
    bounds = [0, *(place for span in spans for place in span), len(text)]
    kept = (text[start:end] for start, end in zip(bounds[::2], bounds[1::2], strict=True))
    return "".join(kept).strip("\n") if spans else text


class TestSpans:
    def test_neighbours_are_one_span(self) -> None:
        text = lines(1, 2, 3, 4)
        spans = boilerplate_spans(text, hashes(lines(2, 3)))
        assert [text[start:end] for start, end in spans] == [lines(2, 3) + "\n"]

    @pytest.mark.parametrize("rest", ["", "\n12.50", "\n---"])
    def test_a_text_that_is_boilerplate_alone_stays_whole(self, rest: str) -> None:
        text = lines(1, 2) + rest
        assert boilerplate_spans(text, hashes(text)) == []

    @given(TEXTS, st.data())
    def test_what_is_marked_is_boilerplate_alone(self, text: str, data: st.DataObject) -> None:
        found = sorted(hashes(text))
        marked = set(data.draw(st.lists(st.sampled_from(found)))) if found else set()
        wanted = "".join(
            text[block.start : block.end] for block in blocks(text) if block.hash in marked
        )
        if not any(block.hash not in {*marked, NO_HASH} for block in blocks(text)):
            wanted = ""
        spans = boilerplate_spans(text, marked)
        assert "".join(text[start:end] for start, end in spans) == wanted


class TestRests:
    TEMPLATE = lines(*range(20))

    def says_other(self, first: str, second: str, known: set[int] | None = None) -> bool:
        template = hashes(self.TEMPLATE) if known is None else known
        comparison = RestComparison(first, template, Parameters())
        return comparison.says_other_than(second, template)

    def page(self, *own: str) -> str:
        return "\n".join([self.TEMPLATE, *own])

    def test_pages_on_one_template_that_share_nothing_else_are_two(self) -> None:
        first = self.page("Section 12", "The fee under section 12 is 500 crowns.")
        second = self.page("Section 13", "The fee under section 13 is 720 crowns.")
        assert self.says_other(first, second)
        assert not self.says_other(first, second, known=set())

    @pytest.mark.parametrize(
        "changed",
        [
            ("Page made at 12:30:00", "Page made at 12:31:07"),
            ("4,031 visitors so far", "12 visitors so far"),
            ("", "We collect old brackets free of charge, if you buy a new one."),
        ],
    )
    def test_what_changes_or_is_added_makes_no_other_page(self, changed: tuple[str, str]) -> None:
        first, second = (self.page("The fee under section 12 is 500.", one) for one in changed)
        assert not self.says_other(first, second)
        assert not self.says_other(second, first)

    @pytest.mark.parametrize(
        ("first", "second"),
        [
            (("Ledger Saddle", "Room 103"), ("Velvet Engine", "Room 109")),
            (("Ledger Saddle",), ("The fee under section 13 is 720 crowns.",)),
            (("red",), ("blue",)),
            (("Room 12",), ("Room 14",)),
            (("12 crowns",), ("14 crowns",)),
            (("山田太郎",), ("鈴木花子",)),
            (("allowed",), ("not allowed",)),
            (("a < b",), ("a <= b",)),
            (("a + b",), ("a - b",)),
            (("\N{PINEAPPLE}",), ("\N{KIWIFRUIT}",)),
            (("-5",), ("+5",)),
            (("1.2",), ("1.3",)),
            (("Width", "12", "Height", "17"), ("Width", "14", "Height", "19")),
            (("tea, milk, sugar",), ("sugar, milk, tea",)),
        ],
    )
    def test_few_words_tell_pages_apart_if_they_are_others(
        self, first: tuple[str, ...], second: tuple[str, ...]
    ) -> None:
        assert self.says_other(self.page(*first), self.page(*second))
        assert self.says_other(self.page(*second), self.page(*first))

    def test_what_stands_beside_the_main_text_tells_pages_apart(self) -> None:
        template = hashes(with_whole(self.TEMPLATE, "Size"))
        first, second = (with_whole(self.TEMPLATE, f"Size\n{size} cm") for size in (12, 14))
        assert self.says_other(first, second, template)

    @pytest.mark.parametrize(
        ("first", "second"),
        [
            ("12", "14"),
            ("4,031", "12"),
            ("4,031 visitors", "12 visitors"),
            ("red ink", "very red ink"),
            ("", "Room 12"),
            ("\u201cRed ink.\u201d", "red (ink)"),
        ],
    )
    def test_a_counter_or_a_word_more_makes_no_other_page(self, first: str, second: str) -> None:
        assert not self.says_other(self.page(first), self.page(second))

    def test_a_rest_whose_few_words_stand_in_the_other_says_nothing(self) -> None:
        few, other = self.page("Section 13"), self.page("The fee under section 13 is 720 crowns.")
        assert not self.says_other(few, other)
        assert not self.says_other(other, few)

    @pytest.mark.parametrize("own", [(), ("12",), ("12:30:00",)])
    def test_a_template_alone_is_another_page_than_one_that_says_something(
        self, own: tuple[str, ...]
    ) -> None:
        empty, other = self.page(*own), self.page("The fee under section 13 is 720 crowns.")
        assert self.says_other(empty, other)
        assert self.says_other(other, empty)
        assert not self.says_other(empty, self.page("Section 13"))
        assert not self.says_other(empty, self.page())

    def test_numbers_are_part_of_a_rest(self) -> None:
        assert rest_of("12.50\nSection 3\nMade at 12:30:00", set(), 5) == "12.50 section 3 made at"

    @given(TEXTS, TEXTS, st.sets(st.integers(1, 2**64 - 1)))
    def test_it_is_told_alike_from_both_sides(
        self, first: str, second: str, known: set[int]
    ) -> None:
        known |= hashes(first) & hashes(second)
        assert self.says_other(first, second, known) == self.says_other(second, first, known)
        assert not self.says_other(first, first, known)


def hashed_plainly(codes: list[int]) -> list[int]:
    """Return the places where a line may be cut, each window of 16 characters hashed anew."""
    factor, mask = 0x9E3779B97F4A7C15, (1 << 64) - 1
    return [
        end
        for end in range(16, len(codes) + 1)
        if (codes[end - 1] == ord(" ") or codes[end - 1] >= 0x0E00)
        and sum(code * factor ** (at + 2) for at, code in enumerate(codes[end - 16 : end])) & mask
        < 1 << 59
    ]


@pytest.mark.parametrize("words", [3, 400, 3_000])
def test_a_line_is_cut_by_the_hash_of_the_characters_before(words: int) -> None:
    line = prose(7, words).lower() + "\u6f22\u5b57" * words
    places = hashed_plainly(list(map(ord, line)))
    cuts = [at for at, before in zip(places, [0, *places], strict=False) if at - before >= 32]
    assert [len("".join(spoken(line)[: n + 1])) for n in range(len(cuts))] == cuts
