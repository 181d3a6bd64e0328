"""Verify candidates: the similarity of two texts, counted and not estimated."""

import secrets
from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np

from neardup.errors import ParameterError
from neardup.features import kernels
from neardup.features.hashing import Hashes
from neardup.features.shingles import JACCARD_SIZE, words_in
from neardup.features.tokens import packed_words, unit_bytes
from neardup.whole import split_whole

# Authors of texts cannot know them. They are below ``kernels.FIELD``, and not 0.
_WORD_KEY = 1 + secrets.randbelow((1 << 61) - 2)
_SHINGLE_KEY = 1 + secrets.randbelow((1 << 61) - 2)


_MIN_SLOT_BITS = 4


class Verifier(Protocol):
    """Measures how similar two texts are, for a deduplicator to compare with ``min_similarity``.

    Attributes:
        measure: The name of the measure, in a word or two, for reports: "jaccard", "tf-idf cosine".
    """

    measure: str

    def compared_with(self, text: str) -> Callable[[str], float]:
        """Return the function that gives another text's similarity with this one, 0 to 1.

        So what a text needs (its words, its vector) is computed once for all its candidates.
        """


def compared_with(
    verifier: Verifier, text: str, *, min_similarity: float
) -> Callable[[str], float]:
    """Return the function that gives another text's similarity with this one, 0 to 1.

    Where one of them stands with the whole that it was taken from, it is the least similarity of
    both parts; a text that was taken from nothing is its own whole.

    Args:
        verifier: The verifier that compares two parts.
        text: Any text, as ``neardup.whole.with_whole`` makes them too.
        min_similarity: Below it the wholes are not compared any more.
    """
    part, whole = split_whole(text)
    of_part = verifier.compared_with(part)
    of_whole: Callable[[str], float] | None = None

    def compared(other: str) -> float:
        nonlocal of_whole
        their_part, their_whole = split_whole(other)
        found = of_part(their_part)
        if found < min_similarity or (whole is part and their_whole is their_part):
            return found
        of_whole = of_whole or verifier.compared_with(whole)
        return min(found, of_whole(their_whole))

    return compared


class JaccardVerifier:
    """Confirms candidates by the ``jaccard`` of their texts.

    Args:
        shingle_size: Words in a row that make one element of the sets.

    Raises:
        ParameterError: ``shingle_size`` is below 1.
    """

    measure = "jaccard"

    def __init__(self, shingle_size: int = JACCARD_SIZE) -> None:
        if shingle_size < 1:
            raise ParameterError(f"shingle_size must be at least 1, got {shingle_size}")
        self._shingle_size = shingle_size

    def compared_with(self, text: str) -> "JaccardComparison":
        """Return the function that gives another text's similarity with this one, 0 to 1."""
        return JaccardComparison(text, self._shingle_size)


class JaccardComparison:
    """Gives the similarity of other texts with one, which is cut into shingles once.

    Shingles are compared by hashes with two keys, which each process draws for itself. Texts that
    were written without knowing the keys have this chance that two given shingles which differ
    have the same hash, whatever their author intended: less than (``shingle_size`` + bytes of the
    longest word / 7) / 2**61. So the number of shingles that two texts share is wrong, by one as
    a rule, with a chance of 10**-11 for two texts of 1,000 words, and of 10**-5 for two of a
    million, where it changes the similarity by 10**-6.

    Attributes:
        shingles: The hashes of the set of the text's shingles: uint64, (distinct,), in any order,
            to be compared with those of this process alone.

    Reference: Carter and Wegman, Universal classes of hash functions, 1979.
    """

    def __init__(self, text: str, shingle_size: int) -> None:
        self._shingle_size = shingle_size
        self.shingles, self._table, self._shift = _keyed_set(text, shingle_size)

    def __call__(self, other: str) -> float:
        return self.with_set(self.shingles_of(other))

    def shingles_of(self, text: str) -> Hashes:
        """Return the ``shingles`` of another text, for ``with_set``."""
        return _keyed_set(text, self._shingle_size).hashes

    def with_set(self, shingles: Hashes) -> float:
        """Return the similarity of the text whose ``shingles`` these are.

        Complexity: O(shingles), however long the text in hand is.
        """
        both = self.shared_with(shingles)
        union = len(self.shingles) + len(shingles) - both
        return both / union if union else 1.0

    def shared_with(self, shingles: Hashes) -> int:
        """Return the number of shingles that both texts have."""
        return _shared(self._table, self._shift, shingles)


def shared_size(few: Hashes, many: Hashes) -> int:
    """Return the number of shingles that two sets of ``shingles`` have in common.

    Complexity: O(shingles) on average; the first set is best the smaller one.
    """
    _, table, shift = _distinct(few.copy())
    return _shared(table, shift, many)


def _shared(table: Hashes, shift: int, shingles: Hashes) -> int:
    return kernels.shared_size(table, shift, shingles)


def jaccard(first: str, second: str, *, shingle_size: int = JACCARD_SIZE) -> float:
    """Return the Jaccard similarity of two texts' sets of word shingles, 0 to 1.

    Exact, as ``JaccardComparison`` says. A text with fewer words than ``shingle_size`` is one
    shingle, so two texts without any word have similarity 1.

    Raises:
        ParameterError: ``shingle_size`` is below 1.

    Complexity: O(length) on average.
    Reference: Broder, On the resemblance and containment of documents, 1997, section 2.
    """
    return JaccardVerifier(shingle_size).compared_with(first)(second)


def containment(first: str, second: str, *, shingle_size: int = JACCARD_SIZE) -> float:
    """Return the share of the first text's word shingles that the second has too, 0 to 1.

    1 where the first text is quoted whole, however long the second is; so it is not symmetric.
    Exact, as ``JaccardComparison`` says. As in ``jaccard``, a text with fewer words than
    ``shingle_size`` is one shingle, and it equals no longer one.

    Raises:
        ParameterError: ``shingle_size`` is below 1.

    Complexity: O(length) on average.
    Reference: Broder, On the resemblance and containment of documents, 1997, section 2.
    """
    of_second = JaccardVerifier(shingle_size).compared_with(second)
    ours = of_second.shingles_of(first)
    if not len(ours):
        return float(not len(of_second.shingles))
    return of_second.shared_with(ours) / len(ours)


class _KeyedSet(NamedTuple):
    """Hashes of the set of a text's shingles, and a table as ``fill_table`` describes it."""

    hashes: Hashes
    table: Hashes
    shift: int


def _keyed_set(text: str, size: int) -> _KeyedSet:
    eights, bounds, count = words_in(unit_bytes(text, "word"))
    hashes = np.empty(count, np.uint64)
    count = kernels.hash_shingles(eights, bounds, hashes, size, _WORD_KEY, _SHINGLE_KEY)
    return _distinct(hashes[:count])


def _distinct(hashes: Hashes) -> _KeyedSet:
    """Return the set of some hashes, which are moved."""
    slot_bits = max(_MIN_SLOT_BITS, (2 * len(hashes)).bit_length())
    table, shift = np.zeros(1 << slot_bits, np.uint64), 64 - slot_bits
    return _KeyedSet(hashes[: kernels.fill_table(hashes, table, shift)], table, shift)


def split(text: str) -> list[bytes]:
    """Return the tokens of a text as UTF-8."""
    return packed_words(text).split()
