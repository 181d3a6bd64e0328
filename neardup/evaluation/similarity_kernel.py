"""The similarity of two of many texts."""

import numpy as np
from numba import types
from numpy.typing import NDArray

from neardup.compiled import compiled
from neardup.evaluation.kernel_types import FLOATS64, INTS64, SETS, Int
from neardup.evaluation.shingle_sets import SetArrays

UNKNOWN = -1.0


@compiled(types.float64(SETS, types.int64, types.int64))
def similarity_of(sets: SetArrays, one: Int, other: Int) -> float:
    """Return the Jaccard similarity of two texts' sets; -1 where one of them is not held.

    Complexity: O(shingles of both).
    """
    ours, theirs = sets.sizes[one], sets.sizes[other]
    if ours < 0 or theirs < 0:
        return UNKNOWN
    first, second = sets.starts[one], sets.starts[other]
    last_first, last_second = first + ours, second + theirs
    both = 0
    while first < last_first and second < last_second:
        here, there = sets.hashes[first], sets.hashes[second]
        # Without a branch, which would be guessed wrongly every second time.
        both += int(here == there)
        first += int(here <= there)
        second += int(there <= here)
    union = ours + theirs - both
    return float(both / union) if union else 1.0


@compiled(FLOATS64(SETS, INTS64, INTS64))
def similarities(
    sets: SetArrays, ones: NDArray[np.int64], others: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the similarity of each pair of texts.

    Args:
        sets: Of all texts that are compared.
        ones: int64, (pairs,): numbers of texts.
        others: int64, (pairs,).
    """
    found = np.empty(len(ones), np.float64)
    for pair in range(len(ones)):
        found[pair] = similarity_of(sets, ones[pair], others[pair])
    return found
