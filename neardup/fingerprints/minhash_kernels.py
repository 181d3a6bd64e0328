"""The least values of a MinHash signature."""

import numpy as np
from numba import types
from numpy.typing import NDArray

from neardup.compiled import compiled
from neardup.features.unit_kernels import HASHES, U64

_FACTORS = types.Array(types.uint32, 1, "C", readonly=True)
_SIGNATURE = types.Array(types.uint32, 1, "C")


@compiled(types.void(HASHES, _FACTORS, _SIGNATURE))
def minima(
    hashes: NDArray[np.uint64], factors: NDArray[np.uint32], signature: NDArray[np.uint32]
) -> None:
    """Write the least product of each factor with the upper halves of hashes.

    Modulo 2**32, of odd factors: each multiplication permutes the odd numbers. A summand as well
    would be of no use: no odd value is the least for all factors.
    """
    for row in range(len(factors)):
        signature[row] = np.uint32(0xFFFFFFFF)
    for place in range(len(hashes)):
        value = np.uint32(hashes[place] >> U64(32)) | np.uint32(1)
        for row in range(len(factors)):
            product = np.uint32(value * factors[row])
            signature[row] = min(signature[row], product)
