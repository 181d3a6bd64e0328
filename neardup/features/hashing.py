"""Scatter the bits of numbers."""

import numpy as np
from numpy.typing import NDArray

Hashes = NDArray[np.uint64]

# The finalizer of MurmurHash3 (Austin Appleby, public domain): every bit of the input turns half
# of the output. The odd constant is 2**64 divided by the golden ratio.
FIRST = np.uint64(0xFF51AFD7ED558CCD)
SECOND = np.uint64(0xC4CEB9FE1A85EC53)
HALF = np.uint64(33)
GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # 2**64 over the golden ratio, odd


def mix(hashes: Hashes) -> Hashes:
    """Scatter the bits of each value, in place and without collisions, and return the array."""
    hashes ^= hashes >> HALF
    hashes *= FIRST
    hashes ^= hashes >> HALF
    hashes *= SECOND
    hashes ^= hashes >> HALF
    return hashes
