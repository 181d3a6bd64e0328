"""The keyed hashes of shingles against polynomials in the integers of Python."""

import itertools
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neardup import jaccard, tokens
from neardup.features.hashing import GOLDEN, Hashes, mix
from neardup.features.kernels import FIELD, fill_table, hash_shingles, shared_size
from neardup.features.shingles import shingle_set, words_in
from neardup.features.tokens import unit_bytes
from tests.neardup.features import plain

KEYS = st.integers(1, FIELD - 1)
TEXTS = st.text("aB _9.,\n\0é猫ดี\ud800’", max_size=80) | st.text(max_size=60)
SIZES = st.integers(1, 8)
VALUES = st.lists(st.integers(1, FIELD) | st.integers(1, 20), max_size=64)


def polynomial(coefficients: list[int], key: int) -> int:
    value = 0
    for one in coefficients:
        value = (value * key + one) % FIELD
    return value


def plain_hashes(text: str, size: int, word_key: int, shingle_key: int) -> list[int]:
    """Return the hash of each shingle by its definition, as often as it occurs."""
    hashes = []
    for token in tokens(text):
        word = token.encode()
        sevens = [word[place : place + 7] for place in range(0, len(word), 7)]
        numbers = [int.from_bytes(seven, "little") for seven in sevens]
        hashes.append(polynomial(numbers, word_key))
    size = min(size, len(hashes))
    places = range(len(hashes) - size + 1 if hashes else 0)
    return [polynomial([*hashes[at : at + size], 0], shingle_key) + 1 for at in places]


def hashed(text: str, size: int, word_key: int, shingle_key: int) -> Hashes:
    """Return the hash of each shingle, as often as it occurs."""
    eights, bounds, count = words_in(unit_bytes(text, "word"))
    hashes = np.empty(count, np.uint64)
    return hashes[: hash_shingles(eights, bounds, hashes, size, word_key, shingle_key)]


def table_of(hashes: Hashes, bits: int) -> tuple[Hashes, Hashes]:
    """Return the distinct ones of hashes, and a table of so many bits with them."""
    table, distinct = np.zeros(1 << bits, np.uint64), hashes.copy()
    return distinct[: fill_table(distinct, table, 64 - bits)], table


@pytest.mark.parametrize("length", [*range(1, 25), 63, 64, 65, 200])
@pytest.mark.parametrize("key", [1, 2, FIELD - 2, FIELD - 1, 0x0123456789ABCDEF])
def test_words_of_any_length_have_the_hash_of_the_definition(length: int, key: int) -> None:
    text = f"...{'zyx_0é' * 40}"[: length + 3] + "  " + "9" * length
    for size in (1, 2):
        assert hashed(text, size, key, key).tolist() == plain_hashes(text, size, key, key)


def test_mix_keeps_values_apart() -> None:
    assert len(np.unique(mix(np.arange(100_000, dtype=np.uint64)))) == 100_000


def test_a_table_holds_a_large_set_and_nothing_else() -> None:
    text = " ".join(f"w{number:x}" for number in range(70_000))
    hashes, table = table_of(hashed(text, 5, 3**30, 5**20), 18)
    assert len(hashes) == 69_996
    assert shared_size(table, 64 - 18, hashes) == len(hashes)
    assert shared_size(table, 64 - 18, hashes ^ np.uint64(1 << 62)) == 0


def colliding_words() -> Iterator[tuple[str, str]]:
    """Yield pairs of words of 16 letters that the hash without a key cannot tell apart."""
    source = np.random.default_rng(1)
    letters = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz0123456789_", np.uint8)
    starts = source.choice(letters, (3000, 8)).view(np.uint64).ravel()
    after = mix(starts.copy()) * GOLDEN
    reachable = np.zeros((256, 2), np.uint8)
    for one, other in itertools.product(letters, letters):
        reachable[one ^ other] = one, other
    for first in range(len(starts)):
        apart = (after[first] ^ after[first + 1 :]).view(np.uint8).reshape(-1, 8)
        for row in np.flatnonzero(reachable[apart, 0].all(axis=1)):
            ends = reachable[apart[row]]
            pair = ((starts[first], ends[:, 0]), (starts[first + 1 + row], ends[:, 1]))
            one, other = (begin.tobytes() + end.tobytes() for begin, end in pair)
            yield one.decode(), other.decode()


def test_texts_forged_for_the_hash_without_a_key_are_told_apart() -> None:
    pairs = list(itertools.islice(colliding_words(), 20))
    first, second = (" ".join(words) for words in zip(*pairs, strict=True))
    assert len(pairs) == 20
    assert [plain.word_hash(word.encode()) for word in first.split()] == [
        plain.word_hash(word.encode()) for word in second.split()
    ]
    assert np.array_equal(shingle_set(first), shingle_set(second))
    assert jaccard(first, second) == 0.0


class TestKeyedHashProperties:
    @settings(deadline=None)
    @given(TEXTS, SIZES, KEYS, KEYS)
    def test_they_are_those_of_the_definition(
        self, text: str, size: int, word_key: int, shingle_key: int
    ) -> None:
        found = hashed(text, size, word_key, shingle_key).tolist()
        assert found == plain_hashes(text, size, word_key, shingle_key)

    @settings(deadline=None)
    @given(VALUES, VALUES)
    def test_a_table_tells_what_two_sets_share(self, first: list[int], second: list[int]) -> None:
        ours, table = table_of(np.array(first, np.uint64), 7)
        theirs, _ = table_of(np.array(second, np.uint64), 7)
        assert ours.tolist() == list(dict.fromkeys(first))
        assert sorted(filter(None, table.tolist())) == sorted(set(first))
        assert shared_size(table, 64 - 7, theirs) == len(set(first) & set(second))
