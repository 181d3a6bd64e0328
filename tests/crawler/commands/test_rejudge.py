"""``crawl-once rejudge`` as a user runs it, after a crawl of a served site."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from filelock import FileLock

from tests.crawler.maintenance.verify.crawled import check
from tests.crawls.command import crawl, pages, report, scrapy
from tests.read_only import run_read_only
from tests.sites.many import ManyPages
from tests.sites.many import pages as many

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

TWINS = 4
"""Of 81 pages every twentieth repeats another one."""


@pytest.fixture
def site() -> dict[str, bytes]:
    """Each page ends with words of its own, so that repetitions are near and not equal.

    All have one title, or they were other things on one template.
    """
    made = many(81)
    return {
        path: body.replace(b"</p></article>", f" This is {path}</p></article>".encode())
        for path, body in made.items()
    }


def test_what_cannot_be_written_is_tried(site: dict[str, bytes], tmp_path: Path) -> None:
    with ManyPages(site) as served:
        crawl(served.url, tmp_path / "job")
    folder = tmp_path / "job"
    tuned(folder, "min_similarity=1")
    dry = scrapy("rejudge", str(folder), "--dry-run")
    tried = run_read_only(folder, "rejudge", str(folder), "--dry-run")
    assert (tried.returncode, tried.stdout) == (0, dry.stdout), tried.stderr
    assert "cannot be written" in run_read_only(folder, "rejudge", str(folder)).stderr


def tuned(folder: Path, *changes: str) -> None:
    done = scrapy("tune", str(folder), *changes)
    assert done.returncode == 0, done.stderr


def test_after_a_crawl_its_pages_are_judged_anew(site: dict[str, bytes], tmp_path: Path) -> None:
    folder, fresh = tmp_path / "job", tmp_path / "fresh"
    with ManyPages(site) as served:
        crawl(served.url, folder)
        crawl(served.url, fresh, "-s", "NEARDUP_MIN_SIMILARITY=1")
    assert report(folder)["verdicts"]["near_duplicate"] == TWINS
    tuned(folder, "min_similarity=1")
    dry = scrapy("rejudge", str(folder), "--dry-run")
    assert f"81 would be kept, {81 - TWINS} before" in dry.stdout
    assert report(folder)["verdicts"]["near_duplicate"] == TWINS
    done = scrapy("rejudge", str(folder))
    assert done.returncode == 0, done.stderr
    assert "export again" not in done.stdout, "it has no feed"
    texts = {row["text"] for row in pages(folder, "--verdict", "kept")}
    assert texts == {row["text"] for row in pages(fresh, "--verdict", "kept")}
    assert len(texts) == 81
    assert check(folder).problems == ()
    assert "nothing changes" in scrapy("rejudge", str(folder)).stdout
    # The next crawl opens what was made, and goes on as it was tuned.
    with ManyPages(site) as served:
        again = crawl(served.url, tmp_path / "job", "-a", "revisit=yes")
    assert "as it was tuned: min_similarity 0.8 -> 1.0" in again.stderr
    assert "made again" not in again.stderr


def test_json_is_one_object(site: dict[str, bytes], tmp_path: Path) -> None:
    with ManyPages(site) as served:
        crawl(served.url, tmp_path / "job")
    tuned(tmp_path / "job", "min_similarity=1")
    found = json.loads(scrapy("rejudge", str(tmp_path / "job"), "--json").stdout)
    assert (found["now_kept"], found["kept"], found["judged"]) == (TWINS, 81, 81)
    assert len(found["kept_examples"]) == TWINS
    with FileLock(tmp_path / "job" / "lock"):
        done = scrapy("rejudge", str(tmp_path / "job"))
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "a crawl has it open" in done.stderr


def test_a_folder_without_a_crawl_is_one_line(tmp_path: Path) -> None:
    done = scrapy("rejudge", str(tmp_path))
    assert done.returncode == 2
    assert done.stderr == f"scrapy rejudge: {tmp_path}: no crawl in it (no crawl.db)\n"
