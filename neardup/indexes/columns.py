"""The columns of a segment, twenty arrays in memory or in a file.

A segment holds distinct fingerprints, each in four tables. Table t is sorted by the fingerprint
rotated so that its 16-bit block t comes first (Manku, Jain, Das Sarma, WWW 2007, section 3.1). The
first ``bits`` bits of that block are the number of a bucket and are not stored; of each row there
are the bits of the block that remain (``keys``), the 32 bits after it and the last 16. Ids stand in
the order of table 0.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from neardup.indexes.arrays import Ids, Rows

Array: TypeAlias = npt.NDArray[Any]

BLOCKS = 4
BLOCK_BITS = 16
MIN_BITS = 8
ROWS_A_BUCKET = 16
"""A bucket has half to all of this many rows on average, until there are 2**16 buckets."""

SPARE_ROWS = 16
"""The number of zeros after the last row: rows are compared sixteen at once."""

MAX_ENTRIES = (1 << 32) - 1
"""The largest number of entries of one segment: places in it are numbers of 32 bits."""

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
