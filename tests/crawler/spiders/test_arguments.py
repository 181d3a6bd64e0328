"""What the arguments of spiders may be."""

from __future__ import annotations

import pytest

from crawler.spiders.arguments import byte_count, secs_of, size_of


@pytest.mark.parametrize(
    ("written", "secs"),
    [("90", 90), ("90s", 90), ("30m", 1_800), ("1h30m", 5_400), ("2d", 172_800), ("1d 1s", 86_401)],
)
def test_a_time_has_units(written: str, secs: int) -> None:
    assert secs_of({"max_time": written}) == secs


@pytest.mark.parametrize("written", ["0", "0s", "soon", "1.5h", "30m1h", "-1", "h", " "])
def test_what_is_no_time_is_refused(written: str) -> None:
    with pytest.raises(ValueError, match="max_time: a time such as 90s or 1h30m is wanted, got"):
        secs_of({"max_time": written})


@pytest.mark.parametrize("written", ["0", "many", "-5M", "5X"])
def test_what_is_no_size_is_refused(written: str) -> None:
    with pytest.raises(ValueError, match="max_bytes: a size such as 500M or 2G is wanted, got"):
        size_of({"max_bytes": written})


def test_without_a_value_there_is_no_limit() -> None:
    assert secs_of({}) is None
    assert size_of({}) is None


@pytest.mark.parametrize(
    ("written", "count"),
    [
        ("1", 1),
        ("500M", 500_000_000),
        ("1.5 GB", 1_500_000_000),
        ("2k", 2_000),
        ("3MiB", 3 * 2**20),
    ],
)
def test_sizes_are_read(written: str, count: int) -> None:
    assert byte_count(written) == count


@pytest.mark.parametrize("written", ["", "0", "-1", "many", "1e9", "5 X", "M", "0.1"])
def test_what_is_no_number_of_bytes_is_refused(written: str) -> None:
    with pytest.raises(ValueError, match="a size such as"):
        byte_count(written)
