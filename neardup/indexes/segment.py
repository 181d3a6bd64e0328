"""One immutable segment: its columns, and which of its entries were deleted since it was made.

A segment has twenty arrays, in memory or in a file. It holds distinct fingerprints, each in four
tables. Table t is sorted by the fingerprint rotated so that its 16-bit block t comes first (Manku,
Jain, Das Sarma, WWW 2007, section 3.1). The first ``bits`` bits of that block are the number of a
bucket and are not stored; of each row there are the bits of the block that remain (``keys``), the
32 bits after it and the last 16. Ids stand in the order of table 0.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from neardup.indexes.arrays import Fingerprints, Ids, Rows
from neardup.indexes.near import Columns

Array: TypeAlias = npt.NDArray[Any]

BLOCKS = 4
BLOCK_BITS = 16
MIN_BITS = 8
ROWS_A_BUCKET = 16
"""A bucket has half to all of this many rows on average, until there are 2**16 buckets."""

SPARE_ROWS = 16
"""The number of zeros after the last row: rows are compared sixteen at once."""

IDS, RUNS, FIRST_TABLE = 0, 1, 2
STARTS, HIGH, LOW, KEYS = 0, 1, 2, 3
TABLE_COLUMNS = 4
REMOVED_FINGERPRINTS = FIRST_TABLE + BLOCKS * TABLE_COLUMNS
REMOVED_IDS = REMOVED_FINGERPRINTS + 1
COLUMNS = REMOVED_IDS + 1


class Shape(NamedTuple):
    """The sizes that tell those of all columns.

    Attributes:
        rows: The number of distinct fingerprints.
        entries: The number of ids.
        removed: The number of entries of older segments that no longer count.
    """

    rows: int
    entries: int
    removed: int

    @property
    def bits(self) -> int:
        """Bits of a bucket's number."""
        return bucket_bits(self.rows)


class ArrayColumn(NamedTuple):
    """The type and the length of a column."""

    dtype: np.dtype[Any]
    length: int

    @property
    def nbytes(self) -> int:
        """Bytes that it takes."""
        return self.dtype.itemsize * self.length


class Table(NamedTuple):
    """One sorted table.

    Attributes:
        starts: uint32, (2**bits + 1,): the first row of each bucket, and the number of rows.
        high: uint32, (rows + 16,): the 32 bits after the block, then zeros.
        low: uint16, (rows + 16,): the last 16 bits, then zeros.
        keys: uint8, (rows,): the last 16 - bits bits of the block; (0,) where that is none.
    """

    starts: npt.NDArray[np.uint32]
    high: npt.NDArray[np.uint32]
    low: npt.NDArray[np.uint16]
    keys: npt.NDArray[np.uint8]


class Tables(NamedTuple):
    """A finished segment.

    Attributes:
        shape: The sizes of the segment.
        max_id: The largest of its ids, -1 where there is none.
        ids: int64, (entries,), by fingerprint, then ascending.
        runs: uint32, (rows + 1,): where the ids of each row of table 0 start; (0,) where each row
            has one.
        tables: The four tables.
        removed: The entries of older segments that no longer count.
    """

    shape: Shape
    max_id: int
    ids: Ids
    runs: npt.NDArray[np.uint32]
    tables: tuple[Table, ...]
    removed: Rows

    @property
    def columns(self) -> tuple[Array, ...]:
        """All arrays, in the order of the file."""
        of_tables = (column for table in self.tables for column in table)
        return (self.ids, self.runs, *of_tables, *self.removed)


def bucket_bits(rows: int) -> int:
    """Return of how many bits of a block the numbers of buckets consist, 8 to 16."""
    return min(BLOCK_BITS, max(MIN_BITS, (rows // ROWS_A_BUCKET).bit_length()))


def columns_of(shape: Shape) -> tuple[ArrayColumn, ...]:
    """Return the types and lengths of all columns, in the order of the file."""
    rows, entries, removed = shape
    table = (
        ArrayColumn(np.dtype("<u4"), (1 << shape.bits) + 1),
        ArrayColumn(np.dtype("<u4"), rows + SPARE_ROWS),
        ArrayColumn(np.dtype("<u2"), rows + SPARE_ROWS),
        ArrayColumn(np.dtype("u1"), rows if shape.bits < BLOCK_BITS else 0),
    )
    ids = ArrayColumn(np.dtype("<i8"), entries)
    runs = ArrayColumn(np.dtype("<u4"), rows + 1 if entries > rows else 0)
    removals = (ArrayColumn(np.dtype("<u8"), removed), ArrayColumn(np.dtype("<i8"), removed))
    return (ids, runs, *(table * BLOCKS), *removals)


def tables_of(shape: Shape, max_id: int, columns: Sequence[Array]) -> Tables:
    """Give the columns of a file, or of memory, their names."""
    starts = range(FIRST_TABLE, REMOVED_FINGERPRINTS, TABLE_COLUMNS)
    tables = tuple(Table(*columns[first : first + TABLE_COLUMNS]) for first in starts)
    return Tables(
        shape, max_id, columns[IDS], columns[RUNS], tables, Rows(*columns[REMOVED_FINGERPRINTS:])
    )


def no_rows() -> Rows:
    """Return no entries."""
    return Rows(np.zeros(0, np.uint64), np.zeros(0, np.int64))


def joined_rows(parts: Sequence[Rows]) -> Rows:
    """Return the entries of all parts, one after the other."""
    fingerprints, ids = zip(no_rows(), *parts, strict=True)
    return Rows(np.concatenate(fingerprints), np.concatenate(ids))


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
