"""SimHash of features that weigh the same: the bits of a set are counted."""

import numpy as np
from numba import types
from numpy.typing import NDArray

from neardup.compiled import compiled
from neardup.features.hashing import FIRST
from neardup.features.unit_kernels import HASHES, U64

_EACH = U64(0x0101010101010101)
# A byte counts to 255.
_GROUP = 255


@compiled(types.int64(HASHES, types.int64, types.uint64))
def distinct(hashes: NDArray[np.uint64], count: int, salt: int) -> int:
    """Move the distinct ones of the first values to the front, in their order; return how many.

    The values go into a table with open addressing, half full at most. The place of a value in it
    depends on the salt, an odd number that the author of a text cannot know. Without it all
    shingles of a text could be made to want the same place, and the time would grow with the square
    of its length.

    Complexity: O(count) on average, whatever the values.
    """
    slots, shift = 16, 60
    while slots < 2 * count:
        slots, shift = slots * 2, shift - 1
    table = np.zeros(slots, np.uint64)
    last = U64(slots - 1)
    found, zeros = 0, 0
    for place in range(count):
        value = hashes[place]
        if value == U64(0):
            # 0 is what an empty slot holds.
            zeros += 1
            new = zeros == 1
        else:
            spread = value * U64(salt)
            slot = ((spread ^ (spread >> U64(32))) * FIRST) >> U64(shift)
            while table[slot] != U64(0) and table[slot] != value:
                slot = (slot + U64(1)) & last
            new = table[slot] == U64(0)
            table[slot] = value
        if new:
            hashes[found] = value
            found += 1
    return found


@compiled(types.uint64(HASHES, types.int64))
def of_set(hashes: NDArray[np.uint64], count: int) -> int:
    """Return the SimHash of the first hashes, which weigh the same.

    Eight counters of a byte share one number, so eight numbers count the ones of 64 bits, and
    another takes each of them one step on.
    """
    ones = np.zeros(64, np.int64)
    for start in range(0, count, _GROUP):
        a = b = c = d = e = f = g = h = U64(0)
        for place in range(start, min(count, start + _GROUP)):
            value = hashes[place]
            a += value & _EACH
            b += (value >> U64(1)) & _EACH
            c += (value >> U64(2)) & _EACH
            d += (value >> U64(3)) & _EACH
            e += (value >> U64(4)) & _EACH
            f += (value >> U64(5)) & _EACH
            g += (value >> U64(6)) & _EACH
            h += (value >> U64(7)) & _EACH
        sums = (a, b, c, d, e, f, g, h)
        for bit in range(64):
            ones[bit] += np.int64((sums[bit & 7] >> U64(bit & 56)) & U64(255))
    fingerprint = U64(0)
    for bit in range(64):
        # More ones than zeros is what a positive sum of +1 and -1 means.
        if 2 * ones[bit] > count:
            fingerprint |= U64(1) << U64(bit)
    return int(fingerprint)
