"""What a setting may be, and how a bad one is named."""

from __future__ import annotations

import pytest
from scrapy.settings import Settings

from crawler.default_settings import CRAWL_REVISIT_LONGER_RATE
from crawler.options import job_options

RATES = (
    "CRAWL_REVISIT_INTERVAL_SECS",
    "CRAWL_REVISIT_MIN_INTERVAL_SECS",
    "CRAWL_REVISIT_MAX_INTERVAL_SECS",
    "CRAWL_REVISIT_SHORTER_RATE",
    "CRAWL_REVISIT_LONGER_RATE",
    "READING_TIMEOUT_SECS",
)


def test_what_is_not_set_has_its_default() -> None:
    assert job_options(Settings()).intervals.longer == CRAWL_REVISIT_LONGER_RATE


def test_numbers_are_read_from_text() -> None:
    options = job_options(Settings({"CRAWL_REVISIT_LONGER_RATE": "0.5"}))
    assert options.intervals.longer == 0.5


@pytest.mark.parametrize("name", RATES)
@pytest.mark.parametrize("value", ["inf", "nan", "-1", "-inf", "1e999", "soon", float("nan")])
def test_a_number_that_cannot_be_meant_is_refused(name: str, value: object) -> None:
    with pytest.raises(ValueError, match=f"^{name} must be (at least|a finite number|a number)"):
        job_options(Settings({name: value}))
