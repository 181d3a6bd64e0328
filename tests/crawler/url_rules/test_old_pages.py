"""Rules are compared with what was fetched long ago as soon as they hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.crawler.frontier.ruled import SOMEWHERE, RuledCrawl
from tests.crawler.url_rules.test_engine import argument, report

if TYPE_CHECKING:
    from pathlib import Path


def site(url: str) -> str:
    """Of the first ten pages the editions differ."""
    number, edition = int(argument(url, "id") or -1), argument(url, "edition")
    if number < 0:
        return url
    return f"page {number} in {edition}" if number < 10 else f"page {number}"


def editions(ids: range) -> list[str]:
    return [f"{SOMEWHERE}/page?edition={e}&id={n}" for n in ids for e in ("one", "two", "three")]


def test_what_old_pages_speak_against_is_revoked(tmp_path: Path) -> None:
    crawl = RuledCrawl(tmp_path, site)
    urls = editions(range(10))
    urls += [f"{SOMEWHERE}/story/{'x' * n}" for n in range(1, 600)]
    urls += editions(range(10, 60))
    for url in urls:
        crawl.admit(url)
        crawl.drain()
    assert crawl.said() == set(map(site, urls))
    assert {rule.state for rule in report(crawl).rules} <= {"revoked"}


def test_what_none_speaks_against_holds(tmp_path: Path) -> None:
    crawl = RuledCrawl(tmp_path, site)
    urls = [f"{SOMEWHERE}/story/{'x' * n}" for n in range(1, 600)] + editions(range(10, 60))
    for url in urls:
        crawl.admit(url)
        crawl.drain()
    assert {rule.state for rule in report(crawl).rules} == {"holds"}
    assert len(crawl.fetched) < len(urls)
