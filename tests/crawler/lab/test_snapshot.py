"""Counts over time: bounded, and none lost."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from crawler.lab.live import MAX_STEPS, Series, Step

MOMENTS = st.floats(0, 4e9, allow_nan=False)


def test_nothing_counted_is_no_step() -> None:
    assert Series().steps() == []


def test_seconds_are_summed_from_the_beginning() -> None:
    series = Series()
    for at, kept, dropped in [(10.2, 1, 0), (10.9, 0, 1), (12.0, 1, 0)]:
        series.add(at, kept, dropped)
    assert series.steps() == [Step(10, 0, 0), Step(11, 1, 1), Step(13, 2, 1)]


class TestSeriesProperties:
    @given(st.lists(st.tuples(MOMENTS, st.booleans()), min_size=1, max_size=60))
    def test_sums_hold_whatever_the_order_and_the_span(
        self, pages: list[tuple[float, bool]]
    ) -> None:
        series = Series()
        for at, is_kept in pages:
            series.add(at, int(is_kept), int(not is_kept))
        steps = series.steps()
        assert len(steps) <= MAX_STEPS + 1
        kept = sum(is_kept for _, is_kept in pages)
        assert steps[-1][1:] == (kept, len(pages) - kept)
        assert steps[0].at <= min(at for at, _ in pages)
        assert steps == sorted(steps)
        for step in steps:
            before = [is_kept for at, is_kept in pages if at < step.at]
            assert step[1:] == (sum(before), len(before) - sum(before))
