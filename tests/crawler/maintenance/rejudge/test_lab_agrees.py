"""What the lab says of other parameters is what judging all pages again does."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.pages.live_parameters import tune
from neardup import Parameters
from tests.crawler.maintenance.rejudge.captured import Said, capture, judge_again
from tests.crawler.maintenance.rejudge.test_rejudging import VISITS, chosen, pages, tune_to
from tests.crawler.maintenance.rejudge.tried import changes, stored, tried
from tests.sites.prose import prose

pytestmark = pytest.mark.slow


@settings(max_examples=40, deadline=None)
@given(st.lists(pages(), max_size=9), chosen(), chosen(), chosen())
def test_the_lab_says_what_judging_again_does(
    said: list[Said], first: Parameters, second: Parameters, third: Parameters
) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "job"
        capture(folder, [(f"/{number}", one) for number, one in enumerate(said)], first)
        for parameters in (second, third, first):
            expected, before = tried(folder, parameters), changes(folder, parameters)
            tune_to(folder, parameters)
            # What is chosen holds for pages to come: those that are there are as they were.
            assert changes(folder, parameters) == before
            found = judge_again(folder)
            assert (found.now_kept, found.now_dropped) == before
            assert changes(folder, parameters) == (0, 0)
            assert stored(folder) == expected


@settings(max_examples=40, deadline=None)
@given(VISITS, st.lists(chosen(), min_size=4, max_size=4))
def test_the_lab_says_so_after_any_visits(
    visits: list[list[tuple[str, Said]]], parameters: list[Parameters]
) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "job"
        first = Parameters(features=Parameters().fingerprint_features)
        capture(folder, [], first)
        for visit, wanted in zip(visits, parameters, strict=False):
            capture(folder, visit, first)
            expected = tried(folder, wanted)
            tune_to(folder, wanted)
            judge_again(folder)
            assert stored(folder) == expected


def test_short_main_texts_are_told_apart_by_all_that_is_visible(tmp_path: Path) -> None:
    folder, text = tmp_path / "job", prose("short", 30)
    said = [("/one", Said(text, "menu")), ("/other", Said(text, "another menu"))]
    capture(folder, said, Parameters())
    assert [kind for _, kind, _ in stored(folder)] == ["too_short", "too_short"]
    for min_words, kinds in ((20, ["new", "text_duplicate"]), (50, ["too_short", "too_short"])):
        parameters = tune(folder, {"min_words": min_words}, "tune").parameters
        expected = tried(folder, parameters)
        assert [kind for _, kind, _ in expected] == kinds
        judge_again(folder)
        assert stored(folder) == expected
