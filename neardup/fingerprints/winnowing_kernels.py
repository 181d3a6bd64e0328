"""The least hash of each window of a text."""

import numpy as np
from numba import types
from numpy.typing import NDArray

from neardup.compiled import compiled
from neardup.features.unit_kernels import HASHES, U64

_VALUES = types.Array(types.uint32, 1, "C")


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
