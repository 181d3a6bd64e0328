"""Counts over time: bounded, and none lost."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from crawler.lab.live import MAX_STEPS, Step, over_time

SECONDS = st.integers(0, 2**32)


def test_nothing_counted_is_no_step() -> None:
    assert over_time(Counter(), Counter({10: 0})) == []


def test_seconds_are_summed_from_the_beginning() -> None:
    steps = over_time(Counter({10: 1, 12: 1}), Counter({10: 1}))
    assert steps == [Step(10, 0, 0), Step(11, 1, 1), Step(13, 2, 1)]


@given(st.lists(SECONDS, max_size=60), st.lists(SECONDS, min_size=1, max_size=60))
def test_sums_hold_whatever_the_span(kept: list[int], dropped: list[int]) -> None:
    steps = over_time(Counter(kept), Counter(dropped))
    assert len(steps) <= MAX_STEPS + 1
    assert steps == sorted(steps)
    assert steps[0].at <= min(kept + dropped)
    for step in steps:
        assert step[1:] == tuple(sum(at < step.at for at in times) for times in (kept, dropped))
    assert steps[-1][1:] == (len(kept), len(dropped))
