"""A site is crawled, and judged again by other parameters: nothing is lost, the lab foresaw it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawler.pages.live_parameters import tune
from tests.crawler.maintenance.rejudge.captured import judge_again
from tests.crawler.maintenance.rejudge.test_rejudging import every_text
from tests.crawler.maintenance.rejudge.tried import stored, tried
from tests.crawler.maintenance.verify.crawled import check
from tests.crawls.command import scrapy

if TYPE_CHECKING:
    from pathlib import Path

CHANGES: tuple[dict[str, object], ...] = (
    {"min_words": 1},
    {"min_words": 10},
    {"min_words": 300},
    {"min_words": 20, "min_similarity": 0.3},
    {"min_words": 50, "min_similarity": 1.0},
    {"min_similarity": 0.8, "max_distance": 0},
    {"max_distance": 8, "verify": False},
    {"max_distance": 3, "verify": True},
)
"""One after the other; the last ones are those of the beginning."""


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    jobdir = tmp_path_factory.mktemp("demo") / "job"
    done = scrapy("demo", "-s", f"JOBDIR={jobdir}")
    assert done.returncode == 0, done.stdout + done.stderr
    return jobdir


def test_the_lab_foresees_what_judging_again_does(demo: Path) -> None:
    first, texts = stored(demo), every_text(demo)
    for changes in CHANGES:
        parameters = tune(demo, changes, "tune").parameters
        expected = tried(demo, parameters)
        found = judge_again(demo)
        assert stored(demo) == expected, changes
        assert (found.judged, found.to_fetch) == (len(first), 0)
        assert texts <= every_text(demo)
        assert check(demo).problems == ()
    assert stored(demo) == first
