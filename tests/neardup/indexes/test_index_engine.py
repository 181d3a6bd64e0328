import random
from collections import deque
from itertools import pairwise
from math import log
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup import HammingIndex
from neardup.indexes import index_engine
from neardup.indexes.index_engine import MAX_MERGED, RATIO, MergeSegment, next_merge
from neardup.indexes.index_files import read_segment
from tests.neardup.indexes.generated import unhurried


def parts_of(*sizes: int) -> list[MergeSegment]:
    return [MergeSegment(size) for size in sizes]


def test_new_rows_alone_are_a_segment() -> None:
    assert next_merge(parts_of(10)) == range(1)


@pytest.mark.parametrize(
    ("sizes", "first"),
    [((1000, 10, 10), 1), ((1000, 30, 10), 1), ((100, 30, 10), 0), ((1000, 40, 10), 2)],
)
def test_like_sizes_merge_and_a_much_larger_one_stays(sizes: tuple[int, ...], first: int) -> None:
    assert next_merge(parts_of(*sizes)) == range(first, len(sizes))


@pytest.mark.parametrize("newer", [(20, 1), (MAX_MERGED, 1), (MAX_MERGED, MAX_MERGED, 10, 10)])
def test_a_segment_that_is_mostly_deleted_is_written_again_wherever_it_stands(
    newer: tuple[int, ...],
) -> None:
    parts = [MergeSegment(5000 * MAX_MERGED), MergeSegment(100, 101), *parts_of(*newer)]
    assert next_merge(parts) == range(1, 2)
    parts[1] = MergeSegment(100)
    assert next_merge(parts).start > 1


def test_a_segment_of_which_half_counts_stays() -> None:
    assert next_merge([MergeSegment(1000, 1000), MergeSegment(1)]) == range(1, 2)


def test_no_merge_is_longer_than_it_may_be() -> None:
    most = MAX_MERGED
    assert next_merge(parts_of(most, 10)) == range(1, 2)
    assert next_merge(parts_of(most, 10, 10)) == range(1, 3)
    assert next_merge(parts_of(most * 3 // 4, most // 8, most // 4)) == range(1, 3)


def test_old_neighbours_that_have_become_small_merge() -> None:
    most = MAX_MERGED
    assert next_merge(parts_of(most, 10, 20, 30, most, 1)) == range(1, 4)
    assert next_merge(parts_of(most, 10, most, 1)) == range(3, 4)


def test_segments_of_removals_merge_as_others_do() -> None:
    removals = MergeSegment(0, 0, 10)
    assert next_merge([MergeSegment(1000, 20), removals, removals]) == range(1, 3)
    assert next_merge([MergeSegment(1000, 300), MergeSegment(0, 0, 300)]) == range(2)


def test_removals_that_outnumber_the_entries_are_got_rid_of_from_the_oldest_on() -> None:
    most = MAX_MERGED
    base, newer = MergeSegment(most // 2, most // 2), MergeSegment(0, 0, most)
    assert next_merge([base, newer, MergeSegment(1)]) == range(1)
    base = MergeSegment(most // 2)
    assert next_merge([base, newer, MergeSegment(1)]) == range(1, 2)
    newer = MergeSegment(0)
    assert next_merge([base, newer, MergeSegment(1)]).stop == 3


class Model:
    """Segments of which only the sizes are known, merged as the engine merges them."""

    def __init__(self) -> None:
        self.parts: list[MergeSegment] = []
        self.carried = 0
        self.written = 0

    def delete(self, place: int, count: int) -> None:
        live, dead, removed = self.parts[place]
        count = min(count, live)
        self.parts[place] = MergeSegment(live - count, dead + count, removed)
        self.carried += count

    def seal(self, fresh: int) -> None:
        parts = [*self.parts, MergeSegment(fresh, 0, self.carried)]
        while True:
            chosen = next_merge(parts)
            inputs = parts[chosen.start : chosen.stop]
            needed = any(part.dead for part in parts[: chosen.start])
            removed = sum(part.removed for part in inputs) if needed else 0
            merged = MergeSegment(sum(part.live for part in inputs), 0, removed)
            self.written += merged.size
            done = chosen.stop == len(parts)
            parts[chosen.start : chosen.stop] = [merged]
            if done:
                break
        self.parts, self.carried = parts, 0


deletions = st.lists(st.tuples(st.integers(0, 30), st.sampled_from([1, 7, 40, 1000])), max_size=8)


class TestMergingProperties:
    @unhurried
    @given(st.lists(st.integers(1, 1000), max_size=200))
    def test_sizes_always_fall_by_the_ratio(self, batches: list[int]) -> None:
        model = Model()
        for fresh in batches:
            model.seal(fresh)
            assert all(a.live >= RATIO * b.live for a, b in pairwise(model.parts))
        assert sum(part.live for part in model.parts) == sum(batches)

    def test_a_row_is_written_again_a_logarithmic_number_of_times(self) -> None:
        model = Model()
        for _ in range(4096):
            model.seal(1)
        assert model.written / 4096 < RATIO * 6  # 4 ** 6 == 4096

    @unhurried
    @given(st.lists(st.tuples(st.integers(0, 40), deletions), max_size=120))
    def test_what_is_stored_and_the_segments_stay_few(
        self, changes: list[tuple[int, list[tuple[int, int]]]]
    ) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(index_engine, "MAX_MERGED", 100)
            model = Model()
            for fresh, deleted in changes:
                for place, count in deleted:
                    if model.parts:
                        model.delete(place % len(model.parts), count)
                if fresh or model.carried:  # an index seals nothing that is empty
                    model.seal(fresh)
                live = sum(part.live for part in model.parts)
                stored = sum(part.size + part.dead for part in model.parts)
                assert stored <= 3 * live
                assert len(model.parts) <= 2 * stored / 100 + log(stored + 1, RATIO) + 3


WINDOW = 600


def removed_from(window: deque[int], order: str, chance: random.Random) -> int:
    """Take a number out of the window, the oldest, the newest or any."""
    if order == "any":
        window.rotate(chance.randrange(len(window)))
    return window.pop() if order == "newest" else window.popleft()


@pytest.mark.parametrize("order", ["oldest", "newest", "any"])
def test_a_window_that_slides_takes_no_more_room(
    order: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_engine, "MAX_MERGED", 128)
    chance, window, numbers = random.Random(3), deque[int](), iter(range(100_000))
    index = HammingIndex(tmp_path, radius=0, buffer_size=32)
    base = [next(numbers) for _ in range(300)]
    index.add_many([number << 32 for number in base], base)
    for step in range(8 * WINDOW):
        if len(window) == WINDOW or (len(window) > 60 and step % 120 >= 60):
            assert index.delete(removed_from(window, order, chance)) == 1
        window.append(next(numbers))
        index.add(window[-1] << 32, window[-1])
        if step % 120 == 0:
            shapes = [read_segment(file)[1].shape for file in tmp_path.glob("*.seg")]
            rows = sum(shape.entries + shape.removed for shape in shapes)
            assert rows <= 3 * (len(index) + 64)
            assert len(shapes) <= 2 * rows / 128 + 8
    index.close()
    with HammingIndex(tmp_path, radius=0) as index:
        stored = sorted([*base, *window])
        assert len(index) == len(stored)
        found = index.query_many([number << 32 for number in stored])
        assert found.ids.tolist() == stored
