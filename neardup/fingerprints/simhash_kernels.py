"""SimHash of features with weights: the bits are weighed."""

import numpy as np
from numba import types
from numpy.typing import NDArray

from neardup.compiled import compiled
from neardup.features.unit_kernels import HASHES, U64

_WEIGHTS = types.Array(types.float64, 1, "C")


@compiled(types.uint64(HASHES, _WEIGHTS, _WEIGHTS))
def of_weights(
    hashes: NDArray[np.uint64], weights: NDArray[np.float64], sums: NDArray[np.float64]
) -> int:
    """Return the SimHash of hashes with a finite weight each, summed in their order.

    Args:
        hashes: uint64, (features,).
        weights: float64, (features,).
        sums: float64, (64,), zeros: room to calculate in.
    """
    for place in range(len(hashes)):
        value, weight = hashes[place], weights[place]
        for bit in range(64):
            sums[bit] += weight if (value >> U64(bit)) & U64(1) else -weight
    fingerprint = U64(0)
    for bit in range(64):
        if sums[bit] > 0:
            fingerprint |= U64(1) << U64(bit)
    return int(fingerprint)
