"""Tests of ``neardup.boilerplate`` against exact counting."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.boilerplate import MIN_TEXTS, BlockCounts
from neardup.errors import DocumentError

TEXTS = st.lists(st.sets(st.integers(1, 40), max_size=20), max_size=60)


def packed(blocks: set[int]) -> bytes:
    return np.array(sorted(blocks), "<u8").tobytes()


def counted(texts: list[set[int]], max_blocks: int = 8) -> BlockCounts:
    counts = BlockCounts(max_blocks)
    for blocks in texts:
        counts.add(packed(blocks))
    return counts


def exact(texts: list[set[int]]) -> Counter[int]:
    return Counter(block for blocks in texts for block in blocks)


def check_bounds(counts: BlockCounts, texts: list[set[int]], max_blocks: int = 8) -> None:
    truth = exact(texts)
    assert counts.texts == len(texts)
    assert len(counts) <= max_blocks
    assert counts.error <= 2 * truth.total() / max_blocks
    for block in range(1, 41):
        assert truth[block] - counts.error <= counts.count(block) <= truth[block]
        assert truth[block] >= MIN_TEXTS or block not in counts


class TestBlockCounts:
    @pytest.mark.parametrize(("texts", "expected"), [(9, False), (10, True), (100, True)])
    def test_boilerplate_stands_in_ten_texts(self, *, texts: int, expected: bool) -> None:
        counts = counted([{7}] * texts)
        assert (7 in counts) == expected
        assert counts.boilerplate == [7] * expected

    @pytest.mark.parametrize(("others", "expected"), [(1980, True), (1981, False)])
    def test_boilerplate_stands_in_a_hundredth_of_all(self, *, others: int, expected: bool) -> None:
        counts = counted([{7}] * 20 + [{8}] * others)
        assert (7 in counts) == expected

    @pytest.mark.parametrize(("others", "expected"), [(180, {7, 8}), (181, {8})])
    def test_what_is_common_stands_in_a_tenth_of_all(self, others: int, expected: set[int]) -> None:
        assert counted([{7}] * 20 + [{8}] * others).common() == expected

    @given(TEXTS)
    def test_adding_tells_whether_boilerplate_grew(self, texts: list[set[int]]) -> None:
        counts, before = BlockCounts(64), set[int]()
        for blocks in texts:
            has_grown = counts.add(packed(blocks))
            assert has_grown == bool(set(counts.boilerplate) - before)
            before = set(counts.boilerplate)

    def test_what_is_frequent_stays_among_any_number_of_others(self) -> None:
        source = random.Random(1)
        counts = BlockCounts(1024)
        for _ in range(2000):
            counts.add(packed({5, *(source.getrandbits(64) | 1 for _ in range(20))}))
        assert len(counts) <= 1024
        assert counts.boilerplate == [5]

    @pytest.mark.parametrize(
        "damaged",
        [
            b"\1" * 11,
            b"\1" * 24,
            b"\0" * 8 + b"\1\0\0\0",
            b"\1" * 8 + b"\0" * 4,
            b"\1" * 8 + b"\xff\0\0\0",
        ],
        ids=["cut", "twice", "no hash", "in no text", "in more texts than there are"],
    )
    def test_damaged_counts_are_refused(self, damaged: bytes) -> None:
        with pytest.raises(DocumentError):
            BlockCounts.unpacked(damaged, texts=20, error=0)


class TestBlockCountsProperties:
    @given(TEXTS)
    def test_counts_err_within_the_bound(self, texts: list[set[int]]) -> None:
        check_bounds(counted(texts), texts)

    @given(TEXTS)
    def test_packed_they_come_back(self, texts: list[set[int]]) -> None:
        counts = counted(texts)
        again = BlockCounts.unpacked(
            counts.packed(), texts=counts.texts, error=counts.error, max_blocks=8
        )
        for blocks in texts:
            again.add(packed(blocks))
            counts.add(packed(blocks))
        assert (again.packed(), again.texts, again.error) == (
            counts.packed(),
            counts.texts,
            counts.error,
        )
