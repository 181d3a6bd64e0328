"""What a crawl says before it begins, and that it does so."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from tests.crawls.command import crawl, report, scrapy, start_scrapy
from tests.sites.many import ManyPages
from tests.sites.many import pages as many
from tests.waiting import wait_until

if TYPE_CHECKING:
    from pathlib import Path

COUNT = 30


def test_a_crawl_that_fetched_nothing_asks_again(tmp_path: Path) -> None:
    """The server is down at first; then all failed, and what failed is asked for."""
    with ManyPages(many(3)) as served:
        url = served.url
    site = ["crawl", "site", "-a", f"url={url}", "-s", f"JOBDIR={tmp_path}"]
    quick = ["-s", "CRAWL_PAUSE_SECS=0.1", "-s", "CRAWL_RETRY_BUDGET_SECS=0.5"]
    for stands in ("(new)", "(no page was fetched yet, asking again)"):
        done = scrapy(*site, *quick)
        assert done.returncode == 1, done.stdout + done.stderr
        assert stands in done.stdout
    with ManyPages(many(3), port=urlsplit(url).port or 0):
        done = scrapy(*site, *quick, "-a", "revisit=failed")
        assert done.returncode == 0, done.stdout + done.stderr
        assert report(tmp_path)["kept"] == 3
        assert "finished, nothing to fetch" in scrapy(*site).stdout


def test_going_on_with_a_killed_visit_promises_no_other_one(tmp_path: Path) -> None:
    again = ("-a", "revisit=yes")
    with ManyPages(many(COUNT)) as served:
        crawl(served.url, tmp_path)
        served.hold_after(served.total + COUNT // 2)
        site = ["crawl", "site", "-a", f"url={served.url}", "-s", f"JOBDIR={tmp_path}"]
        process = start_scrapy(*site, *again)
        try:
            wait_until(lambda: report(tmp_path)["verdicts"]["unchanged"] > 0, process)
            os.kill(process.pid, signal.SIGKILL)
        finally:
            process.kill()
            process.communicate()
            served.hold_after(None)
        other = scrapy(
            "crawl", "site", "-a", "url=http://127.0.0.1:9/", "-s", f"JOBDIR={tmp_path}",
            "-s", "NEARDUP_MIN_WORDS=20",
        )  # fmt: skip
        assert other.returncode == 2
        assert other.stderr.count("\n") == 1
        assert "in the middle of another crawl" in other.stderr
        assert "20" not in scrapy("tune", str(tmp_path)).stdout.split("pages judged")[0]
        done = crawl(served.url, tmp_path, *again)
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("crawl directory"))
    assert "(going on with visit 2: " in line
    assert line.endswith(" URLs queued)")
    assert "kept and duplicates, all that the directory holds now" in done.stdout
    assert report(tmp_path)["visit"] == 2
