"""A segment made from entries in any order."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from neardup.indexes.arrays import Fingerprints, Rows
from neardup.indexes.columns import (
    BLOCK_BITS,
    BLOCKS,
    SPARE_ROWS,
    Shape,
    Table,
    Tables,
    bucket_bits,
    joined_rows,
    no_rows,
)
from neardup.indexes.segment import Segment

ROTATED_AT_ONCE = 1 << 15
"""The number of fingerprints that stay in the processor's cache while they are rotated."""


def built(rows: Rows, removed: Rows, inputs: Sequence[Segment] = ()) -> Tables:
    """Return a segment of new entries and of those that count in other segments.

    Args:
        rows: The new entries, in any order; all are at most 2**32 - 1.
        removed: Entries of older segments that do not count any more.
        inputs: The other segments.

    Complexity: O(n log n), about 0.1 seconds a million.
    """
    if inputs:
        inputs = (*inputs, Segment(built(rows, no_rows())))
        rows = joined_rows([segment.rows() for segment in inputs])
    entries, repeated = sorted_rows(rows, "stable" if inputs else None)
    runs, distinct = np.zeros(0, np.uint32), entries.fingerprints
    if repeated:
        runs = run_starts(entries.fingerprints)
        distinct = entries.fingerprints[runs[:-1]]
    shape = Shape(len(distinct), len(entries.ids), len(removed.ids))
    tables = [_table(distinct)]
    tables += [_table(_rotated(distinct, block, inputs)) for block in range(1, BLOCKS)]
    max_id = int(entries.ids.max(initial=-1))
    return Tables(shape, max_id, entries.ids, runs, tuple(tables), removed)


def _rotated(distinct: Fingerprints, block: int, inputs: Sequence[Segment]) -> Fingerprints:
    """Return the fingerprints with the block first, ascending."""
    if not inputs or any(segment.dead for segment in inputs):
        values = np.empty_like(distinct)
        rotate(distinct, block, values)
        values.sort()
        return values
    # The stable sort merges what is sorted already, six times as fast.
    values = np.concatenate([segment.values(block) for segment in inputs])
    values.sort(kind="stable")
    if len(values) > len(distinct):
        values = values[np.append(values[:-1] != values[1:], values=True)]
    return values


def rotate(fingerprints: Fingerprints, block: int, out: Fingerprints) -> None:
    """Write the fingerprints with the block first."""
    left, right = np.uint64(16 * block & 63), np.uint64(-16 * block & 63)
    for start in range(0, len(fingerprints), ROTATED_AT_ONCE):
        part = fingerprints[start : start + ROTATED_AT_ONCE]
        out[start : start + ROTATED_AT_ONCE] = part << left | part >> right


def sorted_rows(rows: Rows, kind: Literal["stable"] | None = None) -> tuple[Rows, bool]:
    """Return a copy sorted by fingerprint, then by id; and whether fingerprints are repeated."""
    order = np.argsort(rows.fingerprints, kind=kind)
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
    # With "out" nothing as large as the values is made on the way.
    np.right_shift(values, np.uint64(BLOCK_BITS), out=high[:count], casting="unsafe")
    low[:count] = values
    keys = np.zeros(0 if bits == BLOCK_BITS else count, np.uint8)
    if len(keys):
        rest = np.uint64((1 << (BLOCK_BITS - bits)) - 1)
        keys[:] = values >> np.uint64(3 * BLOCK_BITS) & rest
    firsts = np.arange(1 << bits, dtype=np.uint64) << np.uint64(4 * BLOCK_BITS - bits)
    starts = np.append(values.searchsorted(firsts), count).astype(np.uint32)
    return Table(starts, high, low, keys)
