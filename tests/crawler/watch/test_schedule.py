"""Intervals and times, and how they are said."""

from __future__ import annotations

import time

import pytest

from crawler.commands.watch import interval_secs
from crawler.watch.watching import age_words, moment_words

DAY = 86_400.0


@pytest.mark.parametrize(
    ("written", "secs"),
    [("30m", 1_800), ("6h", 21_600), ("1d", DAY), ("2w", 14 * DAY), ("1d 12h", 1.5 * DAY)],
)
def test_an_interval_is_read(written: str, secs: float) -> None:
    assert interval_secs(written) == secs


@pytest.mark.parametrize("written", ["", "0m", "1", "d", "1x", "-1d", "30s", "9999w", "1h2d"])
def test_an_impossible_interval_is_refused(written: str) -> None:
    with pytest.raises(ValueError, match="an interval of a minute to ten years is wanted"):
        interval_secs(written)


@pytest.mark.parametrize(
    ("at", "words"),
    [
        ((2026, 11, 28, 11, 0), "now"),
        ((2026, 11, 28, 14, 5), "today at 14:05"),
        ((2026, 11, 29, 2, 10), "tomorrow at 02:10"),
        ((2026, 12, 1, 2, 10), "on Tue 1 Dec at 02:10"),
        ((2026, 12, 24, 2, 10), "on 24 Dec at 02:10"),
        ((2027, 1, 9, 2, 10), "on 9 Jan 2027 at 02:10"),
    ],
)
def test_a_moment_is_said_in_local_time(at: tuple[int, ...], words: str) -> None:
    assert moment_words(_local(at), _local((2026, 11, 28, 12, 0))) == words


def _local(moment: tuple[int, ...]) -> float:
    """Return a local time in seconds since 1970."""
    return time.mktime((*moment, 0, 0, 0, -1))  # type: ignore[arg-type]  # it has nine parts


@pytest.mark.parametrize(
    ("secs", "words"),
    [
        (0.0, "just now"),
        (59.9, "just now"),
        (60.0, "1 minute ago"),
        (3.5 * 3_600, "3 hours ago"),
        (86_400.0, "1 day ago"),
        (1e9, "11,574 days ago"),
    ],
)
def test_an_age_is_told_in_its_largest_unit(secs: float, words: str) -> None:
    assert age_words(secs) == words
