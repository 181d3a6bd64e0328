"""What bounded counts of values say, compared with counts of all."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from crawler.url_rules.value_counts import MANY, ValueCounts


def counted(values: list[str]) -> ValueCounts:
    counts = ValueCounts()
    for value in values:
        counts.note(value)
    return counts


@given(st.lists(st.sampled_from(["edit", "print", "home", "x1y2", "7", "red-blue"]), max_size=60))
def test_words_of_three_pages_are_frequent(values: list[str]) -> None:
    exact = {one for one, count in Counter(values).items() if count >= 3} - {"x1y2"}
    assert counted(values).frequent == exact


def test_one_that_recurs_among_thousands_of_others_is_frequent() -> None:
    values = [
        f"{chr(97 + n % 26)}-{'ab' * (n // 26 % 26)}x{'c' * (n // 676)}"[:19] for n in range(3_000)
    ]
    counts = counted(
        [
            one
            for n, value in enumerate(values)
            for one in ((value, "edit") if n % 30 == 0 else (value,))
        ]
    )
    assert counts.is_many
    assert "edit" in counts.frequent


def test_any_words_on_any_page_are_not() -> None:
    words = [f"{a}-{b}" for a in "abcdefghijklmn" for b in "abcdefghijklmn"]
    counts = counted(words * 5)
    assert counts.is_many
    assert not counts.frequent


@given(st.lists(st.integers(0, MANY + 5).map("v{}".format), max_size=400))
def test_many_are_more_than_a_hundred(values: list[str]) -> None:
    assert counted(values).is_many == (len(set(values)) > MANY)
