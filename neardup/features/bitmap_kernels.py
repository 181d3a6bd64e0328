"""Bitmaps of sets of hashes."""

import numpy as np
from numba import types
from numpy.typing import NDArray

from neardup.compiled import compiled
from neardup.features.unit_kernels import HASHES, U64
from neardup.instructions import set_bits as counted

_ANY_HASHES = types.Array(types.uint64, 1, "C", readonly=True)


@compiled(types.void(_ANY_HASHES, HASHES))
def set_bits(hashes: NDArray[np.uint64], words: NDArray[np.uint64]) -> None:
    """Set for each hash the bit that its lowest bits name.

    Args:
        hashes: uint64, (values,).
        words: uint64, a power of two of zeros.
    """
    last = U64(64 * len(words) - 1)
    for place in range(len(hashes)):
        bit = hashes[place] & last
        words[bit >> U64(6)] |= U64(1) << (bit & U64(63))


@compiled(types.int64(_ANY_HASHES, types.int64, _ANY_HASHES, types.int64))
def max_shared(
    small: NDArray[np.uint64], small_size: int, large: NDArray[np.uint64], large_size: int
) -> int:
    """Return the largest number of values that two sets may have in common.

    Args:
        small: uint64, the bits of one, a power of two of words.
        small_size: Its values.
        large: uint64, those of the other, as many words or a multiple; folded to the same length.
        large_size: Its values.
    """
    ours, theirs = 0, 0
    for place in range(len(small)):
        folded = large[place]
        for further in range(place + len(small), len(large), len(small)):
            folded |= large[further]
        ours += counted(small[place] & ~folded)
        theirs += counted(folded & ~small[place])
    return min(small_size - ours, large_size - theirs)
