"""Diffs of two texts of a page: what is said of each kind of change."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.watch.differences import MAX_PAIRS, TextDifference, find_difference
from neardup.whole import with_whole

HARBOUR = (
    "The harbour was built after the great storm. It has three piers and a lighthouse, which was "
    "painted in red and white stripes."
)
SHIPS = "Ships of all sizes come here in summer. In winter the harbour is quiet and dark."
MARKET = "A market opens on each Monday beside the old customs house of the northern quay."
OLD = f"Harbour\n{HARBOUR}\n{SHIPS}\nTime now: 10:15:33\n77 views"


@pytest.mark.parametrize(
    ("new", "summary", "words"),
    [
        (f"{OLD}\n{MARKET}", "a paragraph of 15 words was added", (15, 0)),
        (OLD.replace(f"{SHIPS}\n", ""), "a paragraph of 16 words was removed", (0, 16)),
        (
            OLD.replace("dark.", "dark. A ferry crosses the bay."),
            "a sentence of 5 words was added",
            (5, 0),
        ),
        (OLD.replace("three", "four"), "1 word of a sentence was replaced by 1", (1, 1)),
        (OLD.replace("great ", ""), "1 word was removed from a sentence", (0, 1)),
        (OLD.replace("come", "often come"), "1 word was added to a sentence", (1, 0)),
        (
            OLD.replace("three", "four").replace("quiet", "calm"),
            "2 words of 2 sentences were replaced by 2",
            (2, 2),
        ),
        (
            OLD.replace(HARBOUR, MARKET),
            "a paragraph of 15 words was added, a paragraph of 23 words was removed",
            (15, 23),
        ),
        ("", "4 paragraphs of 43 words were removed", (0, 43)),
    ],
)
def test_the_summary_says_what_changed(new: str, summary: str, words: tuple[int, int]) -> None:
    found = find_difference(OLD, new, "en")
    assert found.summary == summary
    assert (found.words_added, found.words_removed) == words


def test_the_diff_has_the_sentences_that_differ_and_no_others() -> None:
    found = find_difference(OLD, OLD.replace("quiet", "calm"), "en")
    assert found.removed == ("In winter the harbour is quiet and dark.",)
    assert found.added == ("In winter the harbour is calm and dark.",)


@pytest.mark.parametrize(
    "new",
    [
        OLD,
        OLD.replace("10:15:33", "11:00:01").replace("77", "1,302"),
        OLD.replace("\n77 views", ""),
        OLD.replace(f"{HARBOUR}\n{SHIPS}", f"{SHIPS}\n{HARBOUR}"),
    ],
)
def test_clocks_counters_and_order_are_no_difference(new: str) -> None:
    assert find_difference(OLD, new, "en") == TextDifference()


def test_boilerplate_is_left_out() -> None:
    new = f"{OLD}\n{MARKET}"
    assert not find_difference(OLD, new, "en", lambda passage: passage.text == MARKET)


def test_what_only_the_whole_has_is_compared_once() -> None:
    old = with_whole(SHIPS, f"{SHIPS}\nPrice: 12 EUR")
    new = with_whole(f"{SHIPS}\n{MARKET}", f"{SHIPS}\n{MARKET}\nPrice: 14 EUR")
    found = find_difference(old, new, "en")
    assert found.added == (MARKET, "Price: 14 EUR")
    assert found.removed == ("Price: 12 EUR",)
    assert (found.words_added, found.words_removed) == (16, 1)


def test_scripts_without_spaces_are_counted_by_characters() -> None:
    found = find_difference("港は古い。船が来る。", "港は古い。船が来る。市が立つ。", "ja")
    assert found.added == ("市が立つ。",)
    assert found.summary.startswith("a sentence of ")


def test_many_passages_that_differ_are_told_as_removed_and_added() -> None:
    count = int(MAX_PAIRS**0.5) + 1
    found = find_difference(
        "\n".join(f"a{number}" for number in range(count)),
        "\n".join(f"b{number}" for number in range(count)),
    )
    assert (len(found.added), len(found.removed)) == (count, count)


_TEXTS = st.lists(st.sampled_from([HARBOUR, SHIPS, MARKET, "12:30", "5 views", "A b c."]))


class TestDifferenceProperties:
    @given(_TEXTS)
    def test_a_text_does_not_differ_from_itself(self, lines: list[str]) -> None:
        text = "\n".join(lines)
        assert not find_difference(text, text)

    @given(_TEXTS, _TEXTS)
    def test_both_directions_have_the_same_words(self, old: list[str], new: list[str]) -> None:
        there = find_difference("\n".join(old), "\n".join(new))
        back = find_difference("\n".join(new), "\n".join(old))
        gained = there.words_added - there.words_removed
        assert gained == back.words_removed - back.words_added
