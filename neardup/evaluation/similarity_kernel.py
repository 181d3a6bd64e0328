"""The similarity of two of many texts."""

import numpy as np
from numba import types
from numpy.typing import NDArray

from neardup.compiled import compiled
from neardup.evaluation.kernel_types import FLOATS64, INTS64, SETS, WORDS64, Int
from neardup.evaluation.shingle_sets import SetArrays

UNKNOWN = -1.0


@compiled(types.float64(WORDS64, types.int64, types.int64, types.int64, types.int64))
def jaccard_of(
    hashes: NDArray[np.uint64], first: Int, ours: Int, second: Int, theirs: Int
) -> float:
    """Return the Jaccard similarity of two sets, each given by its start and its size.

    Complexity: O(shingles of both).
    """
    last_first, last_second = first + ours, second + theirs
    both = 0
    while first < last_first and second < last_second:
        here, there = hashes[first], hashes[second]
        # Without a branch, which would be guessed wrongly every second time.
        both += int(here == there)
        first += int(here <= there)
        second += int(there <= here)
    union = ours + theirs - both
    return float(both / union) if union else 1.0


@compiled(types.float64(SETS, types.int64, types.int64))
def similarity_of(sets: SetArrays, one: Int, other: Int) -> float:
    """Return the Jaccard similarity of two texts' sets; -1 where one of them is not held.

    It is the least of the texts and of the wholes that they were taken from, as
    ``neardup.verifier.compared_with`` has it.

    Complexity: O(shingles of both).
    """
    ours, theirs = sets.sizes[one], sets.sizes[other]
    if ours < 0 or theirs < 0:
        return UNKNOWN
    found = jaccard_of(sets.hashes, sets.starts[one], ours, sets.starts[other], theirs)
    if sets.whole_sizes[one] < 0 and sets.whole_sizes[other] < 0:
        return found
    first, second = sets.starts[one], sets.starts[other]
    if sets.whole_sizes[one] >= 0:
        first, ours = sets.whole_starts[one], sets.whole_sizes[one]
    if sets.whole_sizes[other] >= 0:
        second, theirs = sets.whole_starts[other], sets.whole_sizes[other]
    return min(found, jaccard_of(sets.hashes, first, ours, second, theirs))


@compiled(FLOATS64(SETS, INTS64, INTS64))
def similarities(
    sets: SetArrays, ones: NDArray[np.int64], others: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the similarity of each pair of texts.

    Args:
        sets: The sets of all texts that are compared.
        ones: int64, (pairs,): numbers of texts.
        others: int64, (pairs,).
    """
    found = np.empty(len(ones), np.float64)
    for pair in range(len(ones)):
        found[pair] = similarity_of(sets, ones[pair], others[pair])
    return found
