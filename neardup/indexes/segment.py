"""One immutable segment, and which of its entries were deleted since it was made."""

from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from neardup.indexes.arrays import Fingerprints, Rows
from neardup.indexes.columns import BLOCK_BITS, Tables, no_rows
from neardup.indexes.near import Columns

SCAN_STEP = 1 << 18
"""The number of ids compared at once, which stay in the processor's cache."""

MAX_SHARE = 4
"""The largest share: up to 3 flipped bits in a block, 697 buckets; above it a scan is cheaper."""

Places = npt.NDArray[np.int64]


class Masks(NamedTuple):
    """The bits to flip in a bucket's number to reach its neighbours.

    Attributes:
        flips: uint16, (masks,), those with the fewest set bits first.
        ends: The number of masks that belong to each share, ``(0, 1, 1 + bits, ...)``.
    """

    flips: npt.NDArray[np.uint16]
    ends: tuple[int, ...]


@cache
def masks(bits: int) -> Masks:
    """Return all values of ``bits`` bits that have fewer than MAX_SHARE bits set."""
    values = np.arange(1 << bits, dtype=np.uint16)
    set_bits = np.bitwise_count(values)
    order = np.argsort(set_bits, kind="stable")
    ends = np.searchsorted(set_bits[order], np.arange(MAX_SHARE), side="right")
    return Masks(values[order[: ends[-1]]], (0, *ends.tolist()))


class Segment:
    """Finished tables, with a bit for each entry that was deleted.

    Args:
        tables: Never changed afterwards.

    Attributes:
        tables: The same.
        live: Entries that were not deleted.
        columns: The columns of the tables, for the compiled search.
    """

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        self.live = tables.shape.entries
        self._dead: npt.NDArray[np.uint8] | None = None
        self.columns = Columns(tables, *masks(tables.shape.bits))

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
        fingerprints, ids = np.ascontiguousarray(rows.fingerprints), np.ascontiguousarray(rows.ids)
        self.columns.find_entries(fingerprints, ids, firsts, lasts)
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
        return Rows(self._fingerprints_at(places), ids[places].astype(np.int64))

    def max_id(self) -> int:
        """Return the largest id that counts, -1 where none does."""
        if self._dead is None:
            return self.tables.max_id
        return int(self.tables.ids[self._are_alive(self._dead)].max(initial=-1))

    def values(self, block: int) -> Fingerprints:
        """Return the fingerprints of a table, with its block first, ascending."""
        starts = self.tables.tables[block].starts
        buckets = np.arange(len(starts) - 1, dtype=np.uint64).repeat(np.diff(starts))
        return self._joined(block, buckets, slice(0, self.tables.shape.rows))

    def rows(self) -> Rows:
        """Return the entries that count, by fingerprint, then by id. O(n)."""
        fingerprints = self.values(0)
        if len(self.tables.runs):
            fingerprints = fingerprints.repeat(np.diff(self.tables.runs))
        if self._dead is None:
            return Rows(fingerprints, self.tables.ids)
        alive = self._are_alive(self._dead)
        return Rows(fingerprints[alive], self.tables.ids[alive])

    def _fingerprints_at(self, places: Places) -> Fingerprints:
        """Return the fingerprints to which the ids at some places belong."""
        # Of another dtype, they would have numpy convert all runs and starts for each call.
        rows = places.astype(np.uint32)
        if len(self.tables.runs):
            rows = (self.tables.runs.searchsorted(rows, side="right") - 1).astype(np.uint32)
        buckets = self.tables.tables[0].starts.searchsorted(rows, side="right") - 1
        return self._joined(0, buckets.astype(np.uint64), rows)

    def _joined(
        self, block: int, buckets: Fingerprints, rows: slice | npt.NDArray[np.uint32]
    ) -> Fingerprints:
        """Return the fingerprints of rows of a table, whose buckets are known."""
        _, high, low, keys = self.tables.tables[block]
        values = buckets << np.uint64(BLOCK_BITS - self.tables.shape.bits)
        if len(keys):
            values |= keys[rows]
        values <<= np.uint64(2 * BLOCK_BITS)
        values |= high[rows]
        values <<= np.uint64(BLOCK_BITS)
        values |= low[rows]
        return values

    def _are_alive(self, dead: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
        bits: npt.NDArray[np.bool_] = np.unpackbits(
            dead, count=len(self.tables.ids), bitorder="little"
        ).view(np.bool_)
        return ~bits

    def _alive(self, places: Places) -> npt.NDArray[np.bool_]:
        if self._dead is None:
            return np.ones(len(places), np.bool_)
        alive: npt.NDArray[np.bool_] = (self._dead[places >> 3] >> (places & 7) & 1) == 0
        return alive

    def _kill(self, places: Places) -> None:
        if self._dead is None:
            self._dead = np.zeros((self.tables.shape.entries + 7) // 8, np.uint8)
            self.columns.note_dead(self._dead)
        np.bitwise_or.at(self._dead, places >> 3, np.uint8(1) << (places & 7).astype(np.uint8))
        self.live -= len(places)
