from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from neardup.indexes.columns import MAX_ENTRIES
from neardup.indexes.merging import RATIO, MergeSegment, first_to_merge, next_merge, next_union
from tests.neardup.indexes.generated import unhurried


def parts_of(*sizes: int) -> list[MergeSegment]:
    return [MergeSegment(size, 0, 0) for size in sizes]


def test_a_first_segment_merges_with_nothing() -> None:
    assert first_to_merge([], 10) == 0
    assert next_merge([]) is None
    assert next_merge(parts_of(10)) is None


def test_like_sizes_merge_and_a_much_larger_one_stays() -> None:
    assert next_merge(parts_of(1000, 10, 10)) == range(1, 3)
    assert next_merge(parts_of(1000, 30, 10)) == range(1, 3)
    assert next_merge(parts_of(100, 30, 10)) == range(3)
    assert next_merge(parts_of(1000, 40, 10)) is None


def test_a_segment_that_is_mostly_deleted_is_rewritten() -> None:
    assert next_merge(
        [MergeSegment(1000, 0, 0), MergeSegment(100, 101, 0), MergeSegment(10, 0, 0)]
    ) == range(1, 2)
    assert next_merge([MergeSegment(1000, 1000, 0), MergeSegment(0, 1, 0)]) == range(1, 2)


def test_no_segment_grows_beyond_what_its_places_can_count() -> None:
    assert next_merge(parts_of(MAX_ENTRIES, MAX_ENTRIES)) is None
    assert next_merge(parts_of(MAX_ENTRIES, 10, 10)) == range(1, 3)


def test_segments_of_removals_merge_as_others_do() -> None:
    assert next_merge(
        [MergeSegment(1000, 20, 0), MergeSegment(0, 0, 10), MergeSegment(0, 0, 10)]
    ) == range(1, 3)
    assert next_merge([MergeSegment(1000, 300, 0), MergeSegment(0, 0, 300)]) == range(2)
    assert next_merge([MergeSegment(1000, 20, 0), MergeSegment(0, 0, 20)]) is None


def test_all_segments_become_as_few_as_their_places_can_count() -> None:
    assert next_union([]) is None
    assert next_union(parts_of(10)) is None
    assert next_union(parts_of(1000, 10, 1)) == range(3)
    assert next_union(parts_of(MAX_ENTRIES, 10, 10)) == range(1, 3)
    assert next_union(parts_of(MAX_ENTRIES, 20)) is None
    assert next_union(parts_of(10, MAX_ENTRIES - 10, 10, 10)) == range(2)


def test_a_union_drops_what_was_deleted_and_forgets_what_the_oldest_segment_removes() -> None:
    assert next_union([MergeSegment(10, 1, 0)]) == range(1)
    assert next_union([MergeSegment(10, 0, 1)]) == range(1)
    # The removals of a newer one are those of entries that the oldest holds.
    assert next_union([MergeSegment(MAX_ENTRIES, 0, 0), MergeSegment(10, 0, 5)]) is None
    assert next_union([MergeSegment(MAX_ENTRIES, 0, 0), MergeSegment(10, 5, 0)]) == range(1, 2)


class TestMergingProperties:
    @unhurried
    @given(st.lists(st.integers(1, 1000), max_size=200))
    def test_sizes_always_fall_by_the_ratio(self, batches: list[int]) -> None:
        sizes: list[int] = []
        for fresh in batches:
            sizes.append(fresh)
            while merge := next_merge(parts_of(*sizes)):
                sizes[merge.start : merge.stop] = [sum(sizes[merge.start : merge.stop])]
            assert all(a >= RATIO * b for a, b in pairwise(sizes))
        assert sum(sizes) == sum(batches)

    def test_a_row_is_written_again_a_logarithmic_number_of_times(self) -> None:
        sizes: list[int] = []
        written = 0
        for _ in range(4096):
            sizes.append(1)
            while merge := next_merge(parts_of(*sizes)):
                sizes[merge.start : merge.stop] = [sum(sizes[merge.start : merge.stop])]
                written += sizes[-1]
        assert written / 4096 < RATIO * 6  # 4 ** 6 == 4096
