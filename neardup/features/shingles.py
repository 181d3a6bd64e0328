"""Sets of shingles."""

from collections.abc import Callable
from functools import cache

import numpy as np

from neardup.features.hashing import Hashes
from neardup.features.occurrences import SHINGLE_SIZE, occurrences

JACCARD_SIZE = 5
"""Words in a row that make one element of the sets of which Jaccard similarity is told."""


def shingle_set(text: str, unit: str = "word", size: int = SHINGLE_SIZE) -> Hashes:
    """Return the hashes of the set of shingles of a text, which ``occurrences`` describes.

    Returns:
        uint64, (distinct shingles,), ascending.

    Raises:
        TypeError: ``text`` is no ``str``.

    Complexity: O(length + shingles * log shingles).
    """
    return distinct(occurrences(text, unit, size))


def intersection_size(first: Hashes, second: Hashes) -> int:
    """Return the number of values that two sets have in common.

    Args:
        first: uint64, (values,), ascending and distinct, as :func:`shingle_set` returns them.
        second: The same.

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
    from neardup.features import shingle_kernels  # noqa: PLC0415  (numba takes long)

    return shingle_kernels.intersection_size
