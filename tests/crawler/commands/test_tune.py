"""``crawl-once tune`` as a user runs it, also beside a crawl that is running."""

from __future__ import annotations

import json
from contextlib import closing
from threading import Timer
from typing import TYPE_CHECKING, Any

import pytest

from crawler.storage.database import open_for_reading
from tests.crawler.maintenance.verify.crawled import check, make
from tests.crawls.command import scrapy
from tests.crawls.kills import KilledCrawl, wait_for
from tests.sites.many import ManyPages, pages
from tests.waiting import wait_until

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("template") / "job"
    make(folder)
    return folder


def rows(folder: Path, sql: str) -> list[tuple[Any, ...]]:
    with closing(open_for_reading(folder)) as connection:
        return [tuple(row) for row in connection.execute(sql)]


def test_it_prints_what_holds_and_what_rests_on_it(folder: Path) -> None:
    done = scrapy("tune", str(folder))
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["features", "word-1-log_count"]
    assert lines[1].split() == ["max_distance", "3"]
    assert lines[-1].endswith("with the parameters that the crawl began with")
    changed = scrapy("tune", str(folder), "max_distance=5", "verify=no", "min_similarity=.9")
    assert changed.returncode == 0, changed.stderr
    assert "tune: max_distance 3 -> 5, min_similarity 0.8 -> 0.9, verify True" in changed.stdout
    assert "need confirmation" not in done.stdout
    assert "fingerprints of word-1-log_count need confirmation" in changed.stdout
    assert changed.stdout.splitlines()[-1].startswith("pages that would be judged otherwise now")
    told = json.loads(scrapy("tune", str(folder), "--json").stdout)
    assert told["current"]["max_distance"] == 5
    assert [one["origin"] for one in told["history"]] == ["settings", "tune"]
    assert told["history"][0]["pages"] > 5
    assert told["history"][1]["pages"] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("max_distance",), "NAME=VALUE expected, such as max_distance=5, got max_distance"),
        (("max_distanc=5",), "no parameter max_distanc; did you mean max_distance?"),
        (("max_distance=much",), "max_distance must be a whole number, got 'much'"),
        (("max_distance=9",), "max_distance must be 0..8, got 9"),
        (("verify=perhaps",), "verify must be True or False, got 'perhaps'"),
        (("max_distance=2", "max_distance=4"), "max_distance is given twice"),
        (("features=word-3-set",), "features is fixed for a crawl directory"),
    ],
)
def test_what_is_wrong_is_one_line(folder: Path, arguments: tuple[str, ...], message: str) -> None:
    done = scrapy("tune", str(folder), *arguments)
    assert done.returncode == 2
    assert done.stderr.startswith(f"scrapy tune: {message}")
    assert done.stderr.count("\n") == 1


def test_where_there_is_no_crawl_it_says_so(tmp_path: Path) -> None:
    done = scrapy("tune", str(tmp_path), "max_distance=5")
    assert done.returncode == 2
    assert "no crawl in it" in done.stderr


def test_a_running_crawl_judges_later_pages_by_what_it_is_tuned_to(tmp_path: Path) -> None:
    # Every twentieth page repeats another; with an end of its own, it is only near to that.
    site_pages = pages(400)
    for path, body in site_pages.items():
        site_pages[path] = body.replace(b"</p></article>", f" Page {path}.</p></article>".encode())
    jobdir = tmp_path / "job"
    with ManyPages(site_pages) as site:
        crawl = KilledCrawl(site, jobdir, 1)
        site.hold_after(150)
        process = crawl.start()
        try:
            wait_for(site, 150, process)
            wait_until(lambda: is_stored(jobdir, "SELECT count(*) > 100 FROM pages"))
            done = scrapy("tune", str(jobdir), "min_similarity=1")
            assert done.returncode == 0, done.stderr
            said = wait_for_line(process, "other parameters")  # though nothing comes meanwhile
            site.hold_after(None)
            _, errors = process.communicate(timeout=120)
        finally:
            process.kill()
            process.communicate()
        assert process.returncode == 0, errors
        assert "min_similarity 0.8 -> 1.0" in said
        assert site.asked.total() == len(site.asked), "a page was fetched again"
    near = "SELECT parameters, count(*) FROM pages WHERE verdict = 'near_duplicate' GROUP BY 1"
    ((parameters, count),) = rows(jobdir, near)
    assert parameters == 1
    assert 0 < count < 19
    counts = dict(rows(jobdir, "SELECT parameters, count(*) FROM pages GROUP BY 1"))
    assert set(counts) == {1, 2}
    assert sum(counts.values()) == 400
    # Up to 32 requests were under way and unanswered when it was tuned.
    assert counts[1] <= 150
    assert check(jobdir).problems == ()


def wait_for_line(process: subprocess.Popen[str], words: str) -> str:
    """The line of a crawl's log that has these words; empty where it ends without one."""
    assert process.stderr is not None
    timer = Timer(60, process.kill)
    timer.start()
    try:
        return next((line for line in process.stderr if words in line), "")
    finally:
        timer.cancel()


def is_stored(jobdir: Path, sql: str) -> bool:
    """Whether a question to a crawl's database is answered by something true."""
    return bool(rows(jobdir, sql)[0][0])
