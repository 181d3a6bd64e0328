"""Find the candidates of queries, compiled; ``lsh_layout`` describes ``state``.

Some queries go together, step by step: the keys and their marks, then the lines that may hold them,
then the rows that do. Each step asks for all the memory of the next, so that the processor waits
for many places at once.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import types

from neardup.compiled import compiled
from neardup.indexes import lsh_layout as field
from neardup.indexes.lsh_layout import GROUP, MAX_ROWS
from neardup.indexes.lsh_parts import (
    Word,
    behind_at,
    bucket_of,
    entry_in,
    key_of,
    line_at,
    mark_of,
    marks_at,
    more_of,
    row_at,
    sketch,
    tag_in,
    tag_of,
    unequal,
    words_in,
)
from neardup.instructions import (
    load_i64,
    load_u64,
    lowest_bit,
    part,
    prefetch,
    store_i64,
)

SIGNATURES = types.Array(types.uint32, 1, "C", readonly=True)

LINES_BEYOND = 4
"""A query with a limit reads at most this many lines of a bucket more than its limit."""

_MASK_16 = np.uint64(0xFFFF)
_MASK_ROW = np.uint64(MAX_ROWS - 1)
_ONE = np.uint64(1)
_ONES = np.uint64(0x0001000100010001)
_HIGHS = np.uint64(0x8000800080008000)


@part
def _slots(line: int, tag: Word) -> Any:
    """Return a bit for each of twelve places that may hold a tag: without any branch.

    The lowest that is set in a word is right, one above it may be set in vain.
    """
    all_four, slots = (tag & _MASK_16) * _ONES, np.uint64(0)
    for word in range(3):
        other = load_u64(line, word) ^ all_four
        zeros = (other - _ONES) & ~other & _HIGHS
        four = zeros >> np.uint64(15) | zeros >> np.uint64(30)
        four |= zeros >> np.uint64(45) | zeros >> np.uint64(60)
        slots |= (four & np.uint64(15)) << np.uint64(4 * word)
    return np.int64(slots)


@part
def _look_up(state: int, values: int, queries: int) -> int:
    """Put key, line and query of each possible hit to WORK, and return how many hits there are."""
    bands = load_i64(state, field.BANDS)
    keys = load_i64(state, field.WORK)
    places, askers = keys + 8 * GROUP * bands, keys + 16 * GROUP * bands
    size = 4 * load_i64(state, field.PERMUTATIONS)
    for query in range(queries):
        for band in range(bands):
            key = key_of(state, values + query * size, band)
            bucket = bucket_of(state, key)
            store_i64(keys, query * bands + band, np.int64(key))
            store_i64(places, query * bands + band, bucket)
            prefetch(marks_at(state, bucket, band))
            if queries == 1:
                # Nothing else is to be done meanwhile; of several, few lines turn out to be wanted.
                prefetch(line_at(state, bucket, band))
    count = 0
    for query in range(queries):
        for band in range(bands):
            key = load_u64(keys, query * bands + band)
            bucket = load_i64(places, query * bands + band)
            marked = load_u64(marks_at(state, bucket, band), 0) & mark_of(key)
            store_i64(keys, count, np.int64(key))
            store_i64(places, count, line_at(state, bucket, band))
            store_i64(askers, count, query)
            prefetch(load_i64(places, count))
            count += marked != 0
    return count


@part
def _gather(state: int, line: int, tag: Word, query: int, count: int) -> int:
    """Put out the rows of a bucket that have a tag, and return how many there are by now."""
    seen, left = load_i64(state, field.SEEN), load_i64(state, field.LIMIT)
    lines_left = left + LINES_BEYOND
    while True:
        more = more_of(line)
        slots = _slots(line, tag) & ((1 << (more & 15)) - 1)
        while slots and left:
            slot = lowest_bit(slots)
            slots &= slots - 1
            if tag_in(line, slot) == tag:
                left -= 1
                row: Any = np.int64(entry_in(line, slot) & _MASK_ROW)
                bits, bit = load_u64(seen, row >> 6), _ONE << np.uint64(row & 63)
                if not bits & bit:
                    if count == load_i64(state, field.CAPACITY):
                        return count + 1
                    store_i64(seen, row >> 6, np.int64(bits | bit))
                    store_i64(load_i64(state, field.OUT_POSITIONS), count, query)
                    store_i64(load_i64(state, field.OUT_IDS), count, row)
                    prefetch(row_at(state, row))
                    count += 1
        lines_left -= 1
        if not more >> 4 or not left or not lines_left:
            return count
        line = behind_at(state, more >> 4)


@part
def _forget(state: int, start: int, end: int) -> None:
    """Clear the bits of the rows that were put out."""
    rows, seen = load_i64(state, field.OUT_IDS), load_i64(state, field.SEEN)
    for place in range(start, end):
        store_i64(seen, load_i64(rows, place) >> 6, 0)


@part
def _sort(state: int, start: int, end: int) -> None:
    """Sort by unequal values, then by id (Shell, Communications of the ACM 2(7), 1959)."""
    ids, far = load_i64(state, field.OUT_IDS), load_i64(state, field.OUT_UNEQUAL)
    gap = end - start
    while gap > 1:
        gap = max(1, gap * 5 // 11)
        for place in range(start + gap, end):
            number, value = load_i64(ids, place), load_i64(far, place)
            hole = place
            while hole - gap >= start:
                before = load_i64(far, hole - gap)
                if before < value or (before == value and load_i64(ids, hole - gap) <= number):
                    break
                store_i64(ids, hole, load_i64(ids, hole - gap))
                store_i64(far, hole, before)
                hole -= gap
            store_i64(ids, hole, number)
            store_i64(far, hole, value)


@part
def _compare(state: int, values: int, start: int, end: int, to: int) -> int:
    """Compare a query's candidates, move the near ones to ``to`` on, and return where they end."""
    positions, ids = load_i64(state, field.OUT_POSITIONS), load_i64(state, field.OUT_IDS)
    far, words, first = load_i64(state, field.OUT_UNEQUAL), words_in(state), to
    asked = load_i64(state, field.WORK) + 24 * GROUP * load_i64(state, field.BANDS)
    sketch(state, values, asked)
    position = load_i64(positions, start)
    for place in range(start, end):
        at = row_at(state, load_i64(ids, place))
        count = min(unequal(asked, at + 8, words), load_i64(state, field.NOTHING_ALIKE))
        if count <= load_i64(state, field.MAX_UNEQUAL):
            store_i64(positions, to, position)
            store_i64(ids, to, load_i64(at, 0))
            store_i64(far, to, count)
            to += 1
    if to > first + 1:
        _sort(state, first, to)
    return to


