import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neardup.features.shingle_kernels import distinct as kernel
from neardup.features.shingles import distinct, intersection_size, shingle_set

WORDS = st.lists(st.sampled_from(["a", "b", "cc", "counterintuitively"]), max_size=40)
VALUES = st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 5))


@pytest.mark.parametrize(
    ("text", "size", "count"),
    [
        ("", 3, 0),
        ("one", 3, 1),
        ("one two", 3, 1),
        ("one two three", 3, 1),
        ("one two three four", 3, 2),
        ("a b a b a b a b", 3, 2),
        ("a a a a a", 3, 1),
        ("a b c", 1, 3),
    ],
)
def test_shingles_are_a_set(text: str, size: int, count: int) -> None:
    assert len(shingle_set(text, "word", size)) == count


@pytest.mark.parametrize("step", [1, 2**20, 2**32, 2**44, 2**63, 0xFF51AFD7ED558CCD])
def test_values_that_want_one_place_are_told_apart_in_no_time(step: int) -> None:
    """A step for each pair of them would be half a minute."""
    values = np.arange(2**18, dtype=np.uint64) * np.uint64(step)
    expected = set(values.tolist())
    found = kernel(values, len(values), 0xC4CEB9FE1A85EC53)
    assert found == len(expected)
    assert set(values[:found].tolist()) == expected


class TestShinglesProperties:
    @settings(deadline=None)
    @given(WORDS, st.integers(1, 6))
    def test_there_are_as_many_hashes_as_distinct_runs(self, words: list[str], size: int) -> None:
        runs = {tuple(words[place : place + size]) for place in range(len(words) - size + 1)}
        expected = len(runs) or min(len(words), 1)
        assert len(shingle_set(" ".join(words), "word", size)) == expected

    @settings(deadline=None)
    @given(WORDS, WORDS, st.integers(1, 4))
    def test_equal_sets_of_runs_have_equal_hashes_and_only_they(
        self, first: list[str], second: list[str], size: int
    ) -> None:
        def runs(words: list[str]) -> set[tuple[str, ...]]:
            whole = range(max(len(words) - size, 0) + 1) if words else range(0)
            return {tuple(words[place : place + size]) for place in whole}

        ours = shingle_set(" ".join(first), "word", size)
        theirs = shingle_set(" ".join(second), "word", size)
        assert (runs(first) == runs(second)) == np.array_equal(ours, theirs)
        assert intersection_size(ours, theirs) == len(runs(first) & runs(second))

    @settings(deadline=None)
    @given(VALUES)
    def test_distinct_values_are_sorted_and_complete(self, values: list[int]) -> None:
        assert distinct(np.array(values, np.uint64)).tolist() == sorted(set(values))

    @settings(deadline=None)
    @given(VALUES, st.integers(0, 2**63 - 1))
    def test_the_table_keeps_the_first_of_each_in_order(self, values: list[int], salt: int) -> None:
        array = np.array(values, np.uint64)
        found = kernel(array, len(array), 2 * salt + 1)
        assert array[:found].tolist() == list(dict.fromkeys(values))

    @settings(deadline=None)
    @given(st.sets(st.integers(0, 60)), st.sets(st.integers(0, 60)))
    def test_what_two_sets_share_is_counted(self, first: set[int], second: set[int]) -> None:
        arrays = [np.array(sorted(one), np.uint64) for one in (first, second)]
        assert intersection_size(*arrays) == len(first & second)
