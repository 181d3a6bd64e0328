"""Pairs of distinct texts, counted and picked out of all lists."""

import numpy as np
from numba import types
from numpy.typing import NDArray

from neardup.compiled import compiled
from neardup.evaluation.judging import Near
from neardup.evaluation.kernel_types import BOOLS, INTS32, INTS64, LISTS, NEAR, Int
from neardup.evaluation.near_arrays import RADIUS, Lists


@compiled(INTS64(NEAR, BOOLS, types.float64))
def count_pairs(
    near: Near, is_judged: NDArray[np.bool_], min_similarity: float
) -> NDArray[np.int64]:
    """Count pairs by distance.

    Args:
        near: The near lists.
        is_judged: bool, (places,): whose pairs count.
        min_similarity: The similarity of similar pairs, 0 to 1.

    Returns:
        int64, (27,): for each distance 0 to 8 how many are known to be less similar, how many are
        as similar at least, and of how many it is not known.

    Complexity: O(pairs).
    """
    lists, members = near.lists, near.members
    counts = np.zeros(3 * (RADIUS + 1), np.int64)
    for later in range(len(is_judged)):
        if not is_judged[later] or members.first_of_text[members.texts[later]] != later:
            continue
        for pair in range(lists.starts[later], lists.starts[later + 1]):
            if is_judged[lists.earlier[pair]]:
                similarity = lists.similarity[pair]
                kind = 2 if similarity < 0.0 else int(similarity >= min_similarity)
                counts[3 * np.int64(lists.distance[pair]) + kind] += 1
    return counts


@compiled(types.int64(NEAR, BOOLS, INTS64, INTS64, types.boolean, INTS64))
def pick_pairs(
    near: Near,
    is_judged: NDArray[np.bool_],
    totals: NDArray[np.int64],
    quotas: NDArray[np.int64],
    with_unknown: bool,
    out: NDArray[np.int64],
) -> Int:
    """Pick pairs of each distance, evenly spread over the crawl.

    Args:
        near: The near lists.
        is_judged: bool, (places,): whose pairs count.
        totals: int64, (9,): how many pairs of each distance there are.
        quotas: int64, (9,): how many to pick, no more than there are.
        with_unknown: Whether pairs of unknown similarity count.
        out: int64, (2 * sum of quotas,): takes the later place of each, then where in the lists
            it stands.

    Returns:
        How many were picked.

    Complexity: O(pairs).
    """
    lists, members = near.lists, near.members
    met, picked = np.zeros(RADIUS + 1, np.int64), 0
    for later in range(len(is_judged)):
        if not is_judged[later] or members.first_of_text[members.texts[later]] != later:
            continue
        for pair in range(lists.starts[later], lists.starts[later + 1]):
            known = with_unknown or lists.similarity[pair] >= 0.0
            if not known or not is_judged[lists.earlier[pair]]:
                continue
            bits = np.int64(lists.distance[pair])
            before = met[bits] * quotas[bits] // totals[bits]
            met[bits] += 1
            if met[bits] * quotas[bits] // totals[bits] > before:
                out[2 * picked], out[2 * picked + 1] = later, pair
                picked += 1
    return picked


@compiled(types.int64(INTS32, types.int64))
def _root(parents: NDArray[np.int32], place: Int) -> Int:
    while parents[place] != place:
        # Path halving: every second step leads to the grandparent from now on.
        parents[place] = parents[parents[place]]
        place = np.int64(parents[place])
    return place


@compiled(INTS32(LISTS, types.float64))
def families(lists: Lists, min_similarity: float) -> NDArray[np.int32]:
    """Return for each place the earliest one that it hangs together with by similar pairs.

    Complexity: O(pairs * log(places)).
    """
    count = len(lists.starts) - 1
    parents = np.arange(count).astype(np.int32)
    for later in range(count):
        for pair in range(lists.starts[later], lists.starts[later + 1]):
            if lists.similarity[pair] >= min_similarity:
                one = _root(parents, np.int64(lists.earlier[pair]))
                other = _root(parents, later)
                parents[max(one, other)] = min(one, other)
    for place in range(count):
        parents[place] = _root(parents, place)
    return parents
