"""How many pages are fetched under a second URL to try a rule, and which."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.url_rules.learning.context import Context
from crawler.url_rules.learning.transforms import ANYTHING, ReplaceSegments
from tests.crawler.frontier.ruled import NAME, SOMEWHERE, RuledCrawl

if TYPE_CHECKING:
    from pathlib import Path

SESSION = ReplaceSegments(False, 0, ("s", ANYTHING), ())
PAGES = 1_000


def without_session(url: str) -> str:
    path = url.removeprefix(SOMEWHERE)
    return "/" + path.split("/", 3)[3] if path.startswith("/s/") else path


def second_fetches(folder: Path, kinds: int) -> int:
    """Of a thousand pages of so many kinds, each met in two sessions."""
    crawl = RuledCrawl(folder, without_session)
    crawl.rules.take([(Context(NAME), SESSION)], "a file")
    for rule in crawl.rules.rules:
        rule.values = [set(map(str, range(99)))]
    paths = [f"{'x' * (1 + n % kinds)}/{'y' * (1 + n // kinds)}" for n in range(PAGES)]
    for session in ("a1", "b2"):
        crawl.admit_all(f"{SOMEWHERE}/s/{session}/{path}" for path in paths)
        crawl.drain()
    assert crawl.said() == {f"/{path}" for path in paths}
    return len(crawl.fetched) - PAGES


def test_of_ids_one_in_forty_is_tried(tmp_path: Path) -> None:
    assert 20 <= second_fetches(tmp_path, kinds=1) <= 35


def test_new_ground_is_part_of_it(tmp_path: Path) -> None:
    assert 20 <= second_fetches(tmp_path, kinds=25) <= 35


def print_views(url: str) -> str:
    return url.replace("/print/", "/")


def test_of_a_name_one_in_twenty_is_tried(tmp_path: Path) -> None:
    crawl = RuledCrawl(tmp_path, print_views)
    crawl.take((Context(NAME), ReplaceSegments(False, 0, ("print", "page"), ("page",))))
    for way in ("page", "print/page"):
        crawl.admit_all(f"{SOMEWHERE}/{way}/{n}" for n in range(PAGES))
        crawl.drain()
    assert 35 <= len(crawl.fetched) - PAGES <= 70


def test_of_many_pages_ever_fewer_are_tried(tmp_path: Path) -> None:
    crawl = RuledCrawl(tmp_path, print_views)
    crawl.take((Context(NAME), ReplaceSegments(False, 0, ("print", "page"), ("page",))))
    crawl.rules.regroup_all()
    tried = []
    for some in range(3):
        before, pages = len(crawl.fetched), range(some * 2_000, (some + 1) * 2_000)
        crawl.admit_all(f"{SOMEWHERE}/{w}/{n}" for n in pages for w in ("page", "print/page"))
        crawl.drain()
        tried.append(len(crawl.fetched) - before - 2_000)
    assert tried[0] > 1.5 * tried[2] > 0
