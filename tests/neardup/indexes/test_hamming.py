import re
import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup import HammingIndex
from neardup.errors import ClosedError, DocumentError, FingerprintError, ParameterError
from neardup.indexes.arrays import Match
from tests.neardup.indexes.generated import (
    MASK,
    Entries,
    entries,
    filled,
    fingerprints,
    planted,
    radii,
    scan,
    scanned,
    unhurried,
)


class TestHammingIndex:
    def test_matches_come_nearest_first_then_by_id(self) -> None:
        index = filled([(0b111, 1), (0b1, 9), (0b11, 5), (0b1, 4), (0, 7), (0b1111, 0)], radius=3)
        assert index.query(0) == [
            Match(7, 0), Match(4, 1), Match(9, 1), Match(5, 2), Match(1, 3),
        ]  # fmt: skip

    def test_an_empty_index_has_no_match_and_no_id(self) -> None:
        index = HammingIndex()
        assert index.query(0) == []
        assert len(index) == 0
        assert index.max_id == -1
        assert [array.tolist() for array in index.query_many([1, 2])] == [[], [], []]

    def test_the_ends_of_both_ranges_are_stored(self) -> None:
        index = filled([(MASK, 2**63 - 1), (0, 0)], radius=0, buffer_size=1)
        assert index.query(MASK) == [Match(2**63 - 1, 0)]
        assert index.query(0) == [Match(0, 0)]
        assert index.max_id == 2**63 - 1

    def test_numpy_numbers_are_numbers(self) -> None:
        index = HammingIndex()
        index.add(np.uint64(MASK), np.int64(3))
        (match,) = index.query(np.uint64(MASK))
        assert match == Match(3, 0)
        assert type(match.id) is int
        assert type(match.distance) is int

    def test_40_bytes_an_entry_hold_a_hundred_thousand(self) -> None:
        index = HammingIndex()
        random = np.random.default_rng(1)
        index.add_many(random.integers(0, 2**64, 100_000, dtype=np.uint64), np.arange(100_000))
        assert index.size_bytes / len(index) < 40

    def test_boilerplate_shared_by_100_000_ids_can_be_asked_for_its_first_ids(self) -> None:
        index = HammingIndex()
        index.add_many(np.full(100_000, 777, np.uint64), np.arange(100_000)[::-1])
        index.add(776, 3)
        assert index.query(776, limit=3) == [Match(3, 0), Match(0, 1), Match(1, 1)]
        assert len(index.query(776)) == 100_001

    @pytest.mark.parametrize("limit", [2**40, sys.maxsize, 2**63, 2**200])
    def test_a_limit_above_all_counts_is_none(self, limit: int) -> None:
        index = HammingIndex(radius=3, buffer_size=4)
        index.add_many([0, 1, 2, 3, 3], range(5))
        index.add(3, 5)
        values = [1, 2, 3]
        assert index.query(3, limit=limit) == index.query(3)
        found, wanted = index.query_many(values, limit=limit), index.query_many(values)
        assert found.positions.tolist() == wanted.positions.tolist()
        assert found.ids.tolist() == wanted.ids.tolist()


