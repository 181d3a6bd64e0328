"""Which kinds of URLs come last, and when they come back."""

from __future__ import annotations

from contextlib import closing
from statistics import NormalDist
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.frontier.order import NewRequest
from crawler.pages.verdicts import NEAR_DUPLICATE, NEW
from crawler.storage.database import Database
from crawler.url_rules.kinds import WINDOW, upper_bound
from crawler.url_rules.learning.address import Address
from crawler.url_rules.learning.hypothesis import LearningPolicy
from crawler.url_rules.traps import FLOOR_OF, LEVEL_PRIORITIES, LEVELS, SLOW_PRIORITY, UrlTraps
from tests.crawler.frontier.ruled import HOST, SOMEWHERE, RuledCrawl

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def address(number: int, action: str = "") -> Address:
    query = f"?action={action}&title={number}" if action else f"?title={number}"
    return Address.parse(f"http://site.test/page{query}")


@pytest.fixture
def traps() -> Iterator[UrlTraps]:
    with closing(Database(None)) as database:
        yield UrlTraps(database, 0)


def note(traps: UrlTraps, one: Address, *, is_new: bool) -> None:
    traps.note(one, NEW if is_new else NEAR_DUPLICATE)


def note_all(traps: UrlTraps, pages: list[bool], action: str = "") -> None:
    for number, is_new in enumerate(pages):
        note(traps, address(number, action), is_new=is_new)


def priorities(traps: UrlTraps, action: str = "") -> list[int]:
    return [traps.priority(address(number, action)) for number in range(400)]


def test_a_kind_of_new_pages_comes_first(traps: UrlTraps) -> None:
    note_all(traps, [True] * 30)
    assert set(priorities(traps)) == {0}


def test_a_kind_without_new_pages_falls_step_by_step(traps: UrlTraps) -> None:
    lowest = []
    for number in range(WINDOW):
        lowest.append(min(priorities(traps)))
        note(traps, address(number), is_new=False)
    assert lowest == sorted(lowest, reverse=True)
    assert lowest[:2] == [0, 0]
    assert len(set(lowest)) == len(LEVELS) + 1


def test_one_in_twenty_stays_in_the_first_level(traps: UrlTraps) -> None:
    note_all(traps, [False] * (WINDOW - 1))
    found = priorities(traps)
    assert 0 < found.count(0) < 3 * len(found) / FLOOR_OF


def test_a_kind_that_brings_new_pages_again_comes_back(traps: UrlTraps) -> None:
    note_all(traps, [False] * 100 + [True] * 30)
    assert set(priorities(traps)) == {0}


def test_words_tell_kinds_apart_and_numbers_do_not(traps: UrlTraps) -> None:
    note_all(traps, [False] * (WINDOW - 1), "edit")
    assert min(priorities(traps, "edit")) < 0
    assert set(priorities(traps, "history")) == {0}


