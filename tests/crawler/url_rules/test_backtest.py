"""Rules are held against what was fetched long ago before they hold."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from crawler.storage.database import Database
from crawler.url_rules import backtest
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


def test_what_old_pages_speak_against_never_holds(tmp_path: Path) -> None:
    crawl = RuledCrawl(tmp_path, site)
    urls = editions(range(10))
    urls += [f"{SOMEWHERE}/story/{'x' * n}" for n in range(1, 600)]
    urls += editions(range(10, 60))
    for url in urls:
        crawl.admit(url)
        crawl.drain()
    assert crawl.said() == set(map(site, urls))
    assert not report(crawl).rules


def test_what_none_speaks_against_holds(tmp_path: Path) -> None:
    crawl = RuledCrawl(tmp_path, site)
    urls = [f"{SOMEWHERE}/story/{'x' * n}" for n in range(1, 600)] + editions(range(10, 60))
    for url in urls:
        crawl.admit(url)
        crawl.drain()
    assert {rule.state for rule in report(crawl).rules} == {"holds"}
    assert len(crawl.fetched) < len(urls)


def test_its_queries_scan_no_requests_of_other_hosts() -> None:
    with closing(Database(None)) as database:
        for sql in backtest._PAGES:
            plan = database.read(f"EXPLAIN QUERY PLAN {sql}", (1, 1, 1)).fetchall()
            (requests,) = [row[-1] for row in plan if " requests " in f"{row[-1]} "]
            assert "USING INDEX requests_" in requests
            assert "SCAN" not in requests or "requests_unfinished" in requests
