import string
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neardup.features.shingles import (
    count_words,
    distinct,
    distinct_counts,
    occurrences,
    shingle_set,
)
from neardup.fingerprints.kernels import distinct as kernel
from tests.neardup.features import plain

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
        assert len(np.intersect1d(ours, theirs)) == len(runs(first) & runs(second))

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


TEXTS = st.text("aB _9.,\n\0é猫ดี\ud800’", max_size=80) | st.text(string.printable, max_size=300)
SIZES = st.integers(1, 16)
UNITS = st.sampled_from(["word", "character"])
LENGTHS = [1, 7, 8, 9, 15, 16, 17, 63, 64, 65, 71, 72, 73, 200]


def words(text: str) -> list[int]:
    found: list[int] = occurrences(text, "word", 1).tolist()
    return found


@pytest.mark.parametrize(
    ("text", "unit", "size", "pinned"),
    [
        ("the cat sat", "word", 3, 0x360B155333D6224B),
        ("counterintuitively", "word", 1, 0xEA147186EF9875C5),
        ("x" * 65, "word", 1, 0xABA9A02ED2570C82),
        ("le café", "character", 7, 0x17796CD88F9F753E),
    ],
)
def test_hashes_are_pinned(text: str, unit: str, size: int, pinned: int) -> None:
    """Stored fingerprints rest on these; a change here makes them all worthless."""
    assert occurrences(text, unit, size).tolist() == [pinned]


@pytest.mark.parametrize("text", ["", " \n", "... — !?", "\0\0", "\ud800", "\u0301", "👍"])
def test_a_text_without_words_has_no_shingles(text: str) -> None:
    assert occurrences(text).shape == (0,)


@pytest.mark.parametrize("text", ["", " \n\t", "\u200b\ufeff"])
def test_a_text_in_which_nothing_is_seen_has_no_characters(text: str) -> None:
    assert occurrences(text, "character", 4).shape == (0,)


@pytest.mark.parametrize("length", LENGTHS)
def test_words_that_differ_in_their_last_byte_differ(length: int) -> None:
    first, second = words("a" * length + " " + "a" * (length - 1) + "b")
    assert first != second


def test_beginnings_of_a_long_word_all_differ() -> None:
    assert len(set(words(" ".join("a" * length for length in range(1, 200))))) == 199


@pytest.mark.parametrize("offset", range(66))
@pytest.mark.parametrize("length", [1, 8, 9, 64, 130])
def test_a_word_has_one_hash_wherever_it_stands(offset: int, length: int) -> None:
    word = "ab3_" * 40
    before = "." * offset
    assert words(f"{before}{word[:length]}{before}") == words(word[:length])


def test_ascii_knows_the_words_that_other_texts_know() -> None:
    everything = "".join(chr(code) + "a" for code in range(128))
    assert words(everything) == words(everything + " é")[:-1]


def test_the_order_of_units_counts() -> None:
    forms = ["a b c", "a c b", "b a c", "b c a", "c a b", "c b a"]
    assert len({int(occurrences(form)[0]) for form in forms}) == 6
    assert len({int(occurrences(form, "character", 5)[0]) for form in forms}) == 6


def test_characters_are_those_of_the_folded_text() -> None:
    folded = occurrences("le café noir", "character", 4)
    assert (occurrences("  Le\n CAFE\u0301  noir ", "character", 4) == folded).all()
    assert len(folded) == len("le café noir") - 3


@pytest.mark.parametrize("text", [b"bytes", None, 7])
def test_what_is_no_text_is_refused(text: object) -> None:
    for unit in ("word", "character"):
        with pytest.raises(TypeError, match="text must be str, got"):
            occurrences(text, unit)  # type: ignore[arg-type]


class TestOccurrencesProperties:
    @settings(deadline=None)
    @given(TEXTS, UNITS, SIZES)
    def test_they_equal_the_definition(self, text: str, unit: str, size: int) -> None:
        assert occurrences(text, unit, size).tolist() == plain.shingles(text, unit, size)

    @settings(deadline=None)
    @given(TEXTS)
    def test_words_are_counted(self, text: str) -> None:
        assert count_words(text) == len(plain.units(text, "word"))

    @given(st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 3)))
    def test_distinct_values_are_counted(self, values: list[int]) -> None:
        found, counts = distinct_counts(np.array(values, np.int64))
        expected = Counter(values)
        assert found.tolist() == sorted(expected)
        assert counts.tolist() == [expected[value] for value in sorted(expected)]
