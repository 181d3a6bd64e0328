"""Crawls that end at the limit of their time, their bytes or the disk, and go on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.crawls.command import crawl, report, scrapy
from tests.sites.many import ManyPages, pages

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

PAGES = 60


@pytest.mark.parametrize(
    ("limit", "said"),
    [("max_time=1s", "the time of --max-time is over"), ("max_bytes=1k", "limit of --max-bytes")],
)
def test_a_crawl_ends_at_its_limit_and_goes_on(limit: str, said: str, tmp_path: Path) -> None:
    with ManyPages(pages(PAGES)) as site:
        slowly = ("-s", 'DOWNLOAD_SLOTS={"127.0.0.1": {"delay": 0.1, "concurrency": 1}}')
        done = crawl(site.url, tmp_path, "-a", limit, *slowly)
        assert said in done.stdout
        assert "the same command goes on" in done.stdout
        before = report(tmp_path)
        assert 0 < before["fetched"] < PAGES
        assert before["queued"]
        assert said not in crawl(site.url, tmp_path).stdout
    whole = report(tmp_path)
    assert (whole["fetched"], whole["queued"]) == (PAGES, 0)


def test_a_crawl_stops_before_the_disk_is_full(tmp_path: Path) -> None:
    with ManyPages(pages(PAGES)) as site:
        place = ("-a", f"url={site.url}", "-s", f"JOBDIR={tmp_path}")
        done = scrapy("crawl", "site", *place, "-s", f"CRAWL_MIN_FREE_BYTES={2**60}")
        assert done.returncode == 1
        *_, line = done.stderr.strip().splitlines()
        assert line.startswith("scrapy crawl: stopped: ")
        assert "fewer than CRAWL_MIN_FREE_BYTES" in line
        assert "let it fill the disk further: -s CRAWL_MIN_FREE_BYTES=10000000" in line
        assert "the same command goes on" not in done.stdout + done.stderr
        crawl(site.url, tmp_path)
    assert report(tmp_path)["fetched"] == PAGES
