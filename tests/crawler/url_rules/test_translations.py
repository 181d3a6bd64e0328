"""What pages declare of their URLs: hreflang speaks against some rules."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import pytest

from tests.crawler.frontier.ruled import SOMEWHERE, RuledCrawl
from tests.crawler.url_rules.test_engine import argument, report

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

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
