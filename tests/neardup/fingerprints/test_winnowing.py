import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.features.hashing import Hashes
from neardup.features.shingles import occurrences
from neardup.fingerprints.winnowing import (
    MAX_SAMPLE,
    MAX_SHORT,
    WINDOW,
    expected_values,
    packed_sample,
    sample,
    unpacked_sample,
)
from tests.neardup.texts import prose

hashes = st.lists(
    st.one_of(st.integers(0, 9).map(lambda small: small << 32), st.integers(0, 2**64 - 1)),
    max_size=120,
).map(lambda values: np.array(values, np.uint64))


def by_windows(values: Hashes, window: int) -> list[int]:
    """Take the least value of each window, one window after the other."""
    upper = [int(value) >> 32 for value in values]
    ends = range(min(window, len(upper)), len(upper) + 1) if upper else ()
    return sorted({min(upper[max(0, end - window) : end]) for end in ends})


class TestSampleProperties:
    @given(hashes, st.integers(1, 40))
    def test_equals_the_least_value_of_each_window(self, values: Hashes, window: int) -> None:
        assert sample(values, window, 1000).tolist() == by_windows(values, window)

    @given(hashes, st.integers(1, 40), st.integers(1, 10))
    def test_the_limit_takes_the_least_ones(self, values: Hashes, window: int, size: int) -> None:
        assert sample(values, window, size).tolist() == by_windows(values, window)[:size]

    @given(hashes, hashes, hashes)
    def test_a_passage_of_a_window_gives_all_that_hold_it_the_same(
        self, before: Hashes, passage: Hashes, behind: Hashes
    ) -> None:
        whole = np.concatenate((before, passage, behind))
        if len(passage) >= WINDOW:
            assert set(sample(passage, WINDOW)) <= set(sample(whole, WINDOW))

    @given(hashes, hashes)
    def test_a_short_text_has_the_values_of_a_longer_one_that_holds_it(
        self, before: Hashes, text: Hashes
    ) -> None:
        if WINDOW <= len(text) <= MAX_SHORT:
            held = sample(np.concatenate((before, text)), WINDOW)
            assert set(sample(text, WINDOW)) <= set(sample(text)) & set(held)

    @given(hashes)
    def test_packed_values_come_back(self, values: Hashes) -> None:
        assert unpacked_sample(packed_sample(values)).tolist() == sample(values).tolist()


@pytest.mark.parametrize("words", [36, 100, 400, 5_000])
def test_texts_have_about_as_many_values_as_are_expected(words: int) -> None:
    counts = [
        len(sample(occurrences(prose(seed, words), "word", 5), WINDOW, words))
        for seed in range(max(4, 4_000 // words))
    ]
    assert np.mean(counts) == pytest.approx(expected_values(words), rel=0.15)


def test_hashes_that_grow_all_the_way_give_no_more_than_the_limit() -> None:
    growing = np.arange(1 << 16, dtype=np.uint64) << np.uint64(32)
    assert len(sample(growing)) == MAX_SAMPLE
    shuffled = growing.copy()
    random.Random(1).shuffle(shuffled)  # type: ignore[arg-type]
    assert len(sample(shuffled)) == MAX_SAMPLE
