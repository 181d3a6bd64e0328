"""What users have written never replaces what a crawl lives on, and fails in one line."""

from __future__ import annotations

import csv
import io
import os
import shutil
from typing import TYPE_CHECKING

import pytest

from tests.crawls.command import crawl, crawl_once, pages, scrapy
from tests.crawls.test_bad_input import expect_one_line
from tests.sites.many import ManyPages
from tests.sites.many import pages as many

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

COUNT = 30


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """A served site, and the directory of its crawl."""
    folder = tmp_path_factory.mktemp("outputs") / "job"
    with ManyPages(many(COUNT)) as served:
        crawl(served.url, folder)
        yield served.url, folder


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path): path.read_bytes() for path in files if not path.name.startswith("crawl.db-")}


def test_no_output_replaces_what_a_crawl_lives_on(crawled: tuple[str, Path]) -> None:
    url, folder = crawled
    (folder / "link").symlink_to(folder / "crawl.db")
    before = contents(folder)
    site = ["crawl", "site", "-a", f"url={url}", "-s", f"JOBDIR={folder}"]
    refused = "lives on it; choose another file"
    expect_one_line([*site, "-O", f"{folder}/crawl.db:jsonl"], refused)
    expect_one_line([*site, "-o", f"file://{folder}/link:jsonl"], refused)
    expect_one_line([*site, "-O", f"{folder}/passages/new/pages.jsonl"], refused)
    expect_one_line(["pages", str(folder), "-o", f"{folder}/crawl.db:jsonl"], refused)
    expect_one_line(["pages", str(folder), "-o", f"{folder}/crawl.db-wal:jsonl"], refused)
    expect_one_line(["rules", str(folder), "--export", f"{folder}/seen.bloom"], refused)
    expect_one_line(["sweep", str(folder), "--plot", f"{folder}/passages/x.png"], refused)
    assert contents(folder) == before
    assert len(pages(folder)) == COUNT


@pytest.mark.parametrize("words", ["crawl {url} {job} -o -:csv", "pages {job} --output -:csv"])
def test_standard_output_takes_a_format(
    crawled: tuple[str, Path], tmp_path: Path, words: str
) -> None:
    url, folder = crawled
    job = tmp_path / "new" if words.startswith("crawl") else folder
    done = crawl_once(*words.format(url=url, job=job).split(), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert len({row["url"] for row in rows if row["verdict"] == "new"}) >= COUNT - 1
    assert not (tmp_path / "-:csv").exists()


def test_a_feed_is_refused_before_its_directory_is_made(tmp_path: Path) -> None:
    job = tmp_path / "job"
    site = ["crawl", "site", "-a", "url=http://127.0.0.1:9/", "-s", f"JOBDIR={job}"]
    expect_one_line([*site, "-O", f"{job}/crawl.db:jsonl"], "lives on it; choose another file")
    assert not job.exists()


def test_no_output_replaces_a_database_or_a_directory(
    crawled: tuple[str, Path], tmp_path: Path
) -> None:
    _, folder = crawled
    copy = shutil.copyfile(folder / "crawl.db", tmp_path / "copy.jsonl")
    before = copy.read_bytes()
    expect_one_line(["pages", str(folder), "-o", str(copy)], "is a database")
    expect_one_line(["pages", str(folder), "-o", f"{tmp_path}:csv"], "is a directory")
    assert copy.read_bytes() == before


@pytest.mark.parametrize("feed", ["/proc/nope/x.jsonl", "/proc/%(time)s.jsonl"])
def test_a_feed_that_cannot_be_written_is_refused_before_the_crawl(
    feed: str, tmp_path: Path
) -> None:
    job = tmp_path / "job"
    site = ["crawl", "site", "-a", "url=http://127.0.0.1:9/", "-s", f"JOBDIR={job}"]
    expect_one_line([*site, "-O", feed], "cannot be written")
    assert not job.exists()


def test_a_trial_of_a_feed_leaves_nothing(tmp_path: Path) -> None:
    """Of two feeds the second one is refused, so the first one was tried for nothing."""
    made, kept = tmp_path / "a" / "b" / "pages.csv", tmp_path / "kept.jsonl"
    kept.write_text("of others\n")
    feeds = ["-o", str(made), "-o", str(kept), "-o", "/proc/nope/x.jsonl"]
    job = tmp_path / "job"
    site = ["crawl", "site", "-a", "url=http://127.0.0.1:9/", "-s", f"JOBDIR={job}"]
    expect_one_line([*site, *feeds], "/proc/nope/x.jsonl: cannot be written")
    assert sorted(os.listdir(tmp_path)) == ["kept.jsonl"]
    assert kept.read_text() == "of others\n"


@pytest.mark.parametrize("count", [3, COUNT])
def test_a_feed_that_fails_in_the_middle_is_one_line_and_status_1(
    count: int, tmp_path: Path
) -> None:
    """Few pages fail when the feed is closed, many when its buffer is full."""
    job, feed = tmp_path / "job", tmp_path / "feed.jsonl"
    with ManyPages(many(count)) as served:
        site = ["crawl", "site", "-a", f"url={served.url}", "-s", f"JOBDIR={job}"]
        done = scrapy(*site, "-o", "/dev/full:jsonl")
        assert done.returncode == 1, done.stderr
        lines = [line for line in done.stderr.splitlines() if "feed" in line]
        assert len(lines) == 1, done.stderr
        assert "stopped: a feed cannot be written: No space left on device" in lines[0]
        assert "Traceback" not in done.stderr
        # What was fetched is not lost, and the same command makes the feed whole.
        done = scrapy(*site, "-O", str(feed))
        assert done.returncode == 0, done.stderr
    assert len(feed.read_text().splitlines()) == len(pages(job, "--verdict", "kept"))
