"""Sites whose pages tell the time: as the footer of all of them, and as their content."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from tests.crawls.command import crawl, pages, report
from tests.sites.clocks import EVENTS, FOOTERS, THINGS, ClockedSite, EventSite

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow


def kept_of_hosts(folder: Path) -> Counter[str | None]:
    """Count the kept pages of each host."""
    return Counter(urlsplit(row["url"]).hostname for row in pages(folder, "--verdict", "kept"))


def test_a_page_that_tells_the_time_is_kept_once_and_does_not_change(tmp_path: Path) -> None:
    """One crawl of a host for each way to tell it."""
    with ExitStack() as stack:
        hosts = {f"127.0.0.{number}": footer for number, footer in enumerate(FOOTERS, 2)}
        sites = [stack.enter_context(ClockedSite(hosts[host], host)) for host in hosts]
        seeds = ",".join(site.url for site in sites)
        crawl(seeds, tmp_path)
        assert kept_of_hosts(tmp_path) == dict.fromkeys(hosts, 1 + THINGS), hosts
        crawl(seeds, tmp_path, "-a", "revisit=yes")
    assert kept_of_hosts(tmp_path) == dict.fromkeys(hosts, 1 + THINGS), hosts
    outcomes = report(tmp_path)["changes"]["outcomes"]
    assert outcomes["unchanged"] == sum(outcomes.values()) > THINGS * len(hosts)


def test_times_near_the_present_that_are_content_are_kept(tmp_path: Path) -> None:
    with EventSite() as site:
        crawl(site.url, tmp_path)
        crawl(site.url, tmp_path, "-a", "revisit=yes")
        assert len(pages(tmp_path, "--verdict", "kept")) == 1 + EVENTS
        site.begin("The train leaves on")
        crawl(site.url, tmp_path, "-a", "revisit=yes")
    assert len(pages(tmp_path, "--verdict", "kept")) == 1 + EVENTS
