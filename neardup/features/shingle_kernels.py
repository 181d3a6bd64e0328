"""Shingles of a text, how often each occurs, and how many two texts may share."""

import numpy as np
from numba import types
from numpy.typing import NDArray

from neardup.compiled import compiled
from neardup.features.hashing import GOLDEN
from neardup.features.unit_kernels import HASHES, U64, mixed
from neardup.instructions import set_bits as bits_set

_COUNTS = types.Array(types.float64, 1, "C")
_ANY_HASHES = types.Array(types.uint64, 1, "C", readonly=True)


@compiled(types.int64(HASHES, types.int64))
def rolled(hashes: NDArray[np.uint64], size: int) -> int:
    """Replace the hashes of units by those of the shingles that begin there.

    A shingle's hash is a polynomial of its units' hashes, mixed, so the order of units counts;
    from one to the next it takes one multiplication, whatever the size.

    Returns:
        The number of shingles.
    """
    units = len(hashes)
    taken = min(units, size)
    if taken == 0:
        return 0
    out, value = U64(1), U64(0)
    for place in range(taken):
        out *= GOLDEN
        value = value * GOLDEN + hashes[place]
    for place in range(taken, units):
        first = place - taken
        next_value = value * GOLDEN + hashes[place] - out * hashes[first]
        hashes[first] = mixed(value)
        value = next_value
    hashes[units - taken] = mixed(value)
    return units - taken + 1


@compiled(types.int64(HASHES, _COUNTS))
def counted(hashes: NDArray[np.uint64], counts: NDArray[np.float64]) -> int:
    """Move the distinct ones of hashes that ascend to the front, count each, return how many."""
    found = 0
    for place in range(len(hashes)):
        if place == 0 or hashes[place] != hashes[found - 1]:
            hashes[found] = hashes[place]
            counts[found] = 0.0
            found += 1
        counts[found - 1] += 1.0
    return found


@compiled(types.void(_ANY_HASHES, HASHES))
def set_bits(hashes: NDArray[np.uint64], words: NDArray[np.uint64]) -> None:
    """Set for each hash the bit that its lowest bits name; the words are a power of two."""
    last = U64(64 * len(words) - 1)
    for place in range(len(hashes)):
        bit = hashes[place] & last
        words[bit >> U64(6)] |= U64(1) << (bit & U64(63))


@compiled(types.int64(_ANY_HASHES, types.int64, _ANY_HASHES, types.int64))
def max_shared(
    small: NDArray[np.uint64], small_size: int, large: NDArray[np.uint64], large_size: int
) -> int:
    """Return the largest number of values that two sets may have in common.

    Both are bits, a power of two of words, the larger ones folded to the same length.
    """
    ours, theirs = 0, 0
    for place in range(len(small)):
        folded = large[place]
        for further in range(place + len(small), len(large), len(small)):
            folded |= large[further]
        ours += bits_set(small[place] & ~folded)
        theirs += bits_set(folded & ~small[place])
    return min(small_size - ours, large_size - theirs)
