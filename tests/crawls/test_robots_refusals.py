"""A robots.txt that cannot be had now: its host rests, and no page is asked for or lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.crawls.command import crawl, report, scrapy
from tests.sites.many import pages
from tests.sites.refusing import Refusal, RefusingSite, Visit, until_asked

if TYPE_CHECKING:
    from pathlib import Path

PATIENT = ("-s", "CRAWL_PAUSE_SECS=0.1", "-s", "RETRY_TIMES=1", "-s", "READING_WORKERS=1")
ROBOTS = "/robots.txt"
REFUSALS = {
    "429": Refusal(429),
    "at once": Refusal(429, {"Retry-After": "0"}),
    "503": Refusal(503),
    "500": Refusal(500),
    "502": Refusal(502),
    "lost": Refusal(0),
}


@pytest.mark.parametrize("refusal", REFUSALS.values(), ids=REFUSALS)
def test_its_pages_wait_until_it_is_there(tmp_path: Path, refusal: Refusal) -> None:
    """It is refused more often than RETRY_TIMES; no page is asked for before it is answered."""
    with RefusingSite(pages(11), until_asked({ROBOTS: 5}, refusal)) as site:
        crawl(site.url, tmp_path / "job", *PATIENT)
        assert [one.path for one in site.asked[:5]] == [ROBOTS] * 5
        assert len(site.asked) == 5 + 11
    found = report(tmp_path / "job")
    assert (found["fetched"], found["failed"], found["queued"]) == (11, 0, 0)
    (rested,) = found["rested"]
    assert rested["name"] == "127.0.0.1"
    assert rested["reason"].startswith("robots.txt cannot be had: ")


def test_nobody_asks_before_the_time_that_it_names(tmp_path: Path) -> None:
    refused = until_asked({ROBOTS: 1}, Refusal(429, {"Retry-After": "1"}))
    with RefusingSite(pages(3), refused) as site:
        crawl(site.url, tmp_path / "job", *PATIENT)
        ((_, secs),) = site.gaps()
    assert secs > 0.95


@pytest.mark.parametrize("refusal", [Refusal(429), Refusal(500), Refusal(0)], ids=str)
def test_its_pages_have_failed_when_the_budget_is_spent(tmp_path: Path, refusal: Refusal) -> None:
    seeds = ("/", "/1.html", "/2.html")
    with RefusingSite(pages(3), until_asked({ROBOTS: 1000}, refusal)) as site:
        done = scrapy(
            *("crawl", "site", "-a", "url=" + ",".join(site.url + path[1:] for path in seeds)),
            *("-s", f"JOBDIR={tmp_path / 'job'}", *PATIENT, "-s", "CRAWL_RETRY_BUDGET_SECS=1"),
        )
        assert done.returncode == 1
        assert {one.path for one in site.asked} == {ROBOTS}
        # Pauses of 0.1, 0.2, 0.4 and 0.8 s are more than the budget.
        assert 2 <= len(site.asked) <= 5
    found = report(tmp_path / "job")
    ((reason, count),) = found["reasons"].items()
    assert reason.startswith("failed: robots.txt cannot be had: ")
    assert (count, found["failed"], found["queued"]) == (3, 3, 0)


def test_another_host_is_crawled_meanwhile(tmp_path: Path) -> None:
    quick = RefusingSite(pages(11), address="127.0.0.2")

    def refused_at_first(visit: Visit, site: RefusingSite) -> Refusal | None:
        is_early = visit.path == ROBOTS and len(quick.asked) < 11
        return Refusal(503) if is_early else None

    with quick, RefusingSite(pages(3), refused_at_first) as slow:
        crawl(f"{slow.url},{quick.url}", tmp_path / "job", *PATIENT, "-s", "DOWNLOAD_DELAY=0")
    assert report(tmp_path / "job")["fetched"] == 14
