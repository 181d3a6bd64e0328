"""Search all kept places where a near list is not enough."""

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from neardup.compiled import compiled
from neardup.evaluation.judging import Bounds, Kept, Near
from neardup.evaluation.kernel_types import BOUNDS, INTS32, INTS64, KEPT, NEAR, Int
from neardup.evaluation.near_arrays import MAX_COUNT, NONE, RADIUS
from neardup.evaluation.near_kernels import earliest_head, pair_similarity
from neardup.instructions import set_bits


class Repeated(NamedTuple):
    """The kept place that a place repeats, or -1, and how many could not be compared."""

    place: Int
    distance: Int
    similarity: float
    unknown: Int


class Start(NamedTuple):
    """The place and distance after which a search goes on, and the number of places seen before."""

    distance: Int
    place: Int
    seen: Int


_typed: Any = types
FOUND = _typed.NamedTuple((types.int64, types.int64, types.float64, types.int64), Repeated)
START = _typed.NamedUniTuple(types.int64, 3, Start)


@compiled(types.boolean(BOUNDS, types.float64))
def is_confirmed(bounds: Bounds, similarity: float) -> bool:
    """Whether a near place is a duplicate; one of unknown similarity (-1) is not confirmed."""
    return not bounds.verify or (similarity >= 0.0 and similarity >= bounds.min_similarity)


@compiled(types.void(NEAR, KEPT, types.int64))
def note_kept(near: Near, kept: Kept, place: Int) -> None:
    number = near.members.classes[place]
    if kept.first[number] == NONE:
        kept.first[number] = place
        kept.classes[kept.counts[0]] = number
        kept.fingerprints[kept.counts[0]] = near.fingerprints[number]
        kept.counts[0] += 1
    else:
        kept.next[kept.last[number]] = place
    kept.last[number] = place
    if near.members.first_of_text[near.members.texts[place]] != place:
        kept.is_odd[number] = True


@compiled(INTS64(NEAR, KEPT, INTS64, types.int64))
def near_kept(near: Near, kept: Kept, pool: NDArray[np.int64], number: Int) -> NDArray[np.int64]:
    """Compare a class with the kept ones that it was not compared with yet.

    Returns:
        The pool, a longer one where there was no room: pairs of a near class with its distance
        and of the place of the next pair.
    """
    value = near.fingerprints[number]
    for place in range(kept.scanned[number], kept.counts[0]):
        distance = set_bits(kept.fingerprints[place] ^ value)
        if distance > RADIUS:
            continue
        used = kept.counts[1]
        if used + 2 > len(pool):
            longer = np.empty(2 * len(pool), np.int64)
            longer[: len(pool)] = pool
            pool = longer
        pool[used] = (np.int64(kept.classes[place]) << 4) | np.int64(distance)
        pool[used + 1] = kept.near[number]
        kept.near[number] = used
        kept.counts[1] = used + 2
    kept.scanned[number] = kept.counts[0]
    return pool


@compiled(types.int64(KEPT, INTS64, types.int64, types.int64, INTS32))
def _heads_at(
    kept: Kept, pool: NDArray[np.int64], number: Int, bits: Int, heads: NDArray[np.int32]
) -> Int:
    """Write the first kept places of the classes at a distance, and return how many there are."""
    count, link = 0, kept.near[number]
    while link >= 0:
        if pool[link] & 15 == bits:
            heads[count] = kept.first[pool[link] >> 4]
            count += 1
        link = pool[link + 1]
    return count


@compiled(FOUND(NEAR, KEPT, INTS64, BOUNDS, types.int64, START))
def search(
    near: Near,
    kept: Kept,
    pool: NDArray[np.int64],
    bounds: Bounds,
    place: Int,
    start: Start,
) -> Repeated:
    """Return the nearest and then earliest kept place that a place repeats, behind ``start``.

    The pool is what ``near_kept`` returned for the class of the place.

    Complexity: O(near classes * places looked at), the latter at most 1,000.
    """
    number, seen, unknown = near.members.classes[place], start.seen, 0
    heads = np.empty(kept.counts[0], np.int32)
    for bits in range(start.distance, bounds.radius + 1):
        count = _heads_at(kept, pool, number, bits, heads)
        while count:
            chain = earliest_head(heads, 0, count)
            earlier = np.int64(heads[chain])
            if earlier == NONE:
                break
            heads[chain] = kept.next[earlier]
            if bits == start.distance and earlier <= start.place:
                continue
            if seen >= MAX_COUNT and bounds.verify:
                return Repeated(-1, -1, -1.0, unknown)
            seen += 1
            similarity = pair_similarity(near.members, near.sets, earlier, place)
            if is_confirmed(bounds, similarity):
                return Repeated(earlier, bits, similarity, unknown)
            unknown += int(similarity < 0.0)
    return Repeated(-1, -1, -1.0, unknown)
