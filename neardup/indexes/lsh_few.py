"""The first rows of an index of signatures: compared one and all, without tables or compiled loops.

The loops of the tables take some ten seconds to compile on a new installation, and an index of few
rows needs no tables.
"""

import numpy as np
import numpy.typing as npt

from neardup.indexes.arrays import Ids, Positions, Signatures
from neardup.indexes.banding import Banding
from neardup.indexes.lsh_layout import MAX_ROWS, words_of
from neardup.indexes.lsh_rows import (
    Keys,
    StoredRows,
    keys_of,
    nothing_alike,
    sketches_of,
    unequal_values,
)
from neardup.indexes.lsh_tables import LOOPS, LshTables

MAX_FEW = 1024
"""The number of rows that are held without tables, whatever their bands."""

_MAX_FEW_KEYS = 1 << 13
"""The number of keys that are held without tables: more rows than ``MAX_FEW`` in few bands."""

_MAX_TIMES = 16
"""This many times the usual rows are held without tables while another process compiles loops.
With 131,072 passages of 8,000 texts a query takes 1 ms."""

_MARKS = 1 << 14
"""The number of marks that the keys of queries set, to leave out most rows at once."""

_CELLS = 1 << 20
"""The largest number of keys and words that are compared at once, unless one query has more."""


