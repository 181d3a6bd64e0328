"""What pages declare of their URLs: rel=canonical speaks for rules, hreflang against some."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import pytest

from crawler.commands.rules import rule_lines
from crawler.url_rules.learning.canonicals import MIN_WRONG
from tests.crawler.frontier.ruled import CANONICAL, SOMEWHERE, RuledCrawl
from tests.crawler.url_rules.test_engine import argument, by_id, report

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

HOME = f"{SOMEWHERE}/"


def in_turn(texts: int, sids: int = 3) -> list[str]:
    """Each text under some URLs, one after the other, in pages of two kinds."""
    kinds = ("page", "post")
    return [
        f"{SOMEWHERE}/{kinds[number % 2]}?id={number}&token=s{number}x{sid}"
        for number, sid in product(range(texts), range(sids))
    ]


def without_token(url: str) -> Mapping[str, str]:
    return {CANONICAL: url.partition("&token=")[0]}


def home(_: str) -> Mapping[str, str]:
    return {CANONICAL: HOME}


def neighbour(url: str) -> Mapping[str, str]:
    number = int(argument(url, "id"))
    return {CANONICAL: f"{SOMEWHERE}/page?id={number + 1}"}


def fetched_before_a_rule(folder: Path, declares: Callable[[str], Mapping[str, str]]) -> int:
    """The number of fetches after which a rule holds, each URL met when the last is fetched."""
    folder.mkdir()
    crawl = RuledCrawl(folder, by_id, declares=declares)
    for url in in_turn(30):
        crawl.admit(url)
        crawl.drain()
        if list(crawl.rules.rules):
            break
    assert [str(rule) for rule in crawl.rules.rules] == ["site.test: any token= is irrelevant"]
    crawl.close()
    return len(crawl.fetched)


def told(crawl: RuledCrawl) -> list[str]:
    """The lines of ``crawl-once rules`` about canonical URLs."""
    return [line for line in rule_lines(report(crawl)) if line.startswith("rel=canonical")]


class TestCanonicals:
    def test_seven_texts_are_enough_where_they_agree(self, tmp_path: Path) -> None:
        plain = fetched_before_a_rule(tmp_path / "plain", lambda _: {})
        right = fetched_before_a_rule(tmp_path / "right", without_token)
        assert (right, plain) == (20, 41), "the second URL of the 7th text, and of the 14th"

    def test_those_that_lie_count_for_nothing(self, tmp_path: Path) -> None:
        lying = fetched_before_a_rule(tmp_path / "lying", home)
        assert lying == fetched_before_a_rule(tmp_path / "plain", lambda _: {})

    def test_a_host_is_named_with_the_url_and_remembered(self, tmp_path: Path) -> None:
        crawl = RuledCrawl(tmp_path, by_id, declares=home)
        crawl.admit_all(in_turn(3))
        crawl.drain()
        assert told(crawl) == []
        crawl.admit_all(in_turn(30))
        crawl.drain()
        line = f"rel=canonical of site.test is not trusted: pages of {MIN_WRONG} different"
        assert told(crawl) == [f"{line} texts name {HOME}"]
        crawl.close()
        crawl.open()
        assert told(crawl) == [f"{line} texts name {HOME}"]
        crawl.rules.begin_visit(2)
        assert told(crawl) == []

    def test_an_example_is_told_where_pages_name_different_ones(self, tmp_path: Path) -> None:
        crawl = RuledCrawl(tmp_path, by_id, declares=neighbour)
        crawl.admit_all(f"{SOMEWHERE}/page?id={number}" for number in range(30, 0, -1))
        crawl.drain()
        last = 30 - MIN_WRONG
        assert told(crawl)[0] == (
            f"rel=canonical of site.test is not trusted: pages of {MIN_WRONG} texts name URLs"
            f" of other texts, such as {SOMEWHERE}/page?id={last}, which names"
            f" {SOMEWHERE}/page?id={last + 1}"
        )

    def test_right_ones_are_not_told(self, tmp_path: Path) -> None:
        crawl = RuledCrawl(tmp_path, by_id, declares=without_token)
        crawl.admit_all(url.partition("&token=")[0] for url in in_turn(30))
        crawl.admit_all(in_turn(30))
        crawl.drain()
        assert told(crawl) == []


LANGUAGES = ("da", "en", "fr")


def in_argument(language: str, number: int) -> str:
    return f"{SOMEWHERE}/page?id={number}&l={language}"


def in_path(language: str, number: int) -> str:
    return f"{SOMEWHERE}/{language}/page/{number}"


def translations(place: Callable[[str, int], str], url: str) -> Mapping[str, str]:
    number = int("".join(filter(str.isdecimal, url)))
    return {language: place(language, number) for language in LANGUAGES}


class TestTranslations:
    """Of a hundred pages only the last is translated: no page is lost."""

    @pytest.mark.parametrize("place", [in_argument, in_path])
    def test_languages_are_never_folded(
        self, place: Callable[[str, int], str], tmp_path: Path
    ) -> None:
        def site(url: str) -> str:
            number = int("".join(filter(str.isdecimal, url)))
            return url if number == 99 else f"page {number}"

        urls = [place(language, number) for number in range(100) for language in LANGUAGES]
        (tmp_path / "folding").mkdir()
        folding = RuledCrawl(tmp_path / "folding", site)
        telling = RuledCrawl(tmp_path, site, declares=lambda url: translations(place, url))
        for crawl in (folding, telling):
            for url in urls:
                crawl.admit(url)
                crawl.drain()
        assert len(folding.fetched) < 200
        assert telling.fetched == urls
        assert not report(telling).rules

    def test_a_rule_that_holds_is_revoked(self, tmp_path: Path) -> None:
        crawl = RuledCrawl(
            tmp_path,
            lambda url: f"page {argument(url, 'id')}",
            declares=lambda url: translations(in_argument, url) if "id=9" in url else {},
        )
        for number, language in product(range(100), LANGUAGES):
            crawl.admit(in_argument(language, number))
            crawl.drain()
        rules = report(crawl).rules
        assert {rule.state for rule in rules} == {"revoked"}
        assert all("choose versions of a page" in (rule.reason or "") for rule in rules)
