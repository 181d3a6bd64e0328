"""Which documents share a band? The newest in a dict, the rest in sorted arrays."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from neardup.indexes.merging import first_to_merge
from neardup.indexes.signatures import Keys

FRESH = 1024
"""Documents of the dict: it takes 3 kB for each, and its sorting one query in so many 1 ms."""

_LOW = np.uint64(0xFFFFFFFF)


class Pairs(NamedTuple):
    """Documents that share a key with a query, possibly several times.

    Attributes:
        positions: int64, (pairs,), which query.
        rows: int64, (pairs,), which document.
    """

    positions: npt.NDArray[np.int64]
    rows: npt.NDArray[np.int64]


class BandTables:
    """Tables of all bands together: the key of a band above, the row of the document below.

    An entry is one uint64, so that NumPy sorts them with the vector instructions of the
    processor: to sort tables anew when they become one takes 10 ns an entry, which beats merging.
    """

    def __init__(self) -> None:
        self._tables: list[Keys] = []

    @property
    def size_bytes(self) -> int:
        """Bytes of memory that the tables take."""
        return sum(table.nbytes for table in self._tables)

    def add(self, keys: Keys, first_row: int) -> None:
        """Hold the keys of documents, of which the first stands in ``first_row``."""
        rows = np.arange(first_row, first_row + len(keys), dtype=np.uint64)
        fresh = (keys | rows[:, np.newaxis]).ravel()
        first = first_to_merge([len(table) for table in self._tables], len(fresh))
        table = np.concatenate([*self._tables[first:], fresh])
        table.sort()
        self._tables[first:] = [table]

    def rows(self, keys: Keys) -> list[npt.NDArray[np.int64]]:
        """Return the rows of each table that share a key with one query.

        Args:
            keys: uint64, (bands,).
        """
        found = []
        for table in self._tables:
            places = table.searchsorted(keys)
            there = np.flatnonzero(table.take(places, mode="clip") ^ keys <= _LOW)
            if len(there):
                hi = table.searchsorted(keys[there] | _LOW, side="right")
                found.append(_rows_between(table, places[there], hi))
        return found

    def spans(self, keys: Keys) -> "Spans":
        """Look up the keys of many queries: uint64, (queries, bands)."""
        # In order, with their queries in the low half: they walk through each table once.
        needles = (keys | np.arange(len(keys), dtype=np.uint64)[:, np.newaxis]).ravel()
        needles.sort()
        positions = (needles & _LOW).astype(np.int64)
        needles &= ~_LOW
        parts = []
        for table in self._tables:
            lo = table.searchsorted(needles)
            there = np.flatnonzero(table.take(lo, mode="clip") ^ needles <= _LOW)
            hi = table.searchsorted(needles[there] | _LOW, side="right")
            parts.append((table, positions[there], lo[there], hi))
        return Spans(parts)


class Spans:
    """Where the tables hold what shares a key with a query."""

    def __init__(
        self,
        parts: list[tuple[Keys, npt.NDArray[np.int64], npt.NDArray[np.intp], npt.NDArray[np.intp]]],
    ) -> None:
        self._parts = parts

    @property
    def count(self) -> int:
        """Pairs that :meth:`pairs` will return."""
        return sum(int((hi - lo).sum()) for _, _, lo, hi in self._parts)

    def pairs(self) -> list[Pairs]:
        """Return the pairs of each table."""
        return [
            Pairs(positions.repeat(hi - lo), _rows_between(table, lo, hi))
            for table, positions, lo, hi in self._parts
        ]


class FreshBands:
    """The rows of the newest documents by key, in a dict, which grows without any sorting."""

    def __init__(self) -> None:
        self._rows: dict[int, list[int]] = {}

    def add(self, keys: Keys, first_row: int) -> None:
        """Hold the keys of documents, of which the first stands in ``first_row``."""
        for row, one in enumerate(keys.tolist(), first_row):
            for key in one:
                self._rows.setdefault(key, []).append(row)

    def rows(self, keys: Keys) -> list[int]:
        """Return the rows that share a key with one query."""
        if not self._rows:
            return []
        get = self._rows.get
        return [row for key in keys.tolist() if (rows := get(key)) for row in rows]

    def clear(self) -> None:
        """Forget all of it."""
        self._rows.clear()


def _rows_between(
    table: Keys, lo: npt.NDArray[np.intp], hi: npt.NDArray[np.intp]
) -> npt.NDArray[np.int64]:
    counts = hi - lo
    ends = counts.cumsum()
    index = np.repeat(lo - ends + counts, counts)
    index += np.arange(len(index))
    rows: npt.NDArray[np.int64] = (table[index] & _LOW).astype(np.int64)
    return rows
