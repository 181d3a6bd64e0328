"""The start of a crawl: what it imports, what it says before it begins, what it downloads."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from tests.crawler.console.test_command_line import modules_of_our_program
from tests.crawls.command import PROJECT, TIMEOUT_SECS, crawl, killed, report, scrapy
from tests.sites.many import ManyPages, pages
from tests.sites.many import pages as many
from tests.waiting import wait_until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.sites.hostile import HostileSite

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
        with killed(*site, *again) as process:
            wait_until(lambda: report(tmp_path)["verdicts"]["unchanged"] > 0, process)
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


def test_cookies_download_no_list_of_suffixes(hostile_site: HostileSite, tmp_path: Path) -> None:
    done = scrapy(
        "crawl", "site", "-a", f"url={hostile_site.at('/redirect/cookie')}", "-a", "max_depth=0",
        "-s", f"JOBDIR={tmp_path / 'job'}",
        environment={"XDG_CACHE_HOME": str(tmp_path / "cache")},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "1 fetched, 1 kept" in done.stdout
    assert "suffix" not in done.stderr
    assert "Traceback" not in done.stderr


_PROGRAM = """
import sys
from scrapy.cmdline import execute

try:
    execute(["scrapy", "crawl", "site", *sys.argv[1:]])
finally:
    print(*sys.modules, file=sys.stderr)
"""


@pytest.fixture(scope="module")
def jobdir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("start") / "job"


@pytest.fixture(scope="module")
def imported(jobdir: Path) -> set[str]:
    """The modules of a crawl at its end."""
    with ManyPages(pages(3)) as site:
        arguments = ["-a", f"url={site.url}", "-s", f"JOBDIR={jobdir}"]
        done = subprocess.run(
            [sys.executable, "-c", _PROGRAM, *arguments],
            cwd=PROJECT, capture_output=True, text=True, check=True, timeout=TIMEOUT_SECS,
        )  # fmt: skip
    assert "3 kept" in done.stdout, done.stdout + done.stderr
    return set(done.stderr.splitlines()[-1].split())


def test_a_crawl_imports_no_compiler(imported: set[str]) -> None:
    assert not imported & {"numba", "llvmlite"}


def test_a_crawl_imports_nothing_of_the_lab(imported: set[str]) -> None:
    others = ("crawler.lab", "crawler.fleet.fleet", "crawler.maintenance.merge")
    assert not [name for name in imported if name.startswith(others)]
    assert not imported & {"aiohttp", "redis", "warcio", "trafilatura", "matplotlib"}


def test_our_program_imports_no_other_spider_than_its_own(tmp_path: Path) -> None:
    with ManyPages(pages(1)) as site:
        loaded = modules_of_our_program(site.url, str(tmp_path / "job"), "--max-pages", "1")
    assert "crawler.spiders.site" in loaded
    others = {"crawler.spiders.mirror", "crawler.spiders.replay", "crawler.mirror.documents.places"}
    assert not loaded & others


@pytest.mark.usefixtures("imported")
@pytest.mark.parametrize(
    ("command", "others"),
    [
        ("pages", {"numpy", "rich", "requests", "tldextract", "trafilatura"}),
        ("report", {"filelock", "requests", "tldextract", "trafilatura"}),
        ("rules", {"numpy", "filelock", "requests", "tldextract", "trafilatura"}),
    ],
)
def test_what_reads_a_crawl_imports_what_it_needs(
    jobdir: Path, command: str, others: set[str]
) -> None:
    assert not modules_of_our_program(command, str(jobdir)) & {"scrapy", "twisted", *others}
