"""Sets of hashes as bits, and what two of them may share."""

import numpy as np
from numba import types
from numpy.typing import NDArray

from neardup.compiled import compiled
from neardup.features.unit_kernels import HASHES, U64
from neardup.instructions import set_bits as bits_set

_ANY_HASHES = types.Array(types.uint64, 1, "C", readonly=True)


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
