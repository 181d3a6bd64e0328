"""What bounded counts of values say, compared with counts of all."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.url_rules.learning.context import Context
from crawler.url_rules.learning.transforms import DropArguments
from crawler.url_rules.value_counts import MANY, ValueCounts
from tests.crawler.frontier.ruled import NAME, SOMEWHERE, RuledCrawl

if TYPE_CHECKING:
    from pathlib import Path


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


@pytest.mark.parametrize("is_later", [False, True])
def test_a_word_among_ids_is_tried_also_where_other_rules_were_looked_at_before(
    is_later: bool, tmp_path: Path
) -> None:
    """A rule of which only ids are known, and a word that chooses another page on some."""
    differing = set(Random(7).sample(range(60, 200), 14))

    def site(url: str) -> str:
        number = int(url.partition("?")[0].rpartition("/")[2])
        return url if "s=edit" in url and number in differing else url.partition("?")[0]

    crawl = RuledCrawl(tmp_path, site)
    if is_later:
        crawl.rules.take([(Context(NAME), DropArguments(("v",)))], "a file")
        crawl.rules.regroup_all()
        crawl.admit_all(f"{SOMEWHERE}/p/{n}?v={v}" for n in range(600) for v in "abcd")
        crawl.examine()
    crawl.rules.take([(Context(NAME), DropArguments(("s",)))], "a file")
    crawl.rules.regroup_all()
    for number in range(200):
        tokens = [f"{number:04x}a{n}b" for n in range(2)] + ["edit"] * (number >= 60)
        crawl.admit_all(f"{SOMEWHERE}/q/{number}?s={token}" for token in tokens)
        if number == 59:
            crawl.drain()
            (rule,) = (rule for rule in crawl.rules.rules if "s=" in str(rule))
            rule.values = [{f"{n:04x}a0b" for n in range(20)}]
    crawl.examine()
    assert {f"{SOMEWHERE}/q/{number}?s=edit" for number in differing} <= crawl.said()


@given(st.lists(st.integers(0, 40).map("v{}".format), max_size=200))
def test_values_are_shared_where_three_pages_have_most_of_them(values: list[str]) -> None:
    several = [count >= 3 for count in Counter(values).values()]
    assert counted(values).are_shared == (sum(several) > len(several) / 2)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("pages", [1, 2, 3])
def test_of_thousands_of_values_it_is_known_too(pages: int, seed: int) -> None:
    values = [f"{number:x}" for number in range(5_000)] * pages
    Random(seed).shuffle(values)
    assert counted(values).are_shared == (pages == 3)