class TestRefusals:
    @pytest.mark.parametrize("fingerprint", [-1, 2**64, 1.5, None])
    def test_no_fingerprint_is_neither_stored_nor_asked_for(self, fingerprint: int) -> None:
        index = HammingIndex()
        with pytest.raises(FingerprintError):
            index.add(fingerprint, 1)
        with pytest.raises(FingerprintError):
            index.add_many([1, fingerprint], [1, 2])
        with pytest.raises(FingerprintError):
            index.query(fingerprint)
        with pytest.raises(FingerprintError):
            index.query_many([fingerprint])
        assert len(index) == 0

    @pytest.mark.parametrize("number", [-1, 2**63, 1.5, None])
    def test_no_id_is_not_held(self, number: int) -> None:
        index = HammingIndex()
        with pytest.raises(DocumentError):
            index.add(1, number)
        with pytest.raises(DocumentError):
            index.add_many([1, 2], [1, number])
        with pytest.raises(DocumentError):
            index.delete(number)
        assert len(index) == 0

    def test_rows_of_several_lengths_and_masks_are_refused(self) -> None:
        index = HammingIndex()
        ragged = [[1], [2, 3]]
        masked = np.ma.MaskedArray(np.array([1, 2]), [False, True])
        for values in (ragged, masked):
            with pytest.raises(FingerprintError, match=r"an array .* expected, got "):
                index.query_many(values)
            with pytest.raises(FingerprintError, match=r"an array .* expected, got "):
                index.add_many(values, [1, 2])
            with pytest.raises(DocumentError, match=r"an array .* expected, got "):
                index.add_many([1, 2], values)
        assert len(index) == 0

    def test_a_fingerprint_without_an_id_is_not_stored(self) -> None:
        index = HammingIndex()
        with pytest.raises(ParameterError, match="got 2 fingerprints and 1 ids"):
            index.add_many([1, 2], [1])
        assert len(index) == 0

    @pytest.mark.parametrize("radius", [-1, 9, 64, 3.0, None])
    def test_a_radius_out_of_range_is_named(self, radius: int, tmp_path: Path) -> None:
        with pytest.raises(ParameterError) as caught:
            HammingIndex(tmp_path / "index", radius=radius)
        assert str(caught.value) == f"radius must be 0..8, got {radius}"
        assert not (tmp_path / "index").exists()

    @pytest.mark.parametrize("size", [0, -1, 2**20 + 1, 1.5, True, np.False_, None, "a"])
    def test_a_buffer_out_of_range_is_named(self, size: int) -> None:
        with pytest.raises(
            ParameterError, match=rf"buffer_size must be 1\.\.1048576, got {re.escape(repr(size))}"
        ):
            HammingIndex(buffer_size=size)

    def test_a_limit_out_of_range_is_named(self) -> None:
        with pytest.raises(ParameterError, match="limit must be at least 1, got 0"):
            HammingIndex().query(1, limit=0)

    def test_nothing_works_after_close_but_close(self, tmp_path: Path) -> None:
        for index in (HammingIndex(), HammingIndex(tmp_path / "index")):
            index.add(1, 1)
            index.close()
            index.close()
            with pytest.raises(ClosedError):
                index.add(1, 1)
            with pytest.raises(ClosedError):
                index.add_many([1], [1])
            with pytest.raises(ClosedError):
                index.query(1)
            with pytest.raises(ClosedError):
                index.query_many([1])
            with pytest.raises(ClosedError):
                index.flush()
            with pytest.raises(ClosedError):
                index.delete(1)


class TestPersistence:
    def test_close_keeps_what_was_added(self, tmp_path: Path) -> None:
        with HammingIndex(tmp_path / "deep" / "index") as index:
            index.add(5, 10)
            index.add_many([6, MASK], [11, 4])
        with HammingIndex(str(tmp_path / "deep" / "index")) as index:
            assert len(index) == 3
            assert index.max_id == 11
            assert index.query(MASK) == [Match(4, 0)]

    def test_mapped_segments_answer_as_those_in_memory(self, tmp_path: Path) -> None:
        random = np.random.default_rng(5)
        stored = random.integers(0, 2**64, 30_000, dtype=np.uint64)
        numbers = random.permutation(30_000).astype(np.int64)
        with HammingIndex(tmp_path, buffer_size=1000) as index:
            for start in range(0, 30_000, 700):
                index.add_many(stored[start : start + 700], numbers[start : start + 700])
        with HammingIndex(tmp_path) as index:
            for value in planted(stored, 50, 4, seed=6):
                assert index.query(value) == scanned(stored, numbers, value, 3)


