"""Pairs of distinct texts, counted and picked out of all lists."""

import numpy as np
from numba import types
from numpy.typing import NDArray

from neardup.compiled import compiled
from neardup.evaluation.judging import Near
from neardup.evaluation.kernel_types import (
    BOOLS,
    INTS32,
    INTS64,
    LISTS,
    MEMBERS,
    NEAR,
    WORDS64,
    Int,
)
from neardup.evaluation.near_arrays import RADIUS, Lists, Members
from neardup.instructions import set_bits

_BLOCK = 256


@compiled(INTS64(WORDS64, INTS64))
def nearest_distances(
    fingerprints: NDArray[np.uint64], asked: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the distance in bits of each asked place of an array from the nearest other one.

    Complexity: O(asked * texts), less where many are equal.
    """
    found = np.empty(len(asked), np.int64)
    for number in range(len(asked)):
        place = asked[number]
        value, nearest, start = fingerprints[place], np.int64(64), 0
        while start < len(fingerprints) and nearest:
            stop = min(start + _BLOCK, len(fingerprints))
            if start <= place < stop:
                for other in range(start, stop):
                    if other != place:
                        nearest = min(nearest, set_bits(value ^ fingerprints[other]))
            else:
                # Without a branch, so that several are compared at once.
                for other in range(start, stop):
                    nearest = min(nearest, set_bits(value ^ fingerprints[other]))
            start = stop
        found[number] = nearest
    return found


@compiled(types.boolean(MEMBERS, types.int64))
def _is_distinct(members: Members, place: Int) -> bool:
    """Whether a place is the first of its text."""
    return bool(members.first_of_text[members.texts[place]] == place)


@compiled(INTS64(NEAR, BOOLS, types.float64))
def count_pairs(
    near: Near, is_judged: NDArray[np.bool_], min_similarity: float
) -> NDArray[np.int64]:
    """Return ``distinct_pairs.PairCounts`` as one array: int64, (27,), three for each distance."""
    lists, members = near.lists, near.members
    counts = np.zeros(3 * (RADIUS + 1), np.int64)
    for later in range(len(is_judged)):
        if not is_judged[later] or not _is_distinct(members, later):
            continue
        for pair in range(lists.starts[later], lists.starts[later + 1]):
            if is_judged[lists.earlier[pair]] and _is_distinct(members, lists.earlier[pair]):
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
    """Pick pairs as ``distinct_pairs.pick`` does, and return how many.

    ``out`` takes the later place of each, then where in the lists it stands: int64,
    (2 * sum of quotas,).
    """
    lists, members = near.lists, near.members
    met, picked = np.zeros(RADIUS + 1, np.int64), 0
    for later in range(len(is_judged)):
        if not is_judged[later] or not _is_distinct(members, later):
            continue
        for pair in range(lists.starts[later], lists.starts[later + 1]):
            known = with_unknown or lists.similarity[pair] >= 0.0
            is_counted = known and is_judged[lists.earlier[pair]]
            if not is_counted or not _is_distinct(members, lists.earlier[pair]):
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
