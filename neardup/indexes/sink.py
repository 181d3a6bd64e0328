"""The destination of a segment while it is made, and the one that keeps it in memory."""

from typing import Protocol

import numpy as np

from neardup.indexes.arrays import Rows
from neardup.indexes.columns import (
    REMOVED_FINGERPRINTS,
    REMOVED_IDS,
    Array,
    Shape,
    Tables,
    columns_of,
    tables_of,
)
from neardup.indexes.files.log_file import Batch


class Sink(Protocol):
    """Takes the columns of one segment, each from its first row to its last."""

    def put(self, column: int, values: Array) -> None:
        """Append to a column.

        Raises:
            OSError: The disk is full, or the like.
        """

    def replace_inputs(self, max_id: int) -> Tables:
        """Let the segment count, durably, and return it; what was not put is zeros.

        Raises:
            OSError: The disk is full, or the like.
            StorageError: The index must be opened again.
        """

    def abandon(self) -> None:
        """Leave nothing behind."""


class MemorySink:
    """Keeps the columns in memory."""

    def __init__(self, shape: Shape) -> None:
        self._shape = shape
        self._columns = [np.zeros(column.length, column.dtype) for column in columns_of(shape)]
        self._ends = [0] * len(self._columns)

    def put(self, column: int, values: Array) -> None:
        """Append to a column."""
        end = self._ends[column] + len(values)
        self._columns[column][self._ends[column] : end] = values
        self._ends[column] = end

    def replace_inputs(self, max_id: int) -> Tables:
        """Give the columns their names."""
        return tables_of(self._shape, max_id, self._columns)

    def abandon(self) -> None:
        """Forget the columns."""
        self._columns = []


def put_removed(sink: Sink, removed: Rows) -> None:
    """Put the entries of older segments that do not count any more."""
    sink.put(REMOVED_FINGERPRINTS, removed.fingerprints)
    sink.put(REMOVED_IDS, removed.ids)


class Home(Protocol):
    """Keeps batches and segments; every change but :meth:`settle` may fail and change nothing.

    Attributes:
        half_way: A change got stuck after it began to count: nothing but closing is left to do.
    """

    half_way: bool

    def append(self, batch: Batch) -> None:
        """Make a batch durable."""

    def seal(self, tables: Tables) -> Tables:
        """Keep a new, newest segment in place of all batches, and return it as it is kept."""

    def open_merge(self, first: int, count: int, shape: Shape) -> Sink:
        """Begin a segment that shall replace ``count`` others, from the place ``first`` on."""

    def settle(self) -> None:
        """Hear that the index has followed the last change; let go of replaced files."""

    def close(self) -> None:
        """Let go of everything."""


class MemoryHome:
    """Keeps nothing but what the index itself holds."""

    half_way = False

    def append(self, batch: Batch) -> None:
        """Promise nothing."""

    def seal(self, tables: Tables) -> Tables:
        """Return the segment as it is."""
        return tables

    def open_merge(self, first: int, count: int, shape: Shape) -> Sink:
        """Begin a segment in memory."""
        return MemorySink(shape)

    def settle(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""
