"""The arrays of an index of signatures: those that come in, its rows, and what queries find."""

from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from neardup.errors import FingerprintError
from neardup.indexes.arrays import Ids, Positions

Signatures: TypeAlias = npt.NDArray[np.uint32]


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


def checked_signature(value: Signatures, permutations: int) -> Signatures:
    """Return the value in one piece, or raise FingerprintError unless uint32, (permutations,)."""
    right = isinstance(value, np.ndarray) and value.dtype == np.uint32
    if right and value.shape == (permutations,):
        return np.ascontiguousarray(value)
    shown = f"{value.dtype}, {value.shape}" if isinstance(value, np.ndarray) else _kind(value)
    raise FingerprintError(f"a signature must be uint32, ({permutations},), got {shown}")


def checked_signatures(values: Signatures, permutations: int) -> Signatures:
    """Return the values in one piece; FingerprintError unless uint32, (any, permutations)."""
    if not isinstance(values, np.ndarray) or values.dtype != np.uint32:
        kind = values.dtype if isinstance(values, np.ndarray) else _kind(values)
        raise FingerprintError(f"signatures must be an array of uint32, got {kind}")
    if values.ndim != 2 or values.shape[1] != permutations:
        raise FingerprintError(
            f"signatures of {permutations} values expected, got {values.shape[1:]} values"
        )
    return np.ascontiguousarray(values)


def _kind(value: object) -> str:
    return type(value).__name__
