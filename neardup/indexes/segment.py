"""One immutable segment, and which of its entries were deleted since it was made."""

import numpy as np
import numpy.typing as npt

from neardup.indexes import search_state as field
from neardup.indexes.arrays import Fingerprints, Rows
from neardup.indexes.columns import BLOCK_BITS, Array, Tables, no_rows
from neardup.indexes.design import masks
from neardup.indexes.near import find_entries

SCAN_STEP = 1 << 18
"""The number of ids compared at once, which stay in the processor's cache."""

Places = npt.NDArray[np.int64]


class Segment:
    """Finished tables, with a bit for each entry that was deleted.

    Args:
        tables: Never changed afterwards.

    Attributes:
        tables: The same.
        live: Entries that were not deleted.
        fields: int64, (SEGMENT,): what the compiled search needs to know; see ``state``.
    """

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        self.live = tables.shape.entries
        self._dead: npt.NDArray[np.uint8] | None = None
        self._flips = masks(tables.shape.bits)
        self.fields = self._fields()

    @property
    def size_bytes(self) -> int:
        """Bytes of memory that the columns take, mapped ones included."""
        dead = 0 if self._dead is None else self._dead.nbytes
        return dead + sum(column.nbytes for column in self.tables.columns)

    @property
    def dead(self) -> int:
        """Entries that were deleted."""
        return self.tables.shape.entries - self.live

    def remove(self, rows: Rows) -> npt.NDArray[np.bool_]:
        """Let entries count no more.

        Returns:
            bool, (rows,): which of them counted here until now.
        """
        firsts, lasts = (np.zeros(len(rows.ids), np.int64) for _ in range(2))
        state = np.concatenate([np.zeros(field.HEAD, np.int64), self.fields])
        fingerprints = rows.fingerprints.astype(np.uint64, copy=True)
        find_entries(state, fingerprints, rows.ids.astype(np.int64, copy=True), firsts, lasts)
        found = np.flatnonzero(lasts > firsts)
        counted = np.zeros(len(rows.ids), np.bool_)
        counted[found] = self._alive(firsts[found])
        # Equal entries stand side by side, and die together.
        lengths = (lasts - firsts)[counted]
        ends = lengths.cumsum()
        places = (firsts[counted] - ends + lengths).repeat(lengths) + np.arange(lengths.sum())
        if len(places):
            self._kill(np.unique(places))
        return counted

    def entries_of(self, number: int) -> Rows:
        """Return the entries of an id that count.

        Complexity: O(n), 1 ms a million entries.
        """
        ids = self.tables.ids
        places = np.concatenate(
            [
                start + np.flatnonzero(ids[start : start + SCAN_STEP] == number)
                for start in range(0, max(1, len(ids)), SCAN_STEP)
            ]
        )
        places = places[self._alive(places)]
        if not len(places):
            return no_rows()
        return Rows(self.fingerprints_at(self.rows_at(places)), ids[places].astype(np.int64))

    def max_id(self) -> int:
        """Return the largest id that counts, -1 where none does."""
        if self._dead is None:
            return self.tables.max_id
        alive = np.unpackbits(self._dead, count=len(self.tables.ids), bitorder="little") == 0
        return int(self.tables.ids[alive].max(initial=-1))

    def dead_places(self) -> Places:
        """Return the places, ascending, of ids that do not count any more."""
        if self._dead is None:
            return np.zeros(0, np.int64)
        bytes_ = np.flatnonzero(self._dead)
        bits = np.unpackbits(self._dead[bytes_, np.newaxis], axis=1, bitorder="little")
        byte, bit = np.nonzero(bits)
        places: Places = bytes_[byte] * 8 + bit
        return places

    def rows_at(self, places: Places) -> Places:
        """Return the rows of table 0 to which the ids at some places belong."""
        if not len(self.tables.runs):
            return places
        # Of another dtype, they would have numpy convert all runs for each call.
        wanted = places.astype(np.uint32)
        rows: Places = self.tables.runs.searchsorted(wanted, side="right").astype(np.int64) - 1
        return rows

    def fingerprints_at(self, rows: Places) -> Fingerprints:
        """Return the fingerprints of some rows of table 0."""
        starts, high, low, keys = self.tables.tables[0]
        wanted = rows.astype(np.uint32)
        buckets = starts.searchsorted(wanted, side="right").astype(np.uint64) - np.uint64(1)
        blocks = buckets << np.uint64(BLOCK_BITS - self.tables.shape.bits)
        if len(keys):
            blocks |= keys[rows].astype(np.uint64)
        rest = high[rows].astype(np.uint64) << np.uint64(16) | low[rows].astype(np.uint64)
        fingerprints: Fingerprints = blocks << np.uint64(48) | rest
        return fingerprints

    def _alive(self, places: Places) -> npt.NDArray[np.bool_]:
        if self._dead is None:
            return np.ones(len(places), np.bool_)
        alive: npt.NDArray[np.bool_] = (self._dead[places >> 3] >> (places & 7) & 1) == 0
        return alive

    def _kill(self, places: Places) -> None:
        if self._dead is None:
            self._dead = np.zeros((self.tables.shape.entries + 7) // 8, np.uint8)
            self.fields[field.DEAD] = _address(self._dead)
        np.bitwise_or.at(self._dead, places >> 3, np.uint8(1) << (places & 7).astype(np.uint8))
        self.live -= len(places)

    def _fields(self) -> npt.NDArray[np.int64]:
        fields = np.zeros(field.SEGMENT, np.int64)
        fields[field.ROWS] = self.tables.shape.rows
        fields[field.BITS] = self.tables.shape.bits
        fields[field.IDS] = _address(self.tables.ids)
        fields[field.RUNS] = _address(self.tables.runs)
        fields[field.FLIPS] = _address(self._flips.flips)
        fields[field.ENDS : field.ENDS + len(self._flips.ends)] = self._flips.ends
        columns = [column for table in self.tables.tables for column in table]
        fields[field.TABLES :] = [_address(column) for column in columns]
        return fields


def _address(array: Array) -> int:
    """Return where the elements stand; 0: there are none."""
    return array.ctypes.data if array.size else 0
