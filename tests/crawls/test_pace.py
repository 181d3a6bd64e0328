"""Each host is asked at its own pace, and those that are slow hold nobody up."""

from __future__ import annotations

import json
from contextlib import ExitStack
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from tests.crawls.command import crawl, report
from tests.sites.many import pages
from tests.sites.refusing import Refusal, RefusingSite

if TYPE_CHECKING:
    from pathlib import Path

    from tests.sites.refusing import Answer, Visit

ROBOTS = "/robots.txt"
DELAY_SECS = 2.0
LONG_SECS = 4.0
"""A delay that is longer than a busy machine takes for a page."""
SLOW_SECS = 10.0
"""A delay that is longer than a busy machine takes for the start of a crawl and half of a site."""


def slowly(secs: float, count: int) -> dict[str, bytes]:
    """Pages of a site that wants a delay."""
    return {**pages(count), ROBOTS: f"User-agent: *\nCrawl-delay: {secs}\n".encode()}


def gaps(site: RefusingSite) -> list[float]:
    """Seconds between requests, robots.txt among them."""
    return [other.at - one.at for one, other in pairwise(site.asked)]


def keeps_its_delay(site: RefusingSite) -> bool:
    """Whether no request follows another at once.

    Requests leave a crawl in their delay and come to a busy site sooner or later: half of it tells
    a delay that is kept from none.
    """
    return min(gaps(site)) > DELAY_SECS / 2


def slots(**chosen: object) -> tuple[str, str]:
    """Nothing is slow of itself."""
    free = {f"127.0.0.{number}": {"delay": 0, "concurrency": 8} for number in range(1, 5)}
    return "-s", f"DOWNLOAD_SLOTS={json.dumps({**free, **chosen})}"


def leading_to(url: str) -> Answer:
    """Answer a page that is linked by a redirect."""

    def answer(visit: Visit, site: RefusingSite) -> Refusal | None:
        return Refusal(302, {"Location": url}) if visit.path == "/1.html" else None

    return answer


class TestOwnPace:
    def test_a_redirect_keeps_the_delay_of_where_it_leads(self, tmp_path: Path) -> None:
        with (
            RefusingSite(slowly(DELAY_SECS, 4), address="127.0.0.2") as target,
            RefusingSite(pages(2), leading_to(f"{target.url}3.html")) as source,
        ):
            crawl(f"{source.url},{target.url}", tmp_path / "job", *slots())
        assert len(target.asked) == 5
        assert keeps_its_delay(target)

    def test_a_redirect_lends_no_delay_to_where_it_leads(self, tmp_path: Path) -> None:
        with (
            RefusingSite(pages(41), address="127.0.0.2") as target,
            RefusingSite(slowly(LONG_SECS, 2), leading_to(f"{target.url}40.html")) as source,
        ):
            crawl(f"{source.url},{target.url}", tmp_path / "job", *slots())
        assert len(target.asked) == 41
        assert min(gaps(target)) < LONG_SECS / 2

    @pytest.mark.parametrize("throttled", [True, False])
    def test_autothrottle_takes_nothing_off_a_crawl_delay(
        self, tmp_path: Path, *, throttled: bool
    ) -> None:
        settings = ("-s", f"AUTOTHROTTLE_ENABLED={throttled}", "-s", "AUTOTHROTTLE_START_DELAY=0")
        with RefusingSite(slowly(DELAY_SECS, 4)) as site:
            crawl(site.url, tmp_path / "job", *slots(), *settings)
        assert keeps_its_delay(site)


class TestSlowHosts:
    def test_quick_hosts_are_asked_while_slow_ones_rest(self, tmp_path: Path) -> None:
        """As many slow ones as there may be requests: each waits in its delay all the time."""
        with ExitStack() as stack:
            slow = [
                stack.enter_context(RefusingSite(slowly(SLOW_SECS, 1), address=f"127.0.0.{number}"))
                for number in range(11, 15)
            ]
            quick = stack.enter_context(RefusingSite(pages(31)))
            seeds = ",".join(site.url for site in (*slow, quick))
            crawl(seeds, tmp_path / "job", *slots(), "-s", "CONCURRENT_REQUESTS=4")
            first = min(site.asked_for("/")[0].at for site in slow)
            served = sum(one.at < first for one in quick.asked)
        # What is sent is not there at once on a machine that does other things as well.
        assert all(min(gaps(site)) > SLOW_SECS / 2 for site in slow)
        assert served > 31 // 2
        assert report(tmp_path / "job")["fetched"] == 31 + 4
