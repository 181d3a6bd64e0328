"""The sums of all runs of a directory, and how a crawl ended."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from crawler.crawl_numbers import FINISHED, STOPPED, Sums, ending_of
from crawler.job import Job
from crawler.pages.reasons import Reason
from crawler.pages.verdicts import FAILED, NEW
from crawler.run import JobOptions

if TYPE_CHECKING:
    from pathlib import Path


def opened(folder: Path) -> Job:
    return Job(folder, JobOptions())


def test_sums_of_the_directory_are_those_of_all_runs(tmp_path: Path) -> None:
    for number in range(1, 4):
        with closing(opened(tmp_path)) as job:
            assert job.had_runs is (number > 1)
            job.result.count(NEW, 100)
            job.result.count(FAILED, reason=Reason.TIMEOUT.stored())
            assert Sums.of(job.sums).fetched == Sums.of(job.sums).failed == number
            assert Sums.of(job.sums).bytes == 100 * number
            assert Sums.of(job.result.sums).fetched == 1


def test_failures_are_counted_by_their_reason(tmp_path: Path) -> None:
    with closing(opened(tmp_path)) as job:
        url = "http://a.example/"
        for status in (404, 404, 500):
            job.store_failure(url, FAILED, Reason.HTTP_STATUS.stored(status), status=status)
        job.store_failure(url, FAILED, Reason.ERROR.stored("what http://a.example/ said"))
        assert job.result.failures == {
            ("http_status", "404"): 2,
            ("http_status", "500"): 1,
            ("error", ""): 1,
        }


@pytest.mark.parametrize(
    ("reason", "ending"),
    [
        ("finished", (FINISHED, "")),
        ("shutdown", (STOPPED, "signal")),
        ("closespider_timeout", (STOPPED, "closespider_timeout")),
    ],
)
def test_ending(tmp_path: Path, reason: str, ending: tuple[str, str]) -> None:
    with closing(opened(tmp_path)) as job:
        assert ending_of(job, reason) == ending


def test_a_limit_ends_a_crawl_only_where_requests_are_left(tmp_path: Path) -> None:
    with closing(opened(tmp_path)) as job:
        job.run = replace(job.run, max_pages=1)
        job.result.count(NEW)
        assert ending_of(job, "finished") == (FINISHED, "")
        job.result.stop_requests("--max-bytes 1M are there")
        assert ending_of(job, "finished") == (STOPPED, "--max-bytes 1M are there")
        job.result.stop("the disk is full")
        assert ending_of(job, "shutdown") == (STOPPED, "the disk is full")
