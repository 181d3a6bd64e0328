"""Shingles of a text: every one as often as it occurs, or the set of them."""

from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from neardup.features.hashing import Hashes
from neardup.features.kernels import bound_words, character_hashes, counted, hash_words, rolled
from neardup.features.tokens import unit_bytes

_Number = TypeVar("_Number", bound=np.generic)

SHINGLE_SIZE = 3

JACCARD_SIZE = 5
"""Words in a row that make one element of the sets whose Jaccard similarity is computed."""


class Words(NamedTuple):
    """The words of a text.

    Attributes:
        eights: uint64: the text, eight bytes a number, and spaces behind it.
        bounds: uint64, (at least 2 * number,): for each word the place of its first byte and the
            place after its last.
        number: The number of words.
    """

    eights: NDArray[np.uint64]
    bounds: NDArray[np.uint64]
    number: int


def occurrences(text: str, unit: str = "word", size: int = SHINGLE_SIZE) -> Hashes:
    """Return the hash of every shingle of a text, in order, as often as it occurs.

    A text with fewer units than ``size`` is one shingle; a text with none has none. The same
    shingle has the same hash in every process and on every platform.

    Args:
        text: Any text; folding is part of its shingles.
        unit: ``word``, or ``character`` of the folded text with its single spaces.
        size: Units of a shingle, at least 1.

    Returns:
        uint64, (shingles,).

    Raises:
        TypeError: ``text`` is no ``str``.

    Complexity: O(length).
    Reference: Broder, On the resemblance and containment of documents, 1997, section 2.
    """
    return shingles_of(unit_hashes(unit_bytes(text, unit), unit), size)


def unit_hashes(data: bytes, unit: str) -> Hashes:
    """Return a hash for each unit in what ``unit_bytes`` returned: uint64, (units,)."""
    return _character_hashes(data) if unit == "character" else _word_hashes(data)


def shingles_of(units: Hashes, size: int) -> Hashes:
    """Return the hashes of the shingles of units; they overwrite the array of the units."""
    return units[: rolled(units, size)]


def words_in(data: bytes) -> Words:
    """Return the places of the words in what ``unit_bytes`` returned for words."""
    blocks = (len(data) >> 6) + 1
    eights = np.frombuffer(data.ljust(64 * blocks + 8), np.uint64)
    bounds = np.empty(len(data) + 2, np.uint64)
    return Words(eights, bounds, bound_words(eights, bounds))


def _word_hashes(data: bytes) -> Hashes:
    words = words_in(data)
    hashes = np.empty(words.number, np.uint64)
    hash_words(words.eights, words.bounds, hashes)
    return hashes


def _character_hashes(data: bytes) -> Hashes:
    hashes = np.empty(len(data), np.uint64)
    return hashes[: character_hashes(data, hashes)]


def count_words(text: str) -> int:
    """Return the number of words of a text."""
    return words_in(unit_bytes(text, "word")).number


def shingle_set(text: str, unit: str = "word", size: int = SHINGLE_SIZE) -> Hashes:
    """Return the hashes of the set of a text's ``occurrences``: uint64, (distinct,), ascending.

    Complexity: O(length + shingles * log shingles).
    """
    return distinct(occurrences(text, unit, size))


def distinct(values: NDArray[_Number]) -> NDArray[_Number]:
    """Return the distinct values, ascending; the argument may be sorted in place."""
    if not len(values):
        return values
    # np.unique does the same by a hash table: 400 integers take 200 us there, and 3 here.
    values.sort()
    first = np.empty(len(values), np.bool_)
    first[0] = True
    np.not_equal(values[1:], values[:-1], out=first[1:])
    return values[first]


def distinct_counts(values: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the distinct values, ascending, and their counts; the argument is overwritten.

    np.unique takes 24 us for 20 values, and this 4.
    """
    values.sort()
    counts = np.empty(len(values))
    found = counted(values.view(np.uint64), counts)
    return values[:found], counts[:found].astype(np.int64)
