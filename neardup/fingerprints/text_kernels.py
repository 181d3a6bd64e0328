"""The loops that each text passes: weighed bits, the least values of a signature and of windows."""

import numpy as np
from numba import types
from numpy.typing import NDArray

from neardup.compiled import compiled
from neardup.features.unit_kernels import HASHES, U64

_WEIGHTS = types.Array(types.float64, 1, "C")
_FACTORS = types.Array(types.uint32, 1, "C", readonly=True)
_VALUES = types.Array(types.uint32, 1, "C")


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


@compiled(types.void(HASHES, _FACTORS, _VALUES))
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


@compiled(types.int64(HASHES, types.int64, _VALUES))
def least_of_windows(hashes: NDArray[np.uint64], window: int, least: NDArray[np.uint32]) -> int:
    """Write the upper half of the least hash of each window, once for windows in a row.

    Args:
        hashes: uint64, in the order of the text. Fewer than ``window`` are one window.
        window: Hashes in a row, at least 1.
        least: uint32, (hashes,): takes the values.

    Returns:
        The number of values written.

    Complexity: O(hashes) on average, O(hashes * window) where each hash is larger than the last.
    """
    count, chosen, found = len(hashes), -1, 0
    for end in range(min(window, count), count + 1):
        start = max(0, end - window)
        last = chosen
        if chosen < start:
            chosen = start
            for place in range(start + 1, end):
                if hashes[place] <= hashes[chosen]:
                    chosen = place
        elif hashes[end - 1] <= hashes[chosen]:
            chosen = end - 1
        if chosen != last and chosen < count:
            least[found] = np.uint32(hashes[chosen] >> U64(32))
            found += 1
    return found
