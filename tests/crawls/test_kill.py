"""SIGKILL and SIGINT in the middle of a crawl: nothing is lost, nothing is kept twice."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import time
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from tests.crawls.command import crawl, pages, report, scrapy, start_scrapy

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.sites.nginx import ServedSite

ENOUGH_PAGES = 100


def crawl_until(url: str, jobdir: Path, stop: signal.Signals) -> str:
    """Start a crawl, wait for some pages, send the signal; return what it printed."""
    before = stored(jobdir)
    process = start_scrapy("crawl", "site", "-a", f"url={url}", "-s", f"JOBDIR={jobdir}")
    try:
        deadline = time.monotonic() + 60
        while stored(jobdir) < before + ENOUGH_PAGES and process.poll() is None:
            assert time.monotonic() < deadline, "the crawl does not move"
            time.sleep(0.1)
        os.kill(process.pid, stop)
        output, errors = process.communicate(timeout=60)
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()
    assert "Traceback" not in errors, errors
    return output + errors


def stored(jobdir: Path) -> int:
    if not (jobdir / "crawl.db").exists():
        return 0
    try:
        with closing(sqlite3.connect(f"file:{jobdir}/crawl.db?mode=ro", uri=True)) as connection:
            return int(connection.execute("SELECT count(*) FROM pages").fetchone()[0])
    except sqlite3.OperationalError:  # its tables are about to be made
        return 0


@pytest.fixture(scope="module")
def truth(sqlite_site: ServedSite, tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    jobdir = tmp_path_factory.mktemp("truth") / "job"
    crawl(sqlite_site.url, jobdir)
    return {page["canonical_url"] for page in pages(jobdir)}


def test_nothing_is_lost_or_kept_twice_after_kills(
    sqlite_site: ServedSite, truth: set[str], tmp_path: Path
) -> None:
    jobdir = tmp_path / "job"
    for _ in range(3):
        crawl_until(sqlite_site.url, jobdir, signal.SIGKILL)
    done = crawl(sqlite_site.url, jobdir)
    assert "going on" in done.stdout.splitlines()[0]
    found = pages(jobdir)
    urls = [page["canonical_url"] for page in found]
    assert set(urls) == truth
    assert len(urls) == len(truth)
    kept = [page["text_digest"] for page in found if page["text"] is not None]
    assert len(kept) == len(set(kept))
    assert report(jobdir)["visit"] == 1


def test_ctrl_c_says_where_it_stands_and_goes_on(
    sqlite_site: ServedSite, truth: set[str], tmp_path: Path
) -> None:
    jobdir = tmp_path / "job"
    output = crawl_until(sqlite_site.url, jobdir, signal.SIGINT)
    assert "shutting down gracefully" in output
    assert "the same command goes on" in output
    crawl(sqlite_site.url, jobdir)
    assert {page["canonical_url"] for page in pages(jobdir)} == truth


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of two megabytes, which can be made larger."""
    mount = shutil.which("mount")
    if mount is None or os.geteuid() != 0:
        pytest.skip("a small disk can only be mounted by root")
    folder = tmp_path / "disk"
    folder.mkdir()
    options = ["-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)]
    if subprocess.run([mount, *options], capture_output=True, check=False).returncode:
        pytest.skip("no file system can be mounted here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_stops_the_crawl_and_loses_nothing(
    sqlite_site: ServedSite, truth: set[str], small_disk: Path
) -> None:
    jobdir = small_disk / "job"
    command = ["crawl", "site", "-a", f"url={sqlite_site.url}", "-s", f"JOBDIR={jobdir}"]
    done = scrapy(*command)
    assert done.returncode == 1
    assert "disk is full" in done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    subprocess.run(["mount", "-o", "remount,size=100m", str(small_disk)], check=True)
    assert scrapy(*command).returncode == 0
    assert {page["canonical_url"] for page in pages(jobdir)} == truth
