"""What a setting may be, and how a bad one is named."""

from __future__ import annotations

import pytest
from scrapy.settings import Settings

from crawler.default_settings import CRAWL_REVISIT_LONGER_RATE
from crawler.job_registry import fleet_options, job_options
from crawler.options import check_values

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


def test_parts_are_dropped_in_no_fleet() -> None:
    settings = {"FLEET_REDIS_URL": "redis://127.0.0.1/0", "NEARDUP_DROP_CONTAINED": "1"}
    assert job_options(Settings(settings)).parameters.drop_contained
    with pytest.raises(ValueError, match=r"^NEARDUP_DROP_CONTAINED must be False: a fleet looks"):
        fleet_options(Settings(settings))


def test_what_is_not_confirmed_cannot_be_dropped_as_a_part() -> None:
    settings = Settings({"NEARDUP_VERIFY": False, "NEARDUP_DROP_CONTAINED": True})
    with pytest.raises(ValueError, match=r"^NEARDUP_DROP_CONTAINED needs verify"):
        job_options(settings)


def test_a_length_of_urls_below_nothing_is_refused() -> None:
    assert job_options(Settings({"URLLENGTH_LIMIT": 0})).reading.max_url_length == 65_536
    with pytest.raises(ValueError, match=r"^URLLENGTH_LIMIT must be at least 0, got -1$"):
        job_options(Settings({"URLLENGTH_LIMIT": -1}))


def from_command_line(name: str, value: str) -> Settings:
    settings = Settings()
    settings.set(name, value, priority="cmdline")
    return settings


def test_defaults_are_as_they_should_be() -> None:
    check_values(Settings())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("CRAWL_MAX_SITEMAPS", "many"),
        ("CRAWL_MAX_HEADER_BYTES", "1023"),
        ("CRAWL_OBEY_NOFOLLOW", "perhaps"),
        ("PROGRESS_INTERVAL_SECS", "0"),
        ("DOWNLOAD_DELAY", "little"),
        ("DOWNLOAD_TIMEOUT", "nan"),
        ("CONCURRENT_REQUESTS", "inf"),
        ("ROBOTSTXT_OBEY", "perhaps"),
    ],
)
def test_every_value_is_looked_at_before_a_crawl_begins(name: str, value: str) -> None:
    with pytest.raises(ValueError, match=f"^{name} must be .*, got "):
        check_values(from_command_line(name, value))


@pytest.mark.parametrize(
    ("name", "value"),
    [("DOWNLOAD_DELAY", "0.5"), ("ROBOTSTXT_OBEY", "False"), ("LOG_LEVEL", "INFO")],
)
def test_good_values_pass(name: str, value: str) -> None:
    check_values(from_command_line(name, value))
