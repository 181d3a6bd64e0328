from pathlib import Path

import numpy as np

from neardup import HammingIndex
from neardup.indexes.arrays import Match


class TestDelete:
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
