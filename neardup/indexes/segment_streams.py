"""Segments read in order, a chunk at a time, and several of them as one."""

from collections.abc import Callable, Iterator
from functools import reduce
from typing import TypeAlias, TypeVar, cast

import numpy as np

from neardup.indexes.arrays import Fingerprints, Ids
from neardup.indexes.building import rotate
from neardup.indexes.segment import Places, Segment
from neardup.indexes.splitting import join, merge, unite

CHUNK = 1 << 14
"""The number of rows at once: they stay in the processor's cache."""

Values: TypeAlias = tuple[Fingerprints]
Entries: TypeAlias = tuple[Fingerprints, Ids]
Chunk = TypeVar("Chunk", Values, Entries)


def values_of(segment: Segment, block: int, dropped: Fingerprints) -> Iterator[Values]:
    """Yield the rotated fingerprints of a table, ascending, without the dropped ones."""
    without = np.empty_like(dropped)
    rotate(dropped, block, without)
    without.sort()
    for first in range(0, segment.tables.shape.rows, CHUNK):
        values = _rows(segment, block, first, min(first + CHUNK, segment.tables.shape.rows))
        if len(without):
            nearest = without[np.minimum(without.searchsorted(values), len(without) - 1)]
            values = values[nearest != values]
        yield (values,)


def entries_of(segment: Segment, dead: Places) -> Iterator[Entries]:
    """Yield fingerprints and ids, by both, without those at the dead places."""
    ids = segment.tables.ids
    for first in range(0, len(ids), CHUNK):
        last = min(first + CHUNK, len(ids))
        entries = (_fingerprints_of_ids(segment, first, last), ids[first:last].astype(np.int64))
        gone = dead[dead.searchsorted(first) : dead.searchsorted(last)] - first
        if len(gone):
            entries = (np.delete(entries[0], gone), np.delete(entries[1], gone))
        yield entries


def all_values(streams: list[Iterator[Values]]) -> Iterator[Values]:
    """Yield the values of all streams, ascending, each of them once."""

    def step(x: Values, y: Values) -> tuple[int, int, Values]:
        out = np.empty(len(x[0]) + len(y[0]), np.uint64)
        taken_x, taken_y, count = unite(x[0], y[0], out)
        return taken_x, taken_y, (out[:count],)

    return reduce(lambda newer, older: _combined(older, newer, step), reversed(streams))


def all_entries(streams: list[Iterator[Entries]]) -> Iterator[Entries]:
    """Yield the entries of all streams, by fingerprint and id."""

    def step(x: Entries, y: Entries) -> tuple[int, int, Entries]:
        room = len(x[0]) + len(y[0])
        fingerprints, ids = np.empty(room, np.uint64), np.empty(room, np.int64)
        taken_x, taken_y = merge(*x, *y, fingerprints, ids)
        count = taken_x + taken_y
        return taken_x, taken_y, (fingerprints[:count], ids[:count])

    return reduce(lambda newer, older: _combined(older, newer, step), reversed(streams))


def _combined(
    a: Iterator[Chunk], b: Iterator[Chunk], step: Callable[[Chunk, Chunk], tuple[int, int, Chunk]]
) -> Iterator[Chunk]:
    """Merge two streams; ``step`` merges two chunks until one of them ends."""
    x, y = next(a, None), next(b, None)
    while x is not None and y is not None:
        taken_x, taken_y, merged = step(x, y)
        yield merged
        x = _after(x, taken_x) or next(a, None)
        y = _after(y, taken_y) or next(b, None)
    if x is not None:
        yield x
    if y is not None:
        yield y
    yield from a
    yield from b


def _after(chunk: Chunk, taken: int) -> Chunk | None:
    """Return the rest of a chunk; None: it is empty."""
    if taken == len(chunk[0]):
        return None
    return cast("Chunk", tuple(column[taken:] for column in chunk))


def _rows(segment: Segment, block: int, first: int, last: int) -> Fingerprints:
    values = np.empty(last - first, np.uint64)
    join(*segment.tables.tables[block], first, values)
    return values


def _fingerprints_of_ids(segment: Segment, first: int, last: int) -> Fingerprints:
    runs = segment.tables.runs
    if not len(runs):
        return _rows(segment, 0, first, last)
    first_row, last_row = segment.rows_at(np.array([first, last - 1])).tolist()
    counts = np.diff(runs[first_row : last_row + 2].astype(np.int64).clip(first, last))
    return _rows(segment, 0, first_row, last_row + 1).repeat(counts)
