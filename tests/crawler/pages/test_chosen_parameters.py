"""What a crawl was tuned to outlives its process; settings that were changed since win."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from crawler.job import Job
from crawler.pages.live_parameters import Tuned, tune
from neardup import Parameters
from tests.crawler.pages.test_capture import OPTIONS

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def opened(folder: Path, **settings: object) -> Tuned:
    parameters = replace(Parameters(), **settings)  # type: ignore[arg-type]
    job = Job(folder, replace(OPTIONS, parameters=parameters))
    job.close()
    return job.processor.tuned


def test_settings_hold_until_the_crawl_is_tuned(tmp_path: Path) -> None:
    first = opened(tmp_path, max_distance=2)
    assert (first.id, first.origin, first.parameters.max_distance) == (1, "settings", 2)
    assert opened(tmp_path, max_distance=2) == first


def test_what_was_tuned_survives_and_is_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    opened(tmp_path)
    tuned = tune(tmp_path, {"max_distance": 5, "verify": False}, "tune")
    with caplog.at_level("INFO"):
        assert opened(tmp_path) == tuned
    assert "as it was tuned: max_distance 3 -> 5, verify True -> False" in caplog.text
    assert tuned.parameters.fingerprint_features == Parameters().fingerprint_features


def test_settings_that_were_changed_since_win_and_only_those(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    opened(tmp_path)
    tune(tmp_path, {"max_distance": 5, "min_similarity": 0.9}, "tune")
    with caplog.at_level("INFO"):
        found = opened(tmp_path, min_similarity=0.7)
    assert (found.id, found.origin) == (3, "settings")
    assert found.parameters.max_distance == 5
    assert found.parameters.min_similarity == 0.7
    assert "settings were changed and win: min_similarity 0.9 -> 0.7" in caplog.text
    caplog.clear()
    assert opened(tmp_path, min_similarity=0.7) == found
    assert "as it was tuned: max_distance 3 -> 5" in caplog.text


def test_what_was_tuned_back_to_the_settings_is_not_worth_a_word(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    opened(tmp_path)
    tune(tmp_path, {"max_distance": 5}, "tune")
    tune(tmp_path, {"max_distance": 3}, "tune")
    opened(tmp_path)
    assert "tuned" not in caplog.text
