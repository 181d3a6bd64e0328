"""A segment made from entries in any order."""

import numpy as np
import numpy.typing as npt

from neardup.indexes.arrays import Fingerprints, Rows
from neardup.indexes.columns import BLOCKS, SPARE_ROWS, Shape, Table, Tables, bucket_bits
from neardup.indexes.splitting import split

ROTATED_AT_ONCE = 1 << 15
"""The number of fingerprints that stay in the processor's cache while they are rotated."""


def built(rows: Rows, removed: Rows) -> Tables:
    """Return a segment of the entries.

    Args:
        rows: The entries, at most 2**32 - 1, in any order.
        removed: Entries of older segments that do not count any more.

    Complexity: O(n log n), about 0.15 seconds a million.
    """
    entries, repeated = sorted_rows(rows)
    runs, distinct = np.zeros(0, np.uint32), entries.fingerprints
    if repeated:
        runs = run_starts(entries.fingerprints)
        distinct = entries.fingerprints[runs[:-1]]
    shape = Shape(len(distinct), len(entries.ids), len(removed.ids))
    # Fresh memory costs as much as sorting it.
    room = np.empty_like(distinct)
    tables = [_table(distinct)]
    for block in range(1, BLOCKS):
        rotate(distinct, block, room)
        room.sort()
        tables.append(_table(room))
    max_id = int(entries.ids.max(initial=-1))
    return Tables(shape, max_id, entries.ids, runs, tuple(tables), removed)


def rotate(fingerprints: Fingerprints, block: int, out: Fingerprints) -> None:
    """Write the fingerprints with the block first."""
    left, right = np.uint64(16 * block & 63), np.uint64(-16 * block & 63)
    for start in range(0, len(fingerprints), ROTATED_AT_ONCE):
        part = fingerprints[start : start + ROTATED_AT_ONCE]
        out[start : start + ROTATED_AT_ONCE] = part << left | part >> right


def sorted_rows(rows: Rows) -> tuple[Rows, bool]:
    """Return a copy sorted by fingerprint, then by id; and whether fingerprints are repeated."""
    order = np.argsort(rows.fingerprints)
    entries = Rows(rows.fingerprints[order], rows.ids[order])
    equal = entries.fingerprints[1:] == entries.fingerprints[:-1]
    repeated = bool(equal.any())
    if repeated:
        _sort_ids_of_runs(entries, equal)
    return entries, repeated


def run_starts(fingerprints: Fingerprints) -> npt.NDArray[np.uint32]:
    """Return where the entries of each distinct one of sorted fingerprints start.

    Returns:
        uint32, (distinct + 1,); the last value is the number of entries.
    """
    changes = np.flatnonzero(fingerprints[1:] != fingerprints[:-1])
    starts = np.zeros(len(changes) + 2, np.uint32)
    starts[1:-1] = changes + 1
    starts[-1] = len(fingerprints)
    return starts


def _sort_ids_of_runs(rows: Rows, equal: npt.NDArray[np.bool_]) -> None:
    """Sort, in place, the ids of equal fingerprints; the fingerprints are sorted."""
    in_runs: npt.NDArray[np.bool_] = np.zeros(len(rows.ids), np.bool_)
    in_runs[1:] |= equal
    in_runs[:-1] |= equal
    places = np.flatnonzero(in_runs)
    order = np.lexsort((rows.ids[places], rows.fingerprints[places]))
    rows.ids[places] = rows.ids[places[order]]


def _table(values: Fingerprints) -> Table:
    """Return the table of sorted, rotated fingerprints."""
    count, bits = len(values), bucket_bits(len(values))
    high = np.zeros(count + SPARE_ROWS, np.uint32)
    low = np.zeros(count + SPARE_ROWS, np.uint16)
    keys = np.empty(count if bits < 16 else 0, np.uint8)
    starts = np.zeros((1 << bits) + 1, np.uint32)
    split(values, bits, high, low, keys, starts[1:])
    np.cumsum(starts, out=starts)
    return Table(starts, high, low, keys)