def note_any_words(traps: UrlTraps) -> None:
    for number in range(WINDOW * 2):
        word = "abcdefghijklmnopqrstuvwxyz"[number % 26] * (1 + number // 26)
        note(traps, address(number, word), is_new=False)


def test_any_words_are_one_kind(traps: UrlTraps) -> None:
    note_any_words(traps)
    lowest = SLOW_PRIORITY + LEVEL_PRIORITIES[len(LEVELS)]
    assert min(priorities(traps, "unheard")) == lowest


def test_what_is_known_of_kinds_goes_on_after_a_restart(tmp_path: Path) -> None:
    with closing(Database(tmp_path)) as database:
        note_all(UrlTraps(database, 0), [False] * (WINDOW - 1), "edit")
        database.commit()
    with closing(Database(tmp_path)) as database:
        traps = UrlTraps(database, 0)
        assert min(priorities(traps, "edit")) < 0
        assert set(priorities(traps, "history")) == {0}


@pytest.mark.parametrize("pages", [1, 5, 40])
@given(new=st.integers(0, 40))
def test_the_bound_solves_the_equation_of_wilson(pages: int, new: int) -> None:
    """At the bound, what was seen is as far below as the quantile says."""
    new = min(new, pages)
    bound = upper_bound(new, pages)
    assert new / pages - 1e-9 <= bound <= 1 + 1e-9
    spread = NormalDist().inv_cdf(0.95) * (max(0.0, bound * (1 - bound)) / pages) ** 0.5
    assert bound - new / pages == pytest.approx(spread, abs=1e-3)


def test_nothing_is_known_of_no_pages() -> None:
    assert upper_bound(0, 0) == 1


def titled(url: str) -> str:
    """Pages by title, each with a form to edit it, which says the same for all."""
    return "log in" if "action=edit" in url else url


def fetch_all(crawl: RuledCrawl) -> None:
    """Fetch what waits in the order of the rules, traps and kinds."""
    while (leased := crawl.rules.lease(lambda _: 0)) or crawl.rules.is_busy:
        if leased:
            crawl.answer(leased)


@pytest.mark.parametrize("is_breadth_first", [False, True])
def test_forms_come_after_pages_unless_the_order_is_that_of_depth(
    is_breadth_first: bool, tmp_path: Path
) -> None:
    policy = LearningPolicy(is_breadth_first=is_breadth_first)
    crawl = RuledCrawl(tmp_path, titled, policy=policy)
    for number in range(200):
        crawl.admit(f"{SOMEWHERE}/page?title={number}")
        crawl.admit(f"{SOMEWHERE}/page?action=edit&title={number}")
    fetch_all(crawl)
    assert len(crawl.fetched) == 400, "late, and not given up"
    # From its fortieth page on a kind without anything new is a trap, whatever the order.
    forms = sum("action=edit" in url for url in crawl.fetched[:80])
    assert (forms == 40) if is_breadth_first else (forms < 30)


def test_a_kind_that_became_better_is_brought_forward(tmp_path: Path) -> None:
    def site(url: str) -> str:
        number = int(url.rpartition("=")[2])
        return "the same" if "/dull" in url or number < 30 else url

    crawl = RuledCrawl(tmp_path, site)
    for number in range(120):
        crawl.admit(f"{SOMEWHERE}/dull?a={number}")
        crawl.admit(f"{SOMEWHERE}/late?b={number}")
    fetch_all(crawl)
    last = crawl.fetched[-60:]
    assert len(crawl.fetched) == 240
    assert all("/dull" in url for url in last)


def late_crawl(folder: Path) -> RuledCrawl:
    """A crawl that knows that pages of one kind say nothing new."""
    crawl = RuledCrawl(folder, lambda _: "the same")
    crawl.admit_all(f"{SOMEWHERE}/page?title={number}" for number in range(30))
    crawl.drain()
    return crawl


@pytest.mark.parametrize("priority", [-150, -100, -10, -6, -4, -2, -1, 5, 500])
def test_a_priority_that_was_asked_for_is_kept(priority: int, tmp_path: Path) -> None:
    crawl = late_crawl(tmp_path)
    new = NewRequest(HOST, f"{SOMEWHERE}/page?title=99", priority, b"", b"k" * 16)
    crawl.rules.push(new)
    leased = crawl.queue.lease(lambda _: 0)
    assert leased is not None
    assert leased.priority == priority


def test_what_is_made_whatever_was_learned_is_not_late(tmp_path: Path) -> None:
    crawl = late_crawl(tmp_path)
    for number in range(100, 120):
        crawl.admit(f"{SOMEWHERE}/page?title={number}", is_fixed=True)
        crawl.admit(f"{SOMEWHERE}/page?title={number + 100}")
    found = []
    while (leased := crawl.rules.lease(lambda _: 0)) or crawl.rules.is_busy:
        if leased:
            found.append(int(leased.url.rpartition("=")[2]))
    assert len(found) == 40
    assert max(map(found.index, range(100, 120))) < 25


def test_words_are_few_or_many_also_in_the_twenty_thousandth_place(traps: UrlTraps) -> None:
    for number in range(20_050):
        note(traps, Address.parse(f"http://h{number}.test/?action=edit"), is_new=True)
    note_any_words(traps)
    lowest = SLOW_PRIORITY + LEVEL_PRIORITIES[len(LEVELS)]
    assert min(priorities(traps, "unheard")) == lowest
