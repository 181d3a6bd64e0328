"""Bytes of a second, and hours of a day."""

from __future__ import annotations

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.downloading.pace import Hours, TransferRate


@given(
    st.lists(st.tuples(st.integers(1, 10**6), st.floats(0, 10)), min_size=1), st.integers(1, 10**6)
)
def test_whoever_waits_never_exceeds_the_rate(taken: list[tuple[int, float]], rate: int) -> None:
    """Each reads after it has waited, and some time later."""
    now = 0.0
    held = TransferRate(rate, lambda: now)
    came = 0
    for count, later in taken:
        now += held.secs_to_wait() + later
        assert came <= rate * now * (1 + 1e-9) + 1e-6
        assert held.take(count) == pytest.approx(held.secs_to_wait())
        came += count


def test_a_connection_waits_for_the_bytes_of_all() -> None:
    held = TransferRate(100, lambda: 5.0)
    assert held.secs_to_wait() == 0
    assert held.take(50) == 0.5
    assert held.take(100) == 1.5


@pytest.mark.parametrize(
    ("written", "at", "is_open", "secs"),
    [
        ("22-6", "21:59:59", False, 1),
        ("22-6", "22:00:00", True, 0),
        ("22-6", "05:59:59", True, 57_601),
        ("22-6", "06:00:00", False, 57_600),
        ("9-17", "08:00:00", False, 3_600),
        ("9-17", "12:00:00", True, 75_600),
        ("9-17", "17:00:00", False, 57_600),
        ("22:30-6:15", "22:29:00", False, 60),
        ("22:30 - 6:15:10", "06:15:09", True, 58_491),
        ("18-24", "23:59:59", True, 64_801),
        ("18-24", "00:00:00", False, 64_800),
    ],
)
def test_hours_go_over_midnight(written: str, at: str, is_open: bool, secs: int) -> None:
    now = datetime.fromisoformat(f"2026-01-01T{at}+00:00")
    assert Hours.of(written).is_open(now) is is_open
    assert Hours.of(written).secs_until_open(now) == secs


@pytest.mark.parametrize("written", ["", "22", "22-", "25-3", "3-3", "0-24", "22.30-6", "1:60-2"])
def test_what_are_no_hours_is_refused(written: str) -> None:
    with pytest.raises(ValueError, match="hours such as 22-6"):
        Hours.of(written)
