import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neardup.features.shingles import distinct, shingle_hashes

WORDS = st.lists(st.sampled_from(["a", "b", "cc", "counterintuitively"]), max_size=40)


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
    assert len(shingle_hashes(text.encode(), size)) == count


def test_the_order_of_words_counts() -> None:
    forms = [b"a b c", b"a c b", b"b a c", b"b c a", b"c a b", b"c b a"]
    assert len({int(shingle_hashes(form, 3)[0]) for form in forms}) == 6


class TestShinglesProperties:
    @settings(deadline=None)
    @given(WORDS, st.integers(1, 6))
    def test_there_are_as_many_hashes_as_distinct_runs(self, words: list[str], size: int) -> None:
        runs = {tuple(words[place : place + size]) for place in range(len(words) - size + 1)}
        expected = len(runs) or min(len(words), 1)
        assert len(shingle_hashes(" ".join(words).encode(), size)) == expected

    @settings(deadline=None)
    @given(WORDS, WORDS, st.integers(1, 4))
    def test_equal_sets_of_runs_have_equal_hashes_and_only_they(
        self, first: list[str], second: list[str], size: int
    ) -> None:
        def runs(words: list[str]) -> set[tuple[str, ...]]:
            whole = range(max(len(words) - size, 0) + 1) if words else range(0)
            return {tuple(words[place : place + size]) for place in whole}

        ours = shingle_hashes(" ".join(first).encode(), size)
        theirs = shingle_hashes(" ".join(second).encode(), size)
        assert (runs(first) == runs(second)) == np.array_equal(ours, theirs)

    @settings(deadline=None)
    @given(st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 5)))
    def test_distinct_values_are_sorted_and_complete(self, values: list[int]) -> None:
        assert distinct(np.array(values, np.uint64)).tolist() == sorted(set(values))
