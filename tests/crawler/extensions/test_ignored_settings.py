"""Settings of the command line that have no effect are named."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from scrapy.settings import Settings

from crawler.extensions.job_keeping import _NEEDED, ignored_settings
from crawler.options import our_settings
from settings import crawl

if TYPE_CHECKING:
    from collections.abc import Sequence

HERE = "http://127.0.0.1:8000/"


def warnings(given: dict[str, Any], seeds: Sequence[str] = (HERE,)) -> list[str]:
    made = Settings()
    for name, value in our_settings().items():
        made.set(name, value, priority="addon")
    made.setmodule(crawl, priority="project")
    made.setdict(given, priority="cmdline")
    return list(ignored_settings(made, seeds))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            {"DOWNLOAD_DELAY": "1"},
            "DOWNLOAD_DELAY=1 has no effect on 127.0.0.1: DOWNLOAD_SLOTS of the project gives it "
            "a delay of 0; -s 'DOWNLOAD_SLOTS={}' takes that away",
        ),
        (
            {"CONCURRENT_REQUESTS_PER_DOMAIN": "2"},
            "CONCURRENT_REQUESTS_PER_DOMAIN=2 has no effect on 127.0.0.1: DOWNLOAD_SLOTS of the "
            "project gives it a concurrency of 8; -s 'DOWNLOAD_SLOTS={}' takes that away",
        ),
        ({"WARC_FOLDER": "x"}, "WARC_FOLDER has no effect: WARC_ENABLED is not set"),
        ({"FLEET_NAME": "x"}, "FLEET_NAME has no effect: FLEET_ENABLED is not set"),
        ({"METRICS_HOST": "::1"}, "METRICS_HOST has no effect: METRICS_PORT is not set"),
        (
            {"NEARDUP_MIN_SIMILARITY": "0.9", "NEARDUP_VERIFY": "False"},
            "NEARDUP_MIN_SIMILARITY has no effect: NEARDUP_VERIFY is False",
        ),
    ],
)
def test_warning(given: dict[str, Any], words: str) -> None:
    assert warnings(given) == [words]


@pytest.mark.parametrize(
    ("given", "seed"),
    [
        ({}, HERE),
        ({"DOWNLOAD_DELAY": "1"}, "https://a.example/"),
        ({"DOWNLOAD_DELAY": "0"}, HERE),
        ({"DOWNLOAD_DELAY": "1", "DOWNLOAD_SLOTS": "{}"}, HERE),
        ({"WARC_FOLDER": "x", "WARC_ENABLED": "True"}, HERE),
        ({"METRICS_HOST": "::1", "METRICS_PORT": "0"}, HERE),
        ({"NEARDUP_MIN_SIMILARITY": "0.9"}, HERE),
    ],
)
def test_what_has_an_effect_is_not_named(given: dict[str, Any], seed: str) -> None:
    assert warnings(given, [seed]) == []


def test_named_settings_exist() -> None:
    assert {*_NEEDED, *_NEEDED.values()} <= our_settings().keys()