class TestHammingIndexProperties:
    @unhurried
    @given(entries, fingerprints(), radii, st.integers(1, 9))
    def test_query_equals_the_brute_force_scan(
        self, held: Entries, value: int, radius: int, buffer_size: int
    ) -> None:
        index = filled(held, radius, buffer_size)
        assert index.query(value) == scan(held, value, radius)

    @unhurried
    @given(entries, fingerprints(), radii)
    def test_both_ways_to_scan_agree(self, held: Entries, value: int, radius: int) -> None:
        stored = np.array([fingerprint for fingerprint, _ in held], np.uint64)
        numbers = np.array([number for _, number in held], np.int64)
        assert scan(held, value, radius) == scanned(stored, numbers, value, radius)

    @unhurried
    @given(entries, fingerprints(), radii, st.integers(1, 5))
    def test_a_limit_cuts_the_list_off(
        self, held: Entries, value: int, radius: int, limit: int
    ) -> None:
        index = filled(held, radius)
        assert index.query(value, limit=limit) == index.query(value)[:limit]

    @unhurried
    @given(entries, fingerprints(), radii, st.integers(0, 8), st.integers(1, 5))
    def test_ids_alone_are_those_of_the_near_matches(
        self, held: Entries, value: int, radius: int, max_distance: int, limit: int
    ) -> None:
        index = filled(held, radius)
        found = [one for one in index.query(value) if one.distance <= max_distance]
        assert index.query_ids(value, max_distance).tolist() == [one.id for one in found]
        first = index.query_ids(value, max_distance, limit=limit)
        assert first.tolist() == [one.id for one in found][:limit]

    @unhurried
    @given(entries, st.lists(fingerprints(), max_size=9), radii)
    def test_query_many_answers_as_query_does(
        self, held: Entries, values: list[int], radius: int
    ) -> None:
        index = filled(held, radius)
        found = zip(*(array.tolist() for array in index.query_many(values)), strict=True)
        wanted = [
            (place, number, distance)
            for place, value in enumerate(values)
            for number, distance in index.query(value)
        ]
        assert list(found) == wanted

    @unhurried
    @given(entries, fingerprints(), radii, st.integers(0, MASK))
    def test_a_constant_mask_over_all_changes_nothing(
        self, held: Entries, value: int, radius: int, mask: int
    ) -> None:
        masked = [(fingerprint ^ mask, number) for fingerprint, number in held]
        assert filled(masked, radius).query(value ^ mask) == filled(held, radius).query(value)

    @unhurried
    @given(entries, fingerprints(), radii, st.data())
    def test_the_order_of_adding_changes_nothing(
        self, held: Entries, value: int, radius: int, data: st.DataObject
    ) -> None:
        shuffled = data.draw(st.permutations(held))
        assert filled(shuffled, radius).query(value) == filled(held, radius).query(value)

    @unhurried
    @given(entries, radii)
    def test_a_batch_holds_what_single_entries_hold(self, held: Entries, radius: int) -> None:
        index = HammingIndex(radius=radius, buffer_size=4)
        index.add_many([entry[0] for entry in held], [entry[1] for entry in held])
        single = filled(held, radius)
        assert (len(index), index.max_id) == (len(single), single.max_id)
        for fingerprint, _ in held:
            assert index.query(fingerprint) == single.query(fingerprint)


@pytest.mark.parametrize("radius", range(9))
@pytest.mark.parametrize(
    "mask", [MASK, 0x0000FFFFFFFFFFFF, 0xFFFF00000000FFFF, 0x7F], ids=lambda mask: f"{mask:016x}"
)
def test_many_entries_in_segments_of_all_sizes_equal_the_scan(radius: int, mask: int) -> None:
    stored: npt.NDArray[np.uint64] = np.random.default_rng(mask % 97).integers(
        0, 2**64, 12_000, dtype=np.uint64
    ) & np.uint64(mask)
    numbers = np.arange(12_000)
    index = HammingIndex(radius=radius, buffer_size=256)
    for start in range(0, 12_000, 200):
        index.add_many(stored[start : start + 200], numbers[start : start + 200])
    for value in planted(stored, 10, radius + 1, seed=radius):
        assert index.query(value) == scanned(stored, numbers, value, radius)


def test_abandon_keeps_what_was_flushed_and_nothing_else(tmp_path: Path) -> None:
    index = HammingIndex(tmp_path)
    index.add(1, 1)
    index.flush()
    index.add(2, 2)
    index.abandon()
    index.abandon()
    with HammingIndex(tmp_path) as again:
        assert len(again) == 1
        assert again.query(1) == [Match(1, 0)]


@unhurried
@given(entries, fingerprints(), radii, radii)
def test_the_radius_may_change_at_any_time(
    held: Entries, value: int, radius: int, another: int
) -> None:
    index = filled(held, radius)
    index.query(value)
    index.radius = another
    assert index.radius == another
    assert index.query(value) == scan(held, value, another)
    assert index.query_many([value]).ids.tolist() == [match.id for match in index.query(value)]
    for fingerprint, number in held:
        index.add(fingerprint, number)
    assert index.query(value) == scan(held + held, value, another)
    with pytest.raises(ParameterError):
        index.radius = 9
    assert index.radius == another
