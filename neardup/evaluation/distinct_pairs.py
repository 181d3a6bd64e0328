"""Pairs of distinct texts in near lists: how many there are, and some of them."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neardup.evaluation import kernels
from neardup.evaluation.judging import Near

MAX_COMPARED = 100_000_000
"""The largest number of distances to compute, at 1 to 2 ns; of more texts a sample is asked."""


class NearestCounts(NamedTuple):
    """Texts by the distance of the nearest other one, int64, (65,); ``asked`` of them."""

    counts: NDArray[np.int64]
    asked: int
    is_sampled: bool


def count_nearest(fingerprints: NDArray[np.uint64]) -> NearestCounts:
    """Count distinct texts by the distance to the nearest other one; of very many a sample."""
    texts = len(fingerprints)
    if texts < 2:
        return NearestCounts(np.zeros(65, np.int64), 0, is_sampled=False)
    count = min(texts, max(1, MAX_COMPARED // texts))
    # Evenly spread over the crawl.
    asked = np.arange(count, dtype=np.int64) * texts // count
    counts = np.zeros(65, np.int64)
    for place in asked.tolist():
        distances = np.bitwise_count(fingerprints ^ fingerprints[place])
        distances[place] = 64
        counts[distances.min()] += 1
    return NearestCounts(counts, count, is_sampled=count < texts)


class PairCounts(NamedTuple):
    """Pairs by their distance, each int64, (9,).

    Attributes:
        different: The pairs less similar than asked for.
        similar: The pairs at least as similar.
        unknown: The pairs of unknown similarity: a text is not stored.
    """

    different: NDArray[np.int64]
    similar: NDArray[np.int64]
    unknown: NDArray[np.int64]


class Picked(NamedTuple):
    """Some pairs, by the later place, then nearest first, then by the earlier one.

    Attributes:
        earlier: int32, (pairs,): places.
        later: int32, (pairs,).
        distance: uint8, (pairs,): in bits.
        similarity: float64, (pairs,): -1: not known.
    """

    earlier: NDArray[np.int32]
    later: NDArray[np.int32]
    distance: NDArray[np.uint8]
    similarity: NDArray[np.float64]


def count_all(near: Near, is_judged: NDArray[np.bool_], min_similarity: float) -> PairCounts:
    """Count the pairs of judged places by distance.

    Complexity: O(pairs), 1 ns each.
    """
    counts = kernels.count_pairs(near, is_judged, min_similarity)
    return PairCounts(*np.ascontiguousarray(counts.T))


def pick(
    near: Near,
    is_judged: NDArray[np.bool_],
    totals: NDArray[np.int64],
    quotas: NDArray[np.int64],
    *,
    with_unknown: bool,
) -> Picked:
    """Pick pairs of each distance, evenly spread over the crawl.

    Args:
        near: The near lists.
        is_judged: bool, (places,): the places whose pairs count.
        totals: int64, (9,): how many pairs of each distance there are.
        quotas: int64, (9,): how many to pick, no more than there are.
        with_unknown: Whether pairs of unknown similarity count.
    """
    out = np.empty((quotas.sum(), 2), np.int64)
    totals = np.maximum(totals, 1)
    count = kernels.pick_pairs(near, is_judged, totals, quotas, with_unknown, out)
    later, pairs = out[:count].T
    lists = near.lists
    return Picked(
        lists.earlier[pairs],
        later.astype(np.int32),
        lists.distance[pairs],
        lists.similarity[pairs],
    )
