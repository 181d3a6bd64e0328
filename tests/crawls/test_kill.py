"""SIGKILL, SIGINT, dead workers, a full disk, a locked database: nothing lost, nothing twice."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from crawler.frontier.order import NewRequest, host_number
from crawler.job import Job
from crawler.maintenance.crawl_directory import CrawlDirectory
from crawler.maintenance.verify.file_checks import find_unindexed
from crawler.maintenance.verify.verification import Further, verify
from crawler.pages.page_store import PageStore
from crawler.run import JobOptions
from crawler.storage.database import Database
from crawler.storage.errors import CrawlStorageError
from neardup import HammingIndex
from neardup.storage.sqlite import open_index
from tests.crawler.maintenance.verify.crawled import check, make
from tests.crawls.command import report, scrapy, start_scrapy
from tests.crawls.kills import (
    KilledCrawl,
    answers_of,
    assert_nothing_lost_or_kept_twice,
    crawl_command,
    kill_workers,
    wait_for,
)
from tests.no_watch import NoWatch
from tests.sites.many import ManyPages, pages

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PAGES = 500
KILLS = 6
FEWER_PAGES = 300
FETCHED_AGAIN = 40
"""Pages at most that are fetched again for each kill: those of some seconds."""

TAIL_BYTES = 100

LOCK = """
import sqlite3, sys, time
connection = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=30)
connection.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
time.sleep(float(sys.argv[2]))
"""


@pytest.fixture
def site() -> Iterator[ManyPages]:
    with ManyPages(pages(FEWER_PAGES)) as served:
        yield served


def test_nothing_is_lost_or_kept_twice_after_six_kills(tmp_path: Path) -> None:
    jobdir, feed = tmp_path / "job", tmp_path / "feed.jsonl"
    seed = random.randrange(2**32)
    print(f"seed of the moments: {seed}")
    with ManyPages(pages(PAGES)) as site:
        crawl = KilledCrawl(site, jobdir, seed, ("-O", str(feed)))
        again = []
        while crawl.kills < KILLS:
            before = crawl.fetched_again
            moment = crawl.chance.randrange(PAGES // KILLS)
            assert crawl.run_until(moment), f"it ended after {crawl.kills} kills"
            again.append(crawl.fetched_again - before)
        output, _ = crawl.finish()
        print(f"fetched again {crawl.fetched_again}, in the course of each process: {again}")
        assert "going on" in output.splitlines()[0]
        assert_nothing_lost_or_kept_twice(site, jobdir)
        assert answers_of(jobdir) == PAGES
        assert crawl.fetched_again <= FETCHED_AGAIN * KILLS
    with closing(CrawlDirectory(jobdir)) as directory:
        assert verify(directory, NoWatch(), Further(feed)).findings == ()
    assert report(jobdir)["visit"] == 1


def test_ctrl_c_says_where_it_stands_and_goes_on(site: ManyPages, tmp_path: Path) -> None:
    command = crawl_command(site, tmp_path)
    process = start_scrapy(*command)
    wait_for(site, FEWER_PAGES // 3, process)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "stopping when what is under way is through; Ctrl-C again ends at once" in errors
    assert "the same command goes on" in output + errors
    assert "Traceback" not in errors, errors
    assert scrapy(*command).returncode == 0
    assert_nothing_lost_or_kept_twice(site, tmp_path)
    assert len(site.asked) == site.total


def test_pages_that_a_second_ctrl_c_left_half_done_are_counted_once(
    site: ManyPages, tmp_path: Path
) -> None:
    command = crawl_command(site, tmp_path)
    for part in (3, 2):
        process = start_scrapy(*command)
        wait_for(site, FEWER_PAGES // part, process)
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        while "stopping when" not in process.stderr.readline():
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        assert process.returncode == 130
    assert scrapy(*command).returncode == 0
    assert_nothing_lost_or_kept_twice(site, tmp_path)
    assert answers_of(tmp_path) == FEWER_PAGES


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="children are found in /proc")
def test_dead_workers_cost_no_page(site: ManyPages, tmp_path: Path) -> None:
    process = start_scrapy(*crawl_command(site, tmp_path))
    killed, target, by_server = 0, 50, False
    while target < FEWER_PAGES - 60:
        wait_for(site, target, process)
        # A page that is met by three kills is unreadable, and says so; these are far apart.
        killed += kill_workers(process, by_server=by_server)
        by_server = not by_server
        target = site.total + 60
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    assert killed >= 4
    assert_nothing_lost_or_kept_twice(site, tmp_path)
    assert len(site.asked) == site.total


def test_a_full_disk_stops_the_crawl_and_loses_nothing(site: ManyPages, small_disk: Path) -> None:
    jobdir = small_disk / "job"
    command = [*crawl_command(site, jobdir), "-s", "CRAWL_MIN_FREE_BYTES=0"]
    done = scrapy(*command)
    assert done.returncode == 1
    assert "disk is full" in done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    subprocess.run(["mount", "-o", "remount,size=100m", str(small_disk)], check=True)
    assert check(jobdir).problems == ()
    assert scrapy(*command).returncode == 0
    assert_nothing_lost_or_kept_twice(site, jobdir)
    assert site.total - len(site.asked) <= FETCHED_AGAIN


def locked(path: Path, secs: float) -> subprocess.Popen[str]:
    """Another process that holds the database locked."""
    command = [sys.executable, "-c", LOCK, str(path), str(secs)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "locked\n"
    return process


def test_a_lock_of_another_process_is_waited_for(site: ManyPages, tmp_path: Path) -> None:
    process = start_scrapy(*crawl_command(site, tmp_path))
    wait_for(site, FEWER_PAGES // 3, process)
    with locked(tmp_path / "crawl.db", 2):
        pass
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    assert_nothing_lost_or_kept_twice(site, tmp_path)
    assert len(site.asked) == site.total


def test_a_lock_that_does_not_end_ends_the_crawl_and_loses_nothing(tmp_path: Path) -> None:
    job = Job(tmp_path, JobOptions())
    job.begin_visit()
    host = host_number("example.com")
    for number in range(3):
        job.frontier.queue.push(NewRequest(host, f"http://example.com/{number}", 0, b""))
    job.commit()
    job.database.read("PRAGMA busy_timeout = 100")
    with locked(tmp_path / "crawl.db", 60) as process:
        with pytest.raises(CrawlStorageError, match="locked"):
            job.frontier.queue.push(NewRequest(host, "http://example.com/more", 0, b""))
        assert "locked" in str(job.failure)
        job.close()
        process.kill()
    assert check(tmp_path).findings == ()
    job = Job(tmp_path, JobOptions())
    assert len(job.frontier.queue) == 3
    job.close()


def test_an_index_whose_files_are_cut_at_any_byte_of_their_tail_is_made_good(
    tmp_path: Path,
) -> None:
    jobdir, template = tmp_path / "job", tmp_path / "template"
    make(jobdir)
    shutil.rmtree(jobdir / "fingerprints")
    cuts = 0
    with closing(Database(jobdir)) as database:
        store = PageStore(database)
        with HammingIndex(template, buffer_size=2) as index:  # segments, and a log
            for fingerprint, number in store.fingerprints():
                index.add(fingerprint, number)
                index.flush()
        files = sorted(path for path in template.iterdir() if path.stat().st_size)
        assert {path.suffix for path in files} == {".seg", ".log"}
        for file in files:
            size = file.stat().st_size
            for left in range(max(0, size - TAIL_BYTES), size):
                shutil.copytree(template, jobdir / "fingerprints")
                os.truncate(jobdir / "fingerprints" / file.name, left)
                open_index(jobdir / "fingerprints", store).close()
                assert findings(jobdir) == [], (file.name, left)
                shutil.rmtree(jobdir / "fingerprints")
                cuts += 1
    assert cuts > TAIL_BYTES


def findings(jobdir: Path) -> list[str]:
    with closing(CrawlDirectory(jobdir)) as directory:
        return [finding.what for finding in find_unindexed(directory, NoWatch())]
