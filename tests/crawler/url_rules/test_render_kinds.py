"""Kinds of URLs whose pages show more in a browser, against a plain count of what was tried."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from crawler.console.report_text import rendering_lines
from crawler.storage.database import Database, open_for_reading
from crawler.url_rules.kinds import MORE_IN_BROWSER, WINDOW
from crawler.url_rules.render_kinds import (
    LATER_PAGE,
    MIN_TRIED,
    PAGES_OF_A_SAMPLE,
    PAGES_OF_A_TRY,
    VAIN_TRIES,
    RenderKind,
    RenderKinds,
    read_kinds,
)
from crawler.url_rules.rule_store import forget_rendering

if TYPE_CHECKING:
    from pathlib import Path

URL = "http://a.example/{}/{}"


def tried_of(kinds: RenderKinds, folder: str, gains: list[bool], *, has_place: bool) -> list[int]:
    """Return which pages of a folder were tried, of which some show more."""
    tried = []
    for number, is_gain in enumerate(gains):
        name = kinds.name(URL.format(folder, number))
        if kinds.is_due(name, has_place=has_place):
            tried.append(number)
            kinds.note(name, is_gain=is_gain)
    return tried


def test_a_static_site_is_tried_seldom(tmp_path: Path) -> None:
    with closing(Database(tmp_path)) as database:
        kinds = RenderKinds(database)
        tried = [tried_of(kinds, name, [False] * 400, has_place=True) for name in ("a", "b")]
    assert tried == [[0, 1, LATER_PAGE - 1], [0, 1]]


def test_pages_without_a_sign_are_tried_rarely_where_none_showed_more(tmp_path: Path) -> None:
    with closing(Database(tmp_path)) as database:
        kinds = RenderKinds(database)
        count = 2 * PAGES_OF_A_SAMPLE + 1
        tried = tried_of(kinds, "plain", [False] * count, has_place=False)
    numbers = [1, 2, LATER_PAGE, PAGES_OF_A_SAMPLE, 2 * PAGES_OF_A_SAMPLE]
    assert tried == [number - 1 for number in numbers]


def test_a_sample_that_shows_more_has_its_kind_shown(tmp_path: Path) -> None:
    with closing(Database(tmp_path)) as database:
        kinds = RenderKinds(database)
        gains = [False] * (LATER_PAGE - 1) + [True] * 20
        tried = tried_of(kinds, "app", gains, has_place=False)
    assert tried == [0, 1, *range(LATER_PAGE - 1, len(gains))]


def test_a_kind_that_shows_more_is_shown_always_and_others_are_not(tmp_path: Path) -> None:
    with closing(Database(tmp_path)) as database:
        kinds = RenderKinds(database)
        tried_of(kinds, "plain", [False] * 50, has_place=False)  # the first two and the fiftieth
        assert tried_of(kinds, "app", [True] * 100, has_place=True) == list(range(100))
        assert len(tried_of(kinds, "plain", [False] * 50, has_place=False)) <= 2


def test_a_kind_that_shows_more_no_longer_is_left(tmp_path: Path) -> None:
    with closing(Database(tmp_path)) as database:
        kinds = RenderKinds(database)
        gains = [True] * 60 + [False] * 400
        tried = tried_of(kinds, "app", gains, has_place=True)
    assert tried[:60] == list(range(60))
    assert (
        len([number for number in tried if number >= 60])
        <= 3 * WINDOW + 400 // MORE_IN_BROWSER.sampled_of
    )


@given(st.lists(st.booleans(), max_size=300))
def test_what_is_decided_follows_from_the_last_tries(gains: list[bool]) -> None:
    kind = RenderKind(0, "a/b")
    for number, is_gain in enumerate(gains, 1):
        kind.count(is_gain=is_gain)
        last = gains[max(0, number - WINDOW) : number]
        assert [kind.tried, kind.gained] == [number, sum(gains[:number])]
        assert [kind.lately_tried, kind.lately_gained] == [len(last), sum(last)]
        assert kind.needs_browser == (sum(last) >= 2 and 2 * sum(last) >= len(last))


@given(st.integers(0, 200), st.integers(0, 39), st.data())
def test_one_gain_has_a_kind_tried_until_it_is_decided(
    pages: int, tried: int, data: st.DataObject
) -> None:
    gained = data.draw(st.integers(0, tried))
    kind = RenderKind(0, "a/b", pages)
    for number in range(tried):
        kind.count(is_gain=number < gained)
    spent, fresh = RenderKind(0, "a", 1_000, VAIN_TRIES + 21, 1), RenderKind(0, "a", 1_000, 1, 1)
    fruitless = RenderKind(0, "a", 1_000, 1)
    if kind.needs_browser or (gained and tried < MIN_TRIED):
        assert kind.is_due(spent, has_place=False)
    else:
        assert kind.is_due(spent, has_place=True) == (not tried)
        is_sampled = pages % MORE_IN_BROWSER.sampled_of == 0
        assert kind.is_due(fresh, has_place=False) == is_sampled
        is_due = kind.is_due(fresh, has_place=True)
        assert is_due == (is_sampled or tried < 2)
        assert not kind.is_due(fruitless, has_place=False)
        assert kind.is_due(fruitless, has_place=True) == (tried < 2)


def test_pages_that_fail_are_tried_a_few_times(tmp_path: Path) -> None:
    with closing(Database(tmp_path)) as database:
        kinds = RenderKinds(database)
        tried = 0
        for number in range(1_000):
            name = kinds.name(URL.format("app", number))
            if kinds.is_due(name, has_place=True):
                tried += 1
                kinds.note(name, is_gain=False, is_whole=False)
        assert kinds[name].is_unclear
    assert tried <= VAIN_TRIES + 1_000 // PAGES_OF_A_TRY


def test_counts_are_committed_with_pages_and_forgotten_on_wish(tmp_path: Path) -> None:
    with closing(Database(tmp_path)) as database:
        kinds = RenderKinds(database)
        tried_of(kinds, "app", [True] * 10, has_place=True)
        database.commit()
        kinds.is_due(kinds.name(URL.format("late", 1)), has_place=True)  # lost, as its page is
    with closing(open_for_reading(tmp_path)) as connection:
        stored = read_kinds(connection.execute)
    assert sum(kind.tried for kind in stored.values()) == 10
    with closing(Database(tmp_path)) as database:
        again = RenderKinds(database)
        name = again.name(URL.format("app", 99))
        assert again.is_due(name, has_place=False)
    assert forget_rendering(tmp_path) == len(stored)
    with closing(open_for_reading(tmp_path)) as connection:
        assert read_kinds(connection.execute) == {}


def test_the_table_says_which_kinds_are_shown_in_the_browser() -> None:
    kinds = {
        "a/gains": RenderKind(1, "a/gains", 12, 12, 12, recent=0b1111),
        "a/still": RenderKind(2, "a/still", 12, 1),
        "a/new": RenderKind(3, "a/new", 3),
    }
    said = [line.split() for line in rendering_lines(kinds)]
    assert [words[-1] for words in said if words and words[0] in kinds] == ["all", "some"]
    assert any(line.startswith("and 1 more") for line in rendering_lines(kinds))
