import tracemalloc

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from neardup.indexes.arrays import Rows
from neardup.indexes.index_engine import built, sorted_rows
from neardup.indexes.segment import Segment, columns_of, no_rows
from tests.neardup.indexes.generated import MASK, entries, fingerprints, unhurried

Entries = list[tuple[int, int]]


def rows_of(stored: Entries) -> Rows:
    return Rows(
        np.array([fingerprint for fingerprint, _ in stored], np.uint64),
        np.array([number for _, number in stored], np.int64),
    )


def pairs_of(rows: Rows) -> Entries:
    return list(zip(rows.fingerprints.tolist(), rows.ids.tolist(), strict=True))


class TestBuildingProperties:
    @unhurried
    @given(entries)
    def test_sorted_rows_are_sorted_by_fingerprint_then_id(self, stored: Entries) -> None:
        rows, repeated = sorted_rows(rows_of(stored))
        assert pairs_of(rows) == sorted(stored)
        assert repeated == (len({fingerprint for fingerprint, _ in stored}) < len(stored))

    @unhurried
    @given(entries)
    def test_a_segment_gives_its_entries_back(self, stored: Entries) -> None:
        assert pairs_of(Segment(built(rows_of(stored), no_rows())).rows()) == sorted(stored)

    @unhurried
    @given(entries)
    def test_every_table_holds_every_fingerprint_once(self, stored: Entries) -> None:
        tables = built(rows_of(stored), no_rows())
        bits = tables.shape.bits
        for block, (starts, high, low, keys) in enumerate(tables.tables):
            wanted = {(f << 16 * block | f >> 64 - 16 * block) & MASK for f, _ in stored}
            buckets = np.arange(1 << bits).repeat(np.diff(starts)).tolist()
            columns = zip(buckets, keys.tolist(), high.tolist(), low.tolist(), strict=False)
            values = [b << 64 - bits | k << 48 | h << 16 | n for b, k, h, n in columns]
            assert values == Segment(tables).values(block).tolist() == sorted(wanted)

    @unhurried
    @given(entries)
    def test_columns_have_the_stated_types_and_lengths(self, stored: Entries) -> None:
        tables = built(rows_of(stored), rows_of(stored[:3]))
        for array, column in zip(tables.columns, columns_of(tables.shape), strict=True):
            assert (array.dtype, len(array)) == column


class TestMergingProperties:
    @unhurried
    @given(
        st.lists(st.lists(st.tuples(fingerprints(), st.integers(0, 20)), max_size=30), max_size=4),
        st.sets(st.integers(0, 20)),
        entries,
    )
    def test_merging_equals_building_from_what_is_left(
        self, parts: list[Entries], gone: set[int], fresh: Entries
    ) -> None:
        segments = [Segment(built(rows_of(part), no_rows())) for part in parts]
        for segment in segments:
            for number in gone:
                segment.remove(segment.entries_of(number))
        left = [entry for part in parts for entry in part if entry[1] not in gone]
        found = built(rows_of(fresh), no_rows(), segments)
        wanted = built(rows_of(left + fresh), no_rows())
        assert (found.shape, found.max_id) == (wanted.shape, wanted.max_id)
        for mine, its in zip(found.columns, wanted.columns, strict=True):
            assert mine.tolist() == its.tolist()


def test_what_is_left_of_a_segment_is_what_was_not_removed() -> None:
    stored = [(5, 1), (5, 2), (5, 2), (9, 1), (2**64 - 1, 4)]
    segment = Segment(built(rows_of(stored), no_rows()))
    removed = rows_of([(5, 2), (9, 1), (9, 7)])
    assert segment.remove(removed).tolist() == [True, True, False]
    assert pairs_of(segment.rows()) == [(5, 1), (2**64 - 1, 4)]
    assert pairs_of(segment.entries_of(1)) == [(5, 1)]


def test_to_look_for_an_id_takes_no_copy_of_all_places() -> None:
    fingerprints = np.arange(100_000, dtype=np.uint64) << np.uint64(40)
    fingerprints[0] = fingerprints[1]
    segment = Segment(built(Rows(fingerprints, np.arange(100_000)), no_rows()))
    tracemalloc.start()
    found = [pairs_of(segment.entries_of(number)) for number in (0, 1, 99_999)]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found == [[(1 << 40, 0)], [(1 << 40, 1)], [(99_999 << 40, 99_999)]]
    assert peak < 200_000