def max_few(shape: Banding) -> int:
    """Return the largest number of rows that are held without tables."""
    return max(MAX_FEW, _MAX_FEW_KEYS // shape.bands)


class FewRows:
    """Few rows of id, keys and sketch, which answer as ``LshTables`` does.

    Args:
        permutations: Values of a signature.
        shape: The bands, and the values of each.
        keep_fresh: Whether :meth:`fresh` is wanted.

    Attributes:
        fresh_from: The first row that no file holds.
        closed: Whether :meth:`close` was called.
    """

    def __init__(self, permutations: int, shape: Banding, *, keep_fresh: bool) -> None:
        self.closed = False
        self.fresh_from = 0
        self._permutations, self._shape, self._keep_fresh = permutations, shape, keep_fresh
        self._count, self._words = 0, words_of(permutations)
        self._provide(max_few(shape))

    def __len__(self) -> int:
        return self._count

    @property
    def size_bytes(self) -> int:
        """Bytes of memory in use, without the untouched memory that is set aside for growth."""
        return self._count * (8 + 4 * self._shape.bands + 8 * self._words)

    def are_too_many(self, count: int) -> bool:
        """Whether more rows are to be held in tables; else there is room for them.

        Beyond ``MAX_FEW`` they are where the loops of tables were compiled before. Else another
        process compiles these from half of ``max_few`` rows on, and all are held here until it is
        done.
        """
        rows, usual = self._count + count, max_few(self._shape)
        if 2 * rows <= usual and not self._count <= MAX_FEW < rows:
            return False
        # numba takes a third of a second to import.
        from neardup.compiled import are_compiled, are_ready  # noqa: PLC0415

        if 2 * rows <= usual:
            return are_compiled(LOOPS)
        is_ready = are_ready(LOOPS, wait=rows > _MAX_TIMES * usual)
        if rows > len(self._ids) and not is_ready:
            self._provide(2 * rows)
        return rows > usual and is_ready

    def has_room(self, count: int) -> bool:
        """Whether ``count`` more rows fit, here or in tables."""
        return self._count + count <= MAX_ROWS

    def extend(self, signatures: Signatures, ids: Ids) -> None:
        """Hold more rows, for which there is room: uint32, (rows, permutations), and int64."""
        step = max(1, _CELLS // self._permutations)
        for start in range(0, len(ids), step):
            some = signatures[start : start + step]
            rows = StoredRows(
                ids[start : start + step], keys_of(some, self._shape), sketches_of(some)
            )
            self._hold(rows)

    def restore(self, rows: StoredRows) -> None:
        """Hold rows that files kept, for which there is room."""
        self._hold(rows)
        self.fresh_from = self._count

    def in_tables(self) -> LshTables:
        """Return tables that hold the same rows."""
        tables = LshTables(self._permutations, self._shape, keep_fresh=self._keep_fresh)
        fresh = self._count - self.fresh_from if self._keep_fresh else 0
        tables.restore(self._rows_from(0), fresh)
        return tables

    def stored_ids(self) -> Ids:
        """Return a copy of the ids of all rows, in order."""
        return self._ids[: self._count].copy()

    def fresh(self) -> StoredRows:
        """Return copies of the rows that no file holds."""
        return self._rows_from(self.fresh_from)

    def forget_fresh(self, count: int) -> None:
        """Take note that a file holds the first rows of :meth:`fresh`."""
        self.fresh_from += count

    def find(self, signature: Signatures, limit: int, max_unequal: int) -> Ids:
        """Return the ids of the candidates of one query, as :meth:`find_many` does."""
        asked = signature[np.newaxis]
        keys = keys_of(asked, self._shape).T
        rows = np.flatnonzero(np.logical_or.reduce(keys == self._keys[:, : self._count]))
        if not len(rows):
            return rows
        ids = self._ids[rows]
        unequal = unequal_values(sketches_of(asked), self._sketches[rows])
        unequal = np.minimum(unequal, nothing_alike(self._permutations))
        order = np.lexsort((ids, unequal))
        return ids[order[unequal[order] <= max_unequal][:limit]]

    def find_many(
        self, signatures: Signatures, limit: int, max_unequal: int
    ) -> tuple[Positions, Ids, npt.NDArray[np.int64]]:
        """Return the candidates of queries, by query, then by unequal values, then by id.

        Args:
            signatures: uint32, (queries, permutations).
            limit: Candidates wanted of each query: the nearest, since all rows are looked at.
            max_unequal: Values in which the sketch of a candidate may differ.

        Returns:
            Which query, the id, and the values of the sketches that differ, of each candidate.

        Complexity: O(rows * bands) a query.
        """
        cells = max(1, self._count) * (self._shape.bands + self._words)
        step = max(1, _CELLS // cells)
        parts = [(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64))]
        for start in range(0, len(signatures), step):
            some = signatures[start : start + step]
            positions, ids, unequal = self._find(some, limit, max_unequal)
            parts.append((positions + start, ids, unequal))
        positions, ids, unequal = map(np.concatenate, zip(*parts, strict=True))
        return positions, ids, unequal

    def close(self) -> None:
        """Let go of all rows."""
        self.closed = True
        self._count = self.fresh_from = 0

    def _hold(self, rows: StoredRows) -> None:
        new = slice(self._count, self._count + len(rows.ids))
        self._ids[new], self._keys[:, new] = rows.ids, rows.keys.T
        self._sketches[new] = rows.sketches
        self._count = new.stop

    def _provide(self, room: int) -> None:
        """Provide room for ``room`` rows."""
        held = self._rows_from(0) if self._count else None
        self._ids = np.zeros(room, np.int64)
        # By bands, so that a comparison reads each band of all rows in one piece.
        self._keys = np.zeros((self._shape.bands, room), np.uint32)
        self._sketches = np.zeros((room, self._words), np.uint64)
        if held is not None:
            self._count = 0
            self._hold(held)

    def _rows_from(self, first: int) -> StoredRows:
        rows = slice(first, self._count)
        keys = np.ascontiguousarray(self._keys[:, rows].T)
        return StoredRows(self._ids[rows].copy(), keys, self._sketches[rows].copy())

    def _sharing(self, keys: Keys) -> tuple[Positions, Positions]:
        """Return which query and which row share a key, by query, then by row."""
        held = self._keys[:, : self._count]
        if self._shape.bands > 1:
            queries, rows = np.nonzero((keys[:, :, np.newaxis] == held).any(axis=1))
            return queries, rows
        # Passages: many queries of one key each, nearly all of which no row has.
        marks = np.zeros(_MARKS, np.bool_)
        marks[keys & (_MARKS - 1)] = True
        rows = np.flatnonzero(marks[held[0] & (_MARKS - 1)])
        positions, places = np.nonzero(keys == held[0, rows])
        return positions, rows[places]

    def _find(
        self, asked: Signatures, limit: int, max_unequal: int
    ) -> tuple[Positions, Ids, npt.NDArray[np.int64]]:
        positions, rows = self._sharing(keys_of(asked, self._shape))
        ids = self._ids[rows]
        unequal = unequal_values(sketches_of(asked)[positions], self._sketches[rows])
        unequal = np.minimum(unequal, nothing_alike(self._permutations))
        order = np.lexsort((ids, unequal, positions))
        order = order[unequal[order] <= max_unequal]
        queries = positions[order]
        order = order[np.arange(len(order)) - np.searchsorted(queries, queries) < limit]
        return positions[order], ids[order], unequal[order]
