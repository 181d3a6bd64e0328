"""The least values of a MinHash signature."""

import numpy as np
from numba import types
from numpy.typing import NDArray

from neardup.compiled import compiled
from neardup.features.shingle_kernels import shingles
from neardup.features.unit_kernels import BYTES, HASHES, U64

_FACTORS = types.Array(types.uint32, 1, "C", readonly=True)
_SIGNATURE = types.Array(types.uint32, 1, "C")


@compiled(types.void(HASHES, types.int64, _FACTORS, _SIGNATURE))
def minima(
    hashes: NDArray[np.uint64],
    count: int,
    factors: NDArray[np.uint32],
    signature: NDArray[np.uint32],
) -> None:
    """Write the least product of each factor with the upper halves of the first hashes.

    Modulo 2**32, of odd factors: each multiplication permutes the odd numbers. A summand as well
    would be of no use: no odd value is the least for all factors.
    """
    signature[:] = np.uint32(0xFFFFFFFF)
    for place in range(count):
        value = np.uint32(hashes[place] >> U64(32)) | np.uint32(1)
        for row in range(len(factors)):
            product = np.uint32(value * factors[row])
            signature[row] = min(signature[row], product)


@compiled(types.int64(BYTES, types.int64, _FACTORS, _SIGNATURE))
def sign(
    packed: bytes, size: int, factors: NDArray[np.uint32], signature: NDArray[np.uint32]
) -> int:
    """Write the signature of a text's set of word shingles and return its number of words.

    A text without words leaves the signature as it is. The bytes are those of ``unit_bytes``.
    """
    hashes, count, words = shingles(packed, False, size)
    if count:
        minima(hashes, count, factors, signature)
    return words
