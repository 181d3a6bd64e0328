"""Places where links never end: a crawl comes out of them, and with everything that was to find."""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING

import pytest

from crawler.storage.database import open_for_reading
from crawler.url_rules.kinds import CLOSED, OPEN
from crawler.url_rules.rule_report import StoredCluster, trap_report
from tests.crawls.command import crawl, killed, report, scrapy
from tests.crawls.crawled import queried
from tests.sites.dynamic import DynamicSite, Options
from tests.sites.endless import HOME, ITEMS, SHAPES, EndlessSite
from tests.waiting import wait_until

if TYPE_CHECKING:
    from pathlib import Path

CONCURRENT = ("-s", "CONCURRENT_REQUESTS_PER_DOMAIN=8")
UNDER_WAY = 50
"""Pages that may be on their way when the last one that a budget allows has been read."""


def options(*parts: str, size: int = 20) -> Options:
    return Options(parts=parts, size=size, boards=5, articles=10, authors=3)


def clusters(jobdir: Path) -> dict[str, StoredCluster]:
    """Those that are not open, by what follows the host."""
    with closing(open_for_reading(jobdir)) as connection:
        return {one.name.partition("/")[2]: one for one in trap_report(connection)}


CHAINED = "its last 300 pages differ in numbers alone, and each leads on"


def by_place(site: DynamicSite) -> Counter[str]:
    """Fetches by the first part of the path."""
    return Counter(
        fetch.target.strip("/").partition("?")[0].split("/")[0] for fetch in site.fetches
    )


@pytest.mark.parametrize(
    ("part", "cluster", "most", "reason"),
    [
        ("calendar", "calendar?month=", 500, CHAINED),
        ("maze", "maze/**", 1_500, "none of its last 300 pages was new"),
    ],
)
def test_a_crawl_of_what_has_no_end_ends_and_loses_nothing(
    tmp_path: Path, part: str, cluster: str, most: int, reason: str
) -> None:
    with DynamicSite(options(part)) as site:
        crawl(site.url, tmp_path, *CONCURRENT)
        assert not site.lost()
        assert len(site.fetches) < most
    trap = clusters(tmp_path)[cluster]
    assert (trap.state, trap.reason) == (CLOSED, reason)
    assert trap.skipped > 0
    assert report(tmp_path)["queued"] == 0


@pytest.mark.parametrize("shape", SHAPES)
def test_names_without_an_end_are_a_trap_and_such_as_lead_to_pages_are_none(
    tmp_path: Path, shape: str
) -> None:
    with EndlessSite(shape) as site:
        done = scrapy(
            *("crawl", "site", "-a", f"url={HOME}", "-a", "scope=domain"),
            *("-s", f"JOBDIR={tmp_path}", "-s", "DOWNLOAD_DELAY=0", *CONCURRENT),
            environment={"http_proxy": site.proxy},
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert 300 <= len(site.asked("loop")) < 500
        assert len(set(site.asked("item"))) == ITEMS
        assert 3 <= len(site.asked_sitemaps()) <= 3 * 30, "of the seed's host and 29 more at most"
    sql = "SELECT count(*) FROM pages WHERE verdict = 'new' AND title LIKE 'Item %'"
    assert [tuple(row) for row in queried(tmp_path, sql)] == [(ITEMS,)]
    assert report(tmp_path)["queued"] == 0


def test_what_lies_deep_comes_before_what_has_no_end(tmp_path: Path) -> None:
    """The last entry is fifteen links away, where a maze has thirty thousand pages."""
    lost = []
    for learns in ("True", "False"):
        with DynamicSite(options("maze", "editions", size=150)) as site:
            bounds = ("-a", "max_pages=700", "-s", f"CRAWL_LEARN_URL_RULES={learns}")
            crawl(site.url, tmp_path / learns, *CONCURRENT, *bounds)
            assert len(site.fetches) <= 700 + UNDER_WAY
            lost.append([name for name in site.lost() if "edition" not in name])
    assert lost[0] == []
    assert len(lost[1]) > 30
    assert clusters(tmp_path / "True")["maze/**"].state != OPEN


def test_a_budget_for_each_kind_of_url_is_kept_to(tmp_path: Path) -> None:
    budget = ("-s", "CRAWL_MAX_PAGES_PER_CLUSTER=60")
    with DynamicSite(options("calendar", "shop", "fresh", size=300)) as site:
        crawl(site.url, tmp_path, *CONCURRENT, *budget)
        asked = by_place(site)
        assert not site.lost()
        assert 60 <= asked["calendar"] <= 60 + UNDER_WAY
        assert 60 <= asked["fresh"] <= 60 + UNDER_WAY, "what is new at each fetch is no exception"
        assert asked["article"] == 50
    assert {one.reason for one in clusters(tmp_path).values()} >= {
        "its budget of 60 pages is spent"
    }


def _has_served(site: DynamicSite, pages: int) -> bool:
    return len(site.fetches) >= pages


def test_what_was_found_out_of_a_trap_survives_kills(tmp_path: Path) -> None:
    command = ("-s", f"JOBDIR={tmp_path}", *CONCURRENT)
    with DynamicSite(options("calendar", "shop")) as site:
        for target in (80, 200, 330):
            with killed("crawl", "site", "-a", f"url={site.url}", *command) as process:
                wait_until(partial(_has_served, site, target), process)
        crawl(site.url, tmp_path, *CONCURRENT)
        assert not site.lost()
        asked = by_place(site)
        assert asked["calendar"] < 600
        fetches = Counter(fetch.target for fetch in site.fetches)
        assert fetches.total() - len(fetches) < 3 * 60, "of each process the last half second"
    trap = clusters(tmp_path)["calendar?month="]
    assert trap.state == CLOSED
    assert trap.fetched >= 313
