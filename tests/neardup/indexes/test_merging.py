from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from neardup.indexes.arrays import Rows
from neardup.indexes.merging import RATIO, first_to_merge, merged, sorted_rows
from tests.neardup.indexes.generated import entries, unhurried


def rows_of(held: list[tuple[int, int]]) -> Rows:
    return Rows(
        np.array([fingerprint for fingerprint, _ in held], np.uint64),
        np.array([number for _, number in held], np.int64),
    )


def pairs_of(rows: Rows) -> list[tuple[int, int]]:
    return list(zip(rows.fingerprints.tolist(), rows.ids.tolist(), strict=True))


def test_a_first_segment_merges_with_nothing() -> None:
    assert first_to_merge([], 10) == 0


def test_like_sizes_merge_and_a_much_larger_one_stays() -> None:
    assert first_to_merge([1000, 10], 10) == 1
    assert first_to_merge([1000, 40], 10) == 2
    assert first_to_merge([100, 20], 10) == 0


class TestMergingProperties:
    @unhurried
    @given(st.lists(st.integers(1, 1000), max_size=200))
    def test_sizes_always_fall_by_the_ratio(self, batches: list[int]) -> None:
        sizes: list[int] = []
        for fresh in batches:
            first = first_to_merge(sizes, fresh)
            sizes[first:] = [sum(sizes[first:]) + fresh]
            assert all(a >= RATIO * b for a, b in pairwise(sizes))
        assert sum(sizes) == sum(batches)

    def test_a_row_is_written_again_a_logarithmic_number_of_times(self) -> None:
        sizes: list[int] = []
        written = 0
        for _ in range(4096):
            first = first_to_merge(sizes, 1)
            sizes[first:] = [sum(sizes[first:]) + 1]
            written += sizes[-1]
        assert written / 4096 < RATIO * 6  # 4 ** 6 == 4096

    @unhurried
    @given(entries)
    def test_sorted_rows_are_sorted_by_fingerprint_then_id(
        self, held: list[tuple[int, int]]
    ) -> None:
        assert pairs_of(sorted_rows(rows_of(held))) == sorted(held)

    @unhurried
    @given(st.lists(entries, min_size=1, max_size=5))
    def test_merged_parts_are_the_sorted_whole(self, parts: list[list[tuple[int, int]]]) -> None:
        whole = merged([sorted_rows(rows_of(part)) for part in parts])
        assert pairs_of(whole) == sorted(pair for part in parts for pair in part)
