"""All pairs of near fingerprints, found once."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neardup.indexes.arrays import checked_fingerprints
from neardup.indexes.hamming import HammingIndex


class NearPairs(NamedTuple):
    """Pairs of texts, by the later one, then nearest first, then by the earlier one.

    Texts are named by their places in the order in which they were judged.

    Attributes:
        later: int64, (pairs,).
        earlier: int64, (pairs,).
        distances: uint8, (pairs,), in bits.
    """

    later: NDArray[np.int64]
    earlier: NDArray[np.int64]
    distances: NDArray[np.uint8]


def near_pairs(fingerprints: Mapping[int, int], max_distance: int) -> NearPairs:
    """Find every pair of fingerprints within so many bits.

    Args:
        fingerprints: By id, in the order in which the texts are judged.
        max_distance: 0 to 8.

    Raises:
        FingerprintError: A fingerprint does not fit in 64 bits.
        ParameterError: ``max_distance`` is out of range.

    Complexity: that of a query for each text; O(pairs) memory, which a fingerprint shared by m
    texts makes m**2 / 2.
    """
    values = checked_fingerprints(list(fingerprints.values()))
    with HammingIndex(radius=max_distance) as index:
        index.add_many(values, np.arange(len(values)))
        found = index.query_many(values)
    # Each pair comes from both ends, and each text finds itself.
    once = found.ids < found.positions
    return NearPairs(found.positions[once], found.ids[once], found.distances[once])
