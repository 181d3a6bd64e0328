"""What is told of a validation, and how long it goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.url_rules.learning.context import Context
from crawler.url_rules.rule_report import UNEXAMINED
from crawler.url_rules.validation import (
    MAX_ASKED,
    trials_of_all,
)
from tests.crawler.frontier.ruled import NAME, SOMEWHERE
from tests.crawler.url_rules.test_engine import argument, by_id, report, tried
from tests.crawler.url_rules.test_validation import formed, without

if TYPE_CHECKING:
    from pathlib import Path


def test_it_says_that_it_goes_on_until_nothing_is_left_to_try(tmp_path: Path) -> None:
    """A crawl ends where nothing waits and nothing goes on."""
    crawl = formed(tmp_path, "a name in the path", 300, frozenset(range(250, 300)))
    crawl.drain()
    crawl.rules.validation.try_more()
    while crawl.rules.validation.is_under_way:
        crawl.drain()
        crawl.rules.validation.try_more()
    assert not crawl.rules.validation.try_more()
    assert crawl.said() == {crawl.site(url) for url in crawl.states()}


class TestWhatIsSaid:
    def test_a_crawl_that_ended_before_says_so(self, tmp_path: Path) -> None:
        crawl = formed(tmp_path, "a host", 300, frozenset())
        told = report(crawl).rules[0]
        assert told.examined == "no"
        assert crawl.database.read(UNEXAMINED).fetchone() == (1,)
        crawl.examine()
        told = report(crawl).rules[0]
        assert told.examined == "proven"
        assert sum(told.tried.values()) == trials_of_all(300)
        assert crawl.database.read(UNEXAMINED).fetchone() == (0,)

    def test_what_is_skipped_later_is_examined_too(self, tmp_path: Path) -> None:
        crawl = tried(tmp_path, (Context(NAME), without("a", "1")), site=by_id)
        for pages in (range(20), range(20, 50)):
            crawl.admit_all(f"{SOMEWHERE}/page?{a}id={n}" for a in ("", "a=1&") for n in pages)
            assert report(crawl).rules[0].examined == "no"
            crawl.examine()
            assert report(crawl).rules[0].examined == "all"
            assert report(crawl).rules[0].tried == {"any": pages.stop}

    def test_pages_that_cannot_be_compared_are_not_asked_for_without_an_end(
        self, tmp_path: Path
    ) -> None:
        def site(url: str) -> str | None:
            return None if argument(url, "a") else by_id(url)

        crawl = tried(tmp_path, (Context(NAME), without("a", "1")), site=site)
        crawl.admit_all(f"{SOMEWHERE}/page?id={n}" for n in range(600))
        crawl.drain()
        crawl.admit_all(f"{SOMEWHERE}/page?a=1&id={n}" for n in range(600))
        crawl.examine()
        assert report(crawl).rules[0].examined == "undecided"
        assert len(crawl.fetched) <= 600 + MAX_ASKED * trials_of_all(600) + 60
