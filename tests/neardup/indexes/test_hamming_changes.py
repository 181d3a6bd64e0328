from pathlib import Path

import numpy as np

from neardup import HammingIndex
from neardup.indexes.arrays import Match
from tests.neardup.indexes.generated import filled


class TestDelete:
    def test_an_id_is_deleted_wherever_its_entries_are(self) -> None:
        index = filled([(1, 7), (1, 8), (2, 7), (3, 7), (4, 9), (1, 7)], radius=0, buffer_size=2)
        assert index.delete(7) == 4
        assert len(index) == 2
        assert [index.query(value) for value in (1, 2, 3, 4)] == [
            [Match(8, 0)], [], [], [Match(9, 0)],
        ]  # fmt: skip
        assert index.delete(7) == 0

    def test_an_id_added_again_is_found_again(self, tmp_path: Path) -> None:
        with HammingIndex(tmp_path, radius=0, buffer_size=2) as index:
            for _ in range(3):
                index.add_many([5, 5, 6], [1, 2, 3])
                assert index.delete(1) == 1
                index.add(5, 1)
                assert index.delete(2) == 1
                assert index.delete(3) == 1
                assert index.query(5) == [Match(1, 0)]
                assert index.delete(1) == 1
            index.add(5, 1)
        with HammingIndex(tmp_path, radius=0) as index:
            assert len(index) == 1
            assert index.query(5) == [Match(1, 0)]

    def test_the_largest_id_is_that_of_an_entry_that_counts(self, tmp_path: Path) -> None:
        with HammingIndex(tmp_path, buffer_size=2) as index:
            index.add_many([1, 2, 3], [5, 9, 7])
            assert index.delete(9) == 1
            assert index.max_id == 7
            index.add(4, 8)
        with HammingIndex(tmp_path) as index:
            assert index.max_id == 8
            index.delete(8)
            index.delete(7)
            assert index.max_id == 5
            index.delete(5)
            assert index.max_id == -1

    def test_what_was_deleted_counts_for_no_limit(self) -> None:
        index = HammingIndex(radius=0)
        index.add_many(np.full(20_000, 5, np.uint64), np.arange(20_000))
        for number in range(10):
            index.delete(number)
        assert index.query(5, limit=2) == [Match(10, 0), Match(11, 0)]
        assert len(index.query_many([5]).ids) == len(index) == 19_990

    def test_merging_gives_the_room_of_deleted_entries_back(self, tmp_path: Path) -> None:
        with HammingIndex(tmp_path, buffer_size=100) as index:
            index.add_many(np.arange(10_000, dtype=np.uint64) << np.uint64(30), np.arange(10_000))
            before = index.size_bytes
            for number in range(6_000):
                index.delete(number)
            assert len(index) == 4_000
            assert index.size_bytes < 0.7 * before
        with HammingIndex(tmp_path) as index:
            assert len(index) == 4_000
            assert index.query(9_999 << 30)[0] == Match(9_999, 0)

    def test_so_many_deletions_that_they_fill_a_log_become_a_segment(self, tmp_path: Path) -> None:
        with HammingIndex(tmp_path, buffer_size=4, radius=0) as index:
            index.add_many(range(50), range(50))
            for number in range(20):
                index.delete(number)
                index.flush()
        with HammingIndex(tmp_path, radius=0) as index:
            assert len(index) == 30
            assert not index.query_many(range(20)).ids.size

    def test_deletions_alone_merge_what_they_leave(self, tmp_path: Path) -> None:
        with HammingIndex(tmp_path, buffer_size=8, radius=0) as index:
            index.add_many(range(320), range(320))
            largest = 0
            for number in range(304):
                assert index.delete(number) == 1
                largest = max(largest, len(list(tmp_path.glob("*.seg"))))
            assert largest <= 5
            assert index.size_bytes < 300 * 40
        with HammingIndex(tmp_path, radius=0) as index:
            assert index.query_many(range(320)).ids.tolist() == list(range(304, 320))
