"""Sizes are read as people write them."""

from __future__ import annotations

import pytest

from crawler.spiders.arguments import byte_count


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
def test_what_is_no_size_is_refused(written: str) -> None:
    with pytest.raises(ValueError, match="a size such as"):
        byte_count(written)
