"""Measure the distance from each text to the one nearest to it."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

MAX_COMPARED = 100_000_000
"""The largest number of distances to compute, in 1/20 s; of more texts a sample is asked."""


class NearestCounts(NamedTuple):
    """Texts by the distance of the nearest other one.

    Attributes:
        counts: int64, (65,).
        asked: Texts that were counted.
        is_sampled: Whether these are not all.
    """

    counts: NDArray[np.int64]
    asked: int
    is_sampled: bool


def count_nearest(fingerprints: NDArray[np.uint64]) -> NearestCounts:
    """Count texts by the distance to the nearest other one; of very many a sample.

    Args:
        fingerprints: uint64, (texts,), one for each distinct text.

    Complexity: O(texts * asked), at most a hundred million distances.
    """
    texts = len(fingerprints)
    if texts < 2:
        return NearestCounts(np.zeros(65, np.int64), 0, is_sampled=False)
    from neardup.evaluation import nearest_kernel  # noqa: PLC0415  (numba takes long)

    count = min(texts, max(1, MAX_COMPARED // texts))
    # Evenly spread over the crawl.
    asked = np.arange(count, dtype=np.int64) * texts // count
    distances = nearest_kernel.nearest_distances(np.ascontiguousarray(fingerprints), asked)
    return NearestCounts(np.bincount(distances, minlength=65), count, is_sampled=count < texts)
