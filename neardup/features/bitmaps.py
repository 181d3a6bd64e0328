"""Bound the similarity of two sets of shingles from above, by a bit for each shingle."""

from typing import NamedTuple

import numpy as np

from neardup.features import kernels
from neardup.features.hashing import Hashes

BITS_A_SHINGLE = 8
"""A set has at least this many bits a value, and less than twice as many.

Two sets of 1,000 at a similarity of 0.7 are told to be below 0.75.
"""

_MIN_BITS = 64


class Bitmap(NamedTuple):
    """A set of ``size`` hashes: the lowest bits of each name the bit of ``words`` that it sets."""

    size: int
    words: Hashes


def bitmap_of(hashes: Hashes) -> Bitmap:
    """Return the bitmap of a set of distinct hashes."""
    bits = max(_MIN_BITS, BITS_A_SHINGLE * len(hashes))
    words = np.zeros(1 << (bits - 1).bit_length() - 6, np.uint64)
    kernels.set_bits(hashes, words)
    return Bitmap(len(hashes), words)


def max_similarity(first: Bitmap, second: Bitmap) -> float:
    """Return a bound of two sets' Jaccard similarity; never below it.

    Complexity: O(words of the larger).
    """
    shared = max_shared(first, second)
    union = first.size + second.size - shared
    return shared / union if union else 1.0


def max_shared(first: Bitmap, second: Bitmap) -> int:
    """Return a bound of the number of values that two sets share; never below it.

    A bit that only one of them has set stands for at least one value that the other lacks.

    Complexity: O(words of the larger).
    """
    small, large = first, second
    if len(small.words) > len(large.words):
        small, large = large, small
    return kernels.max_shared(small.words, small.size, large.words, large.size)
