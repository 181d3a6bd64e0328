"""When segments become one, and how."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from neardup.indexes.arrays import Rows

RATIO = 4
"""A segment keeps for itself while it is at least so many times larger than what follows it."""


def first_to_merge(sizes: Sequence[int], fresh: int) -> int:
    """Return the first of the segments that join ``fresh`` new rows; len(sizes): none does.

    Afterwards each segment has at least RATIO times the rows of its successor: a query looks at
    O(log n) segments, and a row is written again O(log n) times.

    Args:
        sizes: The rows of each segment, the oldest first.
        fresh: New rows.
    """
    first, total = len(sizes), fresh
    while first and sizes[first - 1] < RATIO * total:
        first -= 1
        total += sizes[first]
    return first


def sorted_rows(rows: Rows) -> Rows:
    """Return a sorted copy: by fingerprint, then by id."""
    order = np.argsort(rows.fingerprints)
    fingerprints, ids = rows.fingerprints[order], rows.ids[order]
    _sort_ids_of_runs(Rows(fingerprints, ids))
    return Rows(fingerprints, ids)


def merged(parts: Sequence[Rows]) -> Rows:
    """Return the rows of all parts, sorted; each part is sorted.

    Complexity: O(n): numpy's stable sort of 64-bit values finds the sorted runs and merges them.
    """
    if len(parts) == 1:
        return parts[0]
    fingerprints = np.concatenate([part.fingerprints for part in parts])
    ids = np.concatenate([part.ids for part in parts])
    order = np.argsort(fingerprints, kind="stable")
    fingerprints, ids = fingerprints[order], ids[order]
    _sort_ids_of_runs(Rows(fingerprints, ids))
    return Rows(fingerprints, ids)


def _sort_ids_of_runs(rows: Rows) -> None:
    """Sort, in place, the ids of equal fingerprints; the fingerprints are sorted."""
    equal = rows.fingerprints[1:] == rows.fingerprints[:-1]
    if not (equal & (rows.ids[1:] < rows.ids[:-1])).any():
        return
    in_runs: npt.NDArray[np.bool_] = np.zeros(len(rows.ids), np.bool_)
    in_runs[1:] |= equal
    in_runs[:-1] |= equal
    places = np.flatnonzero(in_runs)
    order = np.lexsort((rows.ids[places], rows.fingerprints[places]))
    rows.ids[places] = rows.ids[places[order]]
