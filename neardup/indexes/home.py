"""Where an index keeps what it holds: the contract, and the home of one that is never stored."""

from typing import Protocol

from neardup.indexes.columns import Shape, Tables
from neardup.indexes.files.log_format import Batch
from neardup.indexes.sink import MemorySink, Sink


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
        """Begin a segment that shall replace ``count`` others, of which one is the ``first``."""

    def settle(self) -> None:
        """Hear that the index has followed the last change, and let go of what that replaced."""

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
