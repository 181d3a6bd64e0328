import numpy as np
import pytest
from hypothesis import given

from neardup.errors import DocumentError, FingerprintError, ParameterError
from neardup.indexes.arrays import Match
from tests.neardup.indexes.generated import entries, fingerprints, radii, scanned, unhurried
from tests.neardup.indexes.scan import ScanIndex


def test_query_returns_entries_nearest_first_then_by_id() -> None:
    index = ScanIndex(radius=2)
    index.add_many([0b111, 0b1, 0b11, 0b1], [1, 9, 5, 4])
    index.add(0, 7)
    assert index.query(0) == [Match(7, 0), Match(4, 1), Match(9, 1), Match(5, 2)]
    assert index.query(0, limit=2) == [Match(7, 0), Match(4, 1)]
    assert len(index) == 5
    assert index.max_id == 9


def test_a_deleted_id_is_not_found() -> None:
    index = ScanIndex(radius=2)
    index.add_many([1, 2, 3], [1, 9, 1])
    assert index.delete(1) == 2
    assert index.delete(1) == 0
    assert index.query(1) == [Match(9, 2)]


def test_an_empty_index_has_no_match_and_no_id() -> None:
    assert ScanIndex().query(0) == []
    assert ScanIndex().max_id == -1


def test_what_cannot_be_held_is_refused() -> None:
    index = ScanIndex()
    with pytest.raises(FingerprintError):
        index.add(2**64, 1)
    with pytest.raises(DocumentError):
        index.add(1, -1)
    with pytest.raises(ParameterError):
        index.add_many([1, 2], [1])
    with pytest.raises(ParameterError):
        ScanIndex(radius=9)
    assert len(index) == 0


class TestScanIndexProperties:
    @unhurried
    @given(entries, fingerprints(), radii)
    def test_both_ways_to_scan_agree(
        self, held: list[tuple[int, int]], value: int, radius: int
    ) -> None:
        index = ScanIndex(radius=radius)
        for fingerprint, number in held:
            index.add(fingerprint, number)
        stored = np.array([fingerprint for fingerprint, _ in held], np.uint64)
        numbers = np.array([number for _, number in held], np.int64)
        assert index.query(value) == scanned(stored, numbers, value, radius)
