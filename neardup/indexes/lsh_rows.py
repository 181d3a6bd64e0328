"""The rows that the tables of an index of signatures take, and the candidates that they return."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from neardup.indexes.arrays import Ids, Positions


class StoredRows(NamedTuple):
    """Rows as the files keep them.

    Attributes:
        ids: int64, (rows,).
        keys: uint32, (rows, bands).
        sketches: uint64, (rows, words).
    """

    ids: Ids
    keys: npt.NDArray[np.uint32]
    sketches: npt.NDArray[np.uint64]

    def part(self, start: int, end: int) -> "StoredRows":
        """Return some of the rows, as views."""
        return StoredRows(self.ids[start:end], self.keys[start:end], self.sketches[start:end])


class QueryHits(NamedTuple):
    """Candidates of queries, by query, then by unequal values, then by id.

    Attributes:
        positions: int64, (candidates,), which query.
        ids: int64, (candidates,).
        unequal: int64, (candidates,), values of the sketches that differ.
    """

    positions: Positions
    ids: Ids
    unequal: npt.NDArray[np.int64]
