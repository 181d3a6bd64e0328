import numpy as np
import pytest
from hypothesis import given

from neardup.indexes.arrays import Rows
from neardup.indexes.building import built, rotate, sorted_rows
from neardup.indexes.columns import columns_of, no_rows
from neardup.indexes.segment import Segment
from neardup.indexes.segment_streams import entries_of, values_of
from tests.neardup.indexes.generated import MASK, entries, unhurried

Entries = list[tuple[int, int]]


def rows_of(stored: Entries) -> Rows:
    return Rows(
        np.array([fingerprint for fingerprint, _ in stored], np.uint64),
        np.array([number for _, number in stored], np.int64),
    )


def pairs_of(rows: Rows) -> Entries:
    return list(zip(rows.fingerprints.tolist(), rows.ids.tolist(), strict=True))


@pytest.mark.parametrize("block", range(4))
def test_a_rotated_fingerprint_starts_with_the_block(block: int) -> None:
    out = np.zeros(2, np.uint64)
    rotate(np.array([0x0123456789ABCDEF, MASK], np.uint64), block, out)
    digits = "0123456789abcdef"
    assert f"{int(out[0]):016x}" == digits[4 * block :] + digits[: 4 * block]
    assert int(out[1]) == MASK


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
        segment = Segment(built(rows_of(stored), no_rows()))
        found = [pairs_of(Rows(*chunk)) for chunk in entries_of(segment, np.zeros(0, np.int64))]
        assert [pair for chunk in found for pair in chunk] == sorted(stored)

    @unhurried
    @given(entries)
    def test_every_table_holds_every_fingerprint_once(self, stored: Entries) -> None:
        segment = Segment(built(rows_of(stored), no_rows()))
        for block in range(4):
            wanted = {(f << 16 * block | f >> 64 - 16 * block) & MASK for f, _ in stored}
            chunks = values_of(segment, block, no_rows().fingerprints)
            values = [value for (chunk,) in chunks for value in chunk.tolist()]
            assert values == sorted(wanted)

    @unhurried
    @given(entries)
    def test_columns_have_the_stated_types_and_lengths(self, stored: Entries) -> None:
        tables = built(rows_of(stored), rows_of(stored[:3]))
        for array, column in zip(tables.columns, columns_of(tables.shape), strict=True):
            assert (array.dtype, len(array)) == column
