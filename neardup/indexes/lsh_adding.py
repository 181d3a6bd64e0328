"""Add signatures to the tables, and rows of files; ``lsh_layout`` describes ``state``."""

import numpy as np
import numpy.typing as npt
from numba import types

from neardup.compiled import compiled
from neardup.indexes import lsh_layout as field
from neardup.indexes.lsh_layout import GROUP, LINE_WORDS, LOAD
from neardup.indexes.lsh_parts import (
    behind_at,
    bucket_of,
    entry_in,
    entry_of,
    key_of,
    line_at,
    marks_at,
    more_of,
    push,
    row_at,
    sketch,
    tag_in,
    tag_of,
    words_in,
)
from neardup.instructions import load_i64, load_u32, load_u64, part, prefetch, store_i64

SIGNATURES = types.Array(types.uint32, 1, "C", readonly=True)


@part
def _split(state: int, band: int) -> None:
    """Move what belongs there from a band's next bucket to a new one.

    All is taken out line by line and put in again: no line more is in use at any time.
    """
    new, half = load_i64(state, field.BUCKETS), load_i64(state, field.HALF)
    old = new - half
    own = load_i64(state, field.WORK) + 8 * 3 * GROUP * load_i64(state, field.BANDS)
    moving = tag_of(np.uint64(half))
    line, number = line_at(state, old, band), 0
    store_i64(marks_at(state, old, band), 0, 0)
    while True:
        for word in range(LINE_WORDS):
            store_i64(own, word, load_i64(line, word))
        if number:
            store_i64(line, 0, load_i64(state, field.FREE))
            store_i64(state, field.FREE, number)
        else:
            store_i64(line, 2, 0)
        more = more_of(own)
        for slot in range(more & 15):
            tag = tag_in(own, slot)
            push(state, new if tag & moving else old, band, tag, entry_in(own, slot))
        number = more >> 4
        if not number:
            break
        line = behind_at(state, number)


@part
def _grow(state: int) -> None:
    """Split one bucket of each band."""
    bands, new = load_i64(state, field.BANDS), load_i64(state, field.BUCKETS)
    half = load_i64(state, field.HALF)
    for band in range(bands):
        prefetch(line_at(state, new - half, band))
    for band in range(bands):
        _split(state, band)
    store_i64(state, field.BUCKETS, new + 1)
    if new + 1 == 2 * half:
        store_i64(state, field.HALF, 2 * half)


@part
def link(state: int) -> None:
    """Put the next row into the tables; its keys stand at WORK."""
    keys, bands = load_i64(state, field.WORK), load_i64(state, field.BANDS)
    row = load_i64(state, field.COUNT)
    for band in range(bands):
        bucket = bucket_of(state, load_u64(keys, band))
        prefetch(marks_at(state, bucket, band))
        prefetch(line_at(state, bucket, band))
    for band in range(bands):
        key = load_u64(keys, band)
        tag = tag_of(key)
        push(state, bucket_of(state, key), band, tag, entry_of(tag, row))
    store_i64(state, field.COUNT, row + 1)
    if load_i64(state, field.BUCKETS) * LOAD <= row:
        _grow(state)


@compiled(types.int64(types.int64, SIGNATURES, types.int64, types.int64, types.int64))
def add(state: int, signatures: npt.NDArray[np.uint32], count: int, ids: int, number: int) -> int:
    """Hold signatures, as long as there is room.

    Args:
        state: Its address.
        signatures: uint32, (count * permutations,).
        count: The number of signatures.
        ids: The address of their ids; 0: there is but one, and its id is the number.
        number: An id.

    Returns:
        How many are held now that were not before; -1: the signatures are of another length.
    """
    if len(signatures) != count * load_i64(state, field.PERMUTATIONS):
        return -1
    values = signatures.ctypes.data
    keys, bands = load_i64(state, field.WORK), load_i64(state, field.BANDS)
    for place in range(count):
        row = load_i64(state, field.COUNT)
        if row == load_i64(state, field.ROOM):
            return place
        at = row_at(state, row)
        store_i64(at, 0, load_i64(ids, place) if ids else number)
        sketch(state, values, at + 8)
        for band in range(bands):
            store_i64(keys, band, np.int64(key_of(state, values, band)))
        fresh = load_i64(state, field.FRESH_KEYS)
        if fresh:
            fresh += 8 * bands * (row - load_i64(state, field.FRESH_FROM))
            for band in range(bands):
                store_i64(fresh, band, load_i64(keys, band))
        link(state)
        values += 4 * load_i64(state, field.PERMUTATIONS)
    return count


@compiled("void(int64,int64,int64,int64,int64)")
def restore(state: int, count: int, ids: int, keys: int, sketches: int) -> None:
    """Add rows whose keys and sketches are known; there must be room for them.

    Args:
        state: The address of the state.
        count: The number of rows.
        ids: The address of their ids, int64.
        keys: The address of their keys, uint32, (count, bands).
        sketches: The address of their sketches, uint64, (count, words).
    """
    work, bands, words = load_i64(state, field.WORK), load_i64(state, field.BANDS), words_in(state)
    for place in range(count):
        at = row_at(state, load_i64(state, field.COUNT))
        store_i64(at, 0, load_i64(ids, place))
        for word in range(words):
            store_i64(at, 1 + word, load_i64(sketches, place * words + word))
        for band in range(bands):
            store_i64(work, band, np.int64(load_u32(keys, place * bands + band)))
        link(state)