@part
def _gather_all(state: int, query: int, queries: int, keys: int, count: int) -> int:
    """Put out the candidates of queries, to FOUND where they end; return how many are done."""
    bands, capacity = load_i64(state, field.BANDS), load_i64(state, field.CAPACITY)
    work = load_i64(state, field.WORK)
    places, askers = work + 8 * GROUP * bands, work + 16 * GROUP * bands
    place = 0
    for asker in range(queries):
        start = count
        while place < keys and load_i64(askers, place) == asker and count <= capacity:
            tag = tag_of(load_u64(work, place))
            count = _gather(state, load_i64(places, place), tag, query + asker, count)
            place += 1
        _forget(state, start, min(count, capacity))
        if count > capacity:
            store_i64(state, field.FOUND, start)
            return asker
    store_i64(state, field.FOUND, count)
    return queries


@compiled(types.int64(types.int64, SIGNATURES, types.int64))
def search(state: int, signatures: npt.NDArray[np.uint32], queries: int) -> int:
    """Put out the candidates of queries, until there is no room for those of one.

    Args:
        state: Its address; takes how many queries are answered, and how many candidates they have.
        signatures: uint32, (queries * permutations,).
        queries: The number of queries.

    Returns:
        How many candidates there are; -1: no room for all, or signatures of another length.
    """
    size, query, total = 4 * load_i64(state, field.PERMUTATIONS), 0, 0
    if 4 * len(signatures) != queries * size:
        return -1
    positions, values = load_i64(state, field.OUT_POSITIONS), signatures.ctypes.data
    while query < queries:
        group = min(GROUP, queries - query)
        keys = _look_up(state, values + query * size, group)
        done = _gather_all(state, query, group, keys, total)
        place, end = total, load_i64(state, field.FOUND)
        while place < end:
            asker, start = load_i64(positions, place), place
            while place < end and load_i64(positions, place) == asker:
                place += 1
            to = _compare(state, values + asker * size, start, place, total)
            total = min(to, total + load_i64(state, field.LIMIT))
        query += done
        if done < group:
            break
    store_i64(state, field.DONE, query)
    store_i64(state, field.FOUND, total)
    return total if query == queries else -1
