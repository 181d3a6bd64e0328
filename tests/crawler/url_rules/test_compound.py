"""Ids in the path and an argument that differ at once: tried as one rule, and held as two."""

from __future__ import annotations

import re
from itertools import count
from typing import TYPE_CHECKING

import pytest

from crawler.storage.states import REVOKED
from crawler.url_rules.learning.context import Context
from crawler.url_rules.learning.transforms import ANYTHING, DropArguments, ReplaceSegments
from tests.crawler.frontier.ruled import NAME, SOMEWHERE, RuledCrawl

if TYPE_CHECKING:
    from pathlib import Path

SESSION = ReplaceSegments(False, 0, ("s", ANYTHING), ("s", "*"))
SOURCE = DropArguments(("from",))
PAGES, PHOTOS = 24, 12


def shown(url: str) -> str | None:
    """Pages by their number, with a session; photos by the id in place of the session."""
    photo = re.search(r"/s/(\w+)/photo", url)
    if photo:
        return f"photo {photo[1]}"
    page = re.search(r"/s/\w+/(\w)/(\d+)", url)
    return f"{page[1]} {page[2]}" if page else None


def page_urls(numbers: range) -> list[str]:
    """Two URLs of each page: no two have a session or a source in common."""
    new = count(100_000 + 100 * numbers.start)
    return [
        f"{SOMEWHERE}/s/{next(new)}a/{kind}/{number}?from=page-{next(new)}"
        for _ in range(2)
        for number in numbers
        for kind in "pq"
    ]


def learned(folder: Path) -> RuledCrawl:
    """A crawl that has learned both rules."""
    crawl = RuledCrawl(folder, shown)
    crawl.admit_all(page_urls(range(PAGES)))
    crawl.drain()
    assert {rule.transform for rule in crawl.rules.rules} == {SESSION, SOURCE}
    return crawl


def photo_urls() -> list[str]:
    return [
        f"{SOMEWHERE}/s/{77_000 + number}/photo?from={source}"
        for source in ("red", "blue", "old")
        for number in range(PHOTOS)
    ]


def test_two_plain_rules_hold_with_the_evidence_for_both(tmp_path: Path) -> None:
    crawl = learned(tmp_path)
    session, source = crawl.rules.rules
    assert (session.transform, source.transform) == (SESSION, SOURCE)
    assert source.context == session.context == Context(NAME)
    assert source.positives == session.positives >= 14
    assert all(value.startswith("page-") for value in source.values[0])
    assert all(value.startswith("s/") for value in session.values[0])


def test_they_skip_what_differs_in_both(tmp_path: Path) -> None:
    crawl = learned(tmp_path)
    crawl.fetched.clear()
    further = page_urls(range(PAGES, PAGES + 30))
    crawl.admit_all(further)
    crawl.drain()
    assert crawl.said() == set(map(shown, further))
    assert len(crawl.fetched) < 0.6 * len(further)


def test_they_are_there_again_in_the_next_process(tmp_path: Path) -> None:
    crawl = learned(tmp_path)
    crawl.rules.save_refuted()
    crawl.database.commit()
    crawl.close()
    crawl.open()
    assert {rule.transform for rule in crawl.rules.rules} == {SESSION, SOURCE}


def test_a_kind_where_the_segment_is_the_page_is_an_exception_of_that_rule(tmp_path: Path) -> None:
    crawl = learned(tmp_path)
    crawl.admit_all(photo_urls())
    crawl.examine()
    assert set(map(shown, photo_urls())) <= crawl.said()
    photos = SOMEWHERE + "/s/77000/photo?from=red"
    assert crawl.group(photos) != crawl.group(photos.replace("77000", "77001"))


def test_photos_among_the_first_pages_lose_nothing_either(tmp_path: Path) -> None:
    crawl = RuledCrawl(tmp_path, shown)
    pages = page_urls(range(PAGES))
    crawl.admit_all([*photo_urls(), *pages])
    crawl.examine()
    assert crawl.said() == set(map(shown, [*photo_urls(), *pages]))


def test_a_rule_with_exceptions_is_not_believed_again_without_them(tmp_path: Path) -> None:
    """Else the pages that made the exceptions would do so again, without an end."""
    kinds = [Context(NAME, path, frozenset({"id"})) for path in ("/photo", "/film")]
    crawl = RuledCrawl(tmp_path, lambda url: url.partition("?")[0] + url.rpartition("=")[2])
    crawl.take((Context(NAME, apart_from=tuple(kinds)), SOURCE))
    crawl.admit_all(
        f"{SOMEWHERE}/{kind}?from={source}&id={number}"
        for number in range(20)
        for kind in ("photo", "film")
        for source in ("red", "blue", "old")
    )
    crawl.drain()
    found = [rule for rule in crawl.rules.rules if rule.transform == SOURCE]
    everywhere = [rule for rule in found if rule.context.pattern is None]
    assert [set(rule.context.apart_from) for rule in everywhere] == [set(kinds)]


@pytest.mark.parametrize("wrong", [SESSION, SOURCE])
def test_what_was_revoked_is_not_believed_as_a_part_of_two(
    wrong: ReplaceSegments | DropArguments, tmp_path: Path
) -> None:
    crawl = RuledCrawl(tmp_path, shown)
    crawl.take((Context(NAME), wrong))
    crawl.rules.trial.let_go((Context(NAME), wrong), REVOKED, "it is wrong elsewhere")
    crawl.admit_all(page_urls(range(PAGES)))
    crawl.drain()
    assert (Context(NAME), wrong) not in [(r.context, r.transform) for r in crawl.rules.rules]
