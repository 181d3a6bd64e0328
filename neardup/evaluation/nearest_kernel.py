"""Compute the distance to the nearest other fingerprint."""

import numpy as np
from numpy.typing import NDArray

from neardup.compiled import compiled
from neardup.evaluation.kernel_types import INTS64, WORDS64
from neardup.instructions import set_bits

_BLOCK = 256


@compiled(INTS64(WORDS64, INTS64))
def nearest_distances(
    fingerprints: NDArray[np.uint64], asked: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the distance of each asked fingerprint from the nearest of the others.

    Args:
        fingerprints: uint64, (texts,), at least two.
        asked: int64, (asked,): places among them.

    Returns:
        int64, (asked,), in bits.

    Complexity: O(asked * texts), less where many are equal.
    """
    found = np.empty(len(asked), np.int64)
    for number in range(len(asked)):
        place = asked[number]
        value, nearest, start = fingerprints[place], np.int64(64), 0
        while start < len(fingerprints) and nearest:
            stop = min(start + _BLOCK, len(fingerprints))
            if start <= place < stop:
                for other in range(start, stop):
                    if other != place:
                        nearest = min(nearest, set_bits(value ^ fingerprints[other]))
            else:
                # Without a branch, so that several are compared at once.
                for other in range(start, stop):
                    nearest = min(nearest, set_bits(value ^ fingerprints[other]))
            start = stop
        found[number] = nearest
    return found
