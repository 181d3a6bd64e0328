import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.indexes.arrays import Rows
from neardup.indexes.building import built
from neardup.indexes.columns import Shape, Tables, joined_rows, no_rows
from neardup.indexes.compaction import Merge
from neardup.indexes.segment import Segment
from neardup.indexes.segment_streams import CHUNK
from neardup.indexes.sink import MemorySink
from tests.neardup.indexes.generated import entries, fingerprints, unhurried
from tests.neardup.indexes.test_building import Entries, rows_of

parts = st.lists(st.tuples(fingerprints(), st.integers(0, 20)), max_size=30)


def merged(segments: list[Segment], oldest: bool, max_rows: int) -> Tables:
    merge = Merge(segments, oldest, MemorySink)
    while merge.step(max_rows) is None:
        pass
    return merge.finished()


def assert_same(found: Tables, wanted: Tables) -> None:
    assert found.shape == wanted.shape
    assert found.max_id == wanted.max_id
    for mine, its in zip(found.columns, wanted.columns, strict=True):
        assert mine.tolist() == its.tolist()


class TestMergeProperties:
    @unhurried
    @given(
        st.lists(
            st.lists(st.tuples(fingerprints(), st.integers(0, 20)), max_size=30),
            min_size=1,
            max_size=4,
        ),
        st.sets(st.integers(0, 20)),
        st.integers(1, 100),
    )
    def test_merging_equals_building_from_what_is_left(
        self, parts: list[Entries], gone: set[int], max_rows: int
    ) -> None:
        segments = [Segment(built(rows_of(part), no_rows())) for part in parts]
        for segment in segments:
            for number in gone:
                segment.remove(segment.entries_of(number))
        left = [entry for part in parts for entry in part if entry[1] not in gone]
        found = merged(segments, True, max_rows)
        assert_same(found, built(rows_of(left), no_rows()))

    @unhurried
    @given(entries, entries, entries)
    def test_removals_are_kept_while_there_are_older_segments(
        self, stored: Entries, first: Entries, second: Entries
    ) -> None:
        segments = [
            Segment(built(rows_of(stored), rows_of(first))),
            Segment(built(no_rows(), rows_of(second))),
        ]
        kept = merged(segments, False, 10).removed
        assert kept.ids.tolist() == [number for _, number in first + second]
        assert not len(merged(segments, True, 10).removed.ids)


@pytest.mark.parametrize("shared", [0, 3, 20_000])
def test_merging_many_chunks_equals_building(shared: int) -> None:
    random = np.random.default_rng(shared)
    common = random.integers(0, 2**64, max(1, shared), dtype=np.uint64)
    parts = []
    for count in (3 * CHUNK, CHUNK + 1, 100, 5 * CHUNK):
        own = random.integers(0, 2**64, count, dtype=np.uint64)
        if shared:
            own[: count // 2] = random.choice(common, count // 2)
        parts.append(Rows(own, random.integers(0, 2**63, count)))
    segments = [Segment(built(part, no_rows())) for part in parts]
    assert_same(merged(segments, True, CHUNK), built(joined_rows(parts), no_rows()))


def test_a_step_ends_after_about_the_rows_that_it_was_given() -> None:
    rows = Rows(np.arange(100_000, dtype=np.uint64), np.arange(100_000))
    segments = [Segment(built(rows, no_rows())) for _ in range(2)]
    merge = Merge(segments, True, MemorySink)
    steps = 0
    while merge.step(50_000) is None:
        steps += 1
    # Counted, put with their ids, and put into four tables: all ids, but values only once.
    assert 700_000 / (50_000 + 2 * CHUNK) <= steps <= 700_000 / 50_000


def test_a_chunk_of_repeated_fingerprints_takes_no_copy_of_all_places() -> None:
    fingerprints = np.arange(100_000, dtype=np.uint64) << np.uint64(40)
    fingerprints[0] = fingerprints[1]
    segment = Segment(built(Rows(fingerprints, np.arange(100_000)), no_rows()))
    places = np.array([0, 1, 99_999])
    tracemalloc.start()
    rows = segment.rows_at(places)
    found = segment.fingerprints_at(rows)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert rows.tolist() == [0, 0, 99_998]
    assert found.tolist() == [1 << 40, 1 << 40, 99_999 << 40]
    assert peak < 20_000


def test_a_merge_of_nothing_is_an_empty_segment() -> None:
    empty = Segment(built(no_rows(), no_rows()))
    assert merged([empty, empty], True, 1).shape == Shape(0, 0, 0)
