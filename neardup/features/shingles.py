"""Shingles of a text: every one as often as it occurs, or the set of them."""

from collections.abc import Callable
from functools import cache

import numpy as np

from neardup.features.hashing import Hashes
from neardup.features.tokens import unit_bytes

SHINGLE_SIZE = 3

JACCARD_SIZE = 5
"""Words in a row that make one element of the sets whose Jaccard similarity is computed."""


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
    return occurrences_in(unit_bytes(text, unit), unit, size)[0]


def occurrences_in(data: bytes, unit: str, size: int) -> tuple[Hashes, int]:
    """Return the :func:`occurrences` in what ``unit_bytes`` returned, and the number of units."""
    from neardup.features.shingle_kernels import shingles  # noqa: PLC0415  (numba takes long)

    hashes, count, units = shingles(data, unit == "character", size)
    return hashes[:count], units


def count_words(packed: bytes) -> int:
    """Return the number of words in what ``word_bytes`` returned."""
    return occurrences_in(packed, "word", 1)[1]


def shingle_set(text: str, unit: str = "word", size: int = SHINGLE_SIZE) -> Hashes:
    """Return the hashes of the set of a text's ``occurrences``: uint64, (distinct,), ascending.

    Complexity: O(length + shingles * log shingles).
    """
    return distinct(occurrences(text, unit, size))


def intersection_size(first: Hashes, second: Hashes) -> int:
    """Return the number of values that two sets, ascending, have in common.

    Complexity: O(len(first) + len(second)).
    """
    return _intersection_size()(first, second)


def distinct(values: Hashes) -> Hashes:
    """Return the distinct values, ascending; the argument may be sorted in place."""
    if not len(values):
        return values
    # np.unique does the same in eight times the time (55 us against 7 for 1,000 values).
    values.sort()
    first = np.empty(len(values), np.bool_)
    first[0] = True
    np.not_equal(values[1:], values[:-1], out=first[1:])
    return values[first]


@cache
def _intersection_size() -> Callable[[Hashes, Hashes], int]:
    from neardup.features.shingle_kernels import (  # noqa: PLC0415  (numba takes long)
        intersection_size,
    )

    return intersection_size
