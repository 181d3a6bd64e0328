from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup import HammingIndex
from neardup.indexes.index_engine import MAX_MERGED, RATIO, MergeSegment, first_to_merge
from tests.neardup.indexes.generated import unhurried


def parts_of(*sizes: int) -> list[MergeSegment]:
    return [MergeSegment(size) for size in sizes]


def test_new_rows_alone_are_a_segment() -> None:
    assert first_to_merge([], 10) == 0


@pytest.mark.parametrize(
    ("sizes", "fresh", "first"),
    [((1000, 10), 10, 1), ((1000, 30), 10, 1), ((100, 30), 10, 0), ((1000, 40), 10, 2)],
)
def test_like_sizes_merge_and_a_much_larger_one_stays(
    sizes: tuple[int, ...], fresh: int, first: int
) -> None:
    assert first_to_merge(parts_of(*sizes), fresh) == first


def test_a_segment_that_is_mostly_deleted_is_rewritten_with_all_that_follow() -> None:
    parts = [MergeSegment(5000), MergeSegment(100, 101), MergeSegment(20)]
    assert first_to_merge(parts, 1) == 1
    assert first_to_merge([MergeSegment(1000, 1000)], 1) == 1


def test_no_merge_is_longer_than_it_may_be() -> None:
    assert first_to_merge(parts_of(MAX_MERGED), 10) == 1
    assert first_to_merge(parts_of(MAX_MERGED, 10), 10) == 1
    assert first_to_merge(parts_of(MAX_MERGED * 3 // 4, MAX_MERGED // 8), MAX_MERGED // 4) == 1


def test_segments_of_removals_merge_as_others_do() -> None:
    assert first_to_merge([MergeSegment(1000, 20), MergeSegment(0, 0, 10)], 10) == 1
    assert first_to_merge([MergeSegment(1000, 300)], 300) == 0
    assert first_to_merge([MergeSegment(1000, 20)], 20) == 1


class TestMergingProperties:
    @unhurried
    @given(st.lists(st.integers(1, 1000), max_size=200))
    def test_sizes_always_fall_by_the_ratio(self, batches: list[int]) -> None:
        sizes: list[int] = []
        for fresh in batches:
            first = first_to_merge(parts_of(*sizes), fresh)
            sizes[first:] = [sum(sizes[first:]) + fresh]
            assert all(a >= RATIO * b for a, b in pairwise(sizes))
        assert sum(sizes) == sum(batches)

    def test_a_row_is_written_again_a_logarithmic_number_of_times(self) -> None:
        sizes: list[int] = []
        written = 0
        for _ in range(4096):
            first = first_to_merge(parts_of(*sizes), 1)
            sizes[first:] = [sum(sizes[first:]) + 1]
            written += sizes[-1]
        assert written / 4096 < RATIO * 6  # 4 ** 6 == 4096


class TestMerge:
    def test_one_segment_is_left(self) -> None:
        stored = np.random.default_rng(2).integers(0, 2**64, 50_000, dtype=np.uint64)
        index = HammingIndex(buffer_size=100)
        for start in range(0, 50_000, 990):
            end = min(50_000, start + 990)
            index.add_many(stored[start:end], range(start, end))
        index.merge()
        once = HammingIndex(buffer_size=100)
        once.add_many(stored, range(50_000))
        assert len(index) == 50_000
        assert index.size_bytes == once.size_bytes
        index.merge()
        assert len(index) == 50_000

    def test_an_index_of_nothing_is_merged(self) -> None:
        index = HammingIndex()
        index.merge()
        assert len(index) == 0
