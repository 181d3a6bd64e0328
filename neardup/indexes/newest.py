"""The search of the newest entries, compiled alone: an index without segments needs no other.

``state`` is the array that ``search_state`` describes.
"""

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from neardup.compiled import compiled
from neardup.indexes import search_state as field
from neardup.instructions import (
    LANES,
    load_i64,
    load_u8,
    load_u64,
    lowest_bit,
    near_u64,
    part,
    set_bits,
    store_i64,
    store_u8,
)

State: TypeAlias = npt.NDArray[np.int64]
Int: TypeAlias = Any
"""An integer of 64 bits, signed or not, as numba infers it."""


@part
def compare_newest(state: State, value: Int, count: Int) -> Int:
    """Compare the newest entries, one and all."""
    fingerprints, rows = state[field.BUFFER_FINGERPRINTS], state[field.BUFFER_ROWS]
    for row in range(0, rows, LANES):
        hits = near_u64(fingerprints + 8 * row, value, state[field.RADIUS])
        if hits and rows - row < LANES:
            hits &= (1 << (rows - row)) - 1
        while hits:
            found = row + lowest_bit(hits)
            hits &= hits - 1
            if count < state[field.CAPACITY]:
                distance = set_bits(load_u64(fingerprints, found) ^ value)
                store_i64(state[field.OUT_IDS], count, load_i64(state[field.BUFFER_IDS], found))
                store_u8(state[field.OUT_DISTANCES], count, distance)
            count += 1
    return count


@part
def sort_matches(state: State, start: Int, end: Int) -> None:
    """Sort matches by distance, then by id (Shell, Communications of the ACM 2(7), 1959)."""
    ids, distances = state[field.OUT_IDS], state[field.OUT_DISTANCES]
    gap = 1
    while gap < (end - start) // 3:
        gap = 3 * gap + 1
    while gap:
        for place in range(start + gap, end):
            number, distance = load_i64(ids, place), load_u8(distances, place)
            hole = place
            while hole - gap >= start:
                before = load_u8(distances, hole - gap)
                if before < distance or (
                    before == distance and load_i64(ids, hole - gap) <= number
                ):
                    break
                store_i64(ids, hole, load_i64(ids, hole - gap))
                store_u8(distances, hole, before)
                hole -= gap
            store_i64(ids, hole, number)
            store_u8(distances, hole, distance)
        gap //= 3


@compiled("int64(int64[::1],uint64,int64,int64)")
def find_newest(state: State, value: Int, limit: Int, buffered: Int) -> Int:
    """Put out the matches of a query among the newest entries, by distance, then by id.

    Args:
        state: Room for the matches included.
        value: The fingerprint.
        limit: The largest number of matches; 0: all.
        buffered: Entries in the buffer.

    Returns:
        The number of matches; where there is no room for all, nothing else is of use.
    """
    state[field.LIMIT], state[field.BUFFER_ROWS] = limit, buffered
    count = compare_newest(state, value, 0)
    if count > 1 and count <= state[field.CAPACITY]:
        sort_matches(state, 0, count)
        if limit and count > limit:
            count = limit
    return count
