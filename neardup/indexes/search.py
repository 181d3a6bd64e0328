"""Queries: from Python to the compiled search and back."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from neardup.indexes.arrays import Fingerprints, Ids, Match, Matches, Rows
from neardup.indexes.near import Near
from neardup.indexes.segment import SPARE_ROWS, Segment, no_rows


class EntryBuffer:
    """A list of entries that is read whole by each query (8,192: about 0.5 microseconds).

    Args:
        capacity: The number of entries that it holds at most.

    Attributes:
        count: Entries held.
        flushed: The number of entries, from the first on, that are durable elsewhere.
        fingerprints: uint64, (capacity + 16,).
        ids: int64, (capacity,).
    """

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.count = 0
        self.flushed = 0
        self.fingerprints = np.zeros(capacity + SPARE_ROWS, np.uint64)
        self.ids = np.zeros(capacity, np.int64)

    @property
    def size_bytes(self) -> int:
        """Bytes of memory that the buffer takes, full or empty."""
        return self.fingerprints.nbytes + self.ids.nbytes

    def room_for(self, count: int) -> bool:
        """Whether ``count`` more entries fit."""
        return self.count + count <= self.capacity

    def append(self, fingerprint: int, number: int) -> None:
        """Hold one more entry; there must be room for it."""
        count = self.count
        self.fingerprints[count] = fingerprint
        self.ids[count] = number
        self.count = count + 1

    def extend(self, rows: Rows) -> None:
        """Hold more entries; there must be room for them."""
        end = self.count + len(rows.ids)
        self.fingerprints[self.count : end] = rows.fingerprints
        self.ids[self.count : end] = rows.ids
        self.count = end

    def rows(self, start: int = 0) -> Rows:
        """Return the entries from ``start`` on, as views that the next append leaves alone."""
        return Rows(self.fingerprints[start : self.count], self.ids[start : self.count])

    def remove(self, number: int) -> tuple[Rows, int]:
        """Forget the entries of an id.

        Returns:
            Those that were flushed, and how many were forgotten in all.
        """
        gone: npt.NDArray[np.bool_] = self.ids[: self.count] == number
        before = gone[: self.flushed]
        flushed = Rows(self.fingerprints[: self.flushed][before], self.ids[: self.flushed][before])
        stored = self.rows()
        kept = Rows(stored.fingerprints[~gone], stored.ids[~gone])
        self.count, self.flushed = 0, self.flushed - len(flushed.ids)
        self.extend(kept)
        return flushed, len(gone) - len(kept.ids)

    def clear(self) -> None:
        """Forget all entries."""
        self.count = self.flushed = 0


class Search:
    """Looks into a buffer and some segments.

    Args:
        radius: The largest distance of a match, in bits.
        buffer: Its entries are found from the moment in which they are appended.
    """

    def __init__(self, radius: int, buffer: EntryBuffer) -> None:
        self._buffer = buffer
        self._near = Near(buffer.fingerprints, buffer.ids, [])
        self._near.radius = radius

    @property
    def radius(self) -> int:
        """The largest distance of a match, in bits; may be set."""
        return self._near.radius

    @radius.setter
    def radius(self, bits: int) -> None:
        # Each query plans for itself which buckets to search: nothing else depends on the radius.
        self._near.radius = bits

    def look_into(self, segments: Sequence[Segment]) -> None:
        """Look into these segments from now on."""
        columns = [segment.columns for segment in segments if segment.live]
        near = Near(self._buffer.fingerprints, self._buffer.ids, columns)
        near.radius = self.radius
        self._near = near

    def query(self, value: int, limit: int) -> list[Match]:
        """Return the matches of a fingerprint, nearest first, then by id; limit 0: all of them."""
        return list(map(Match._make, self._near.find(value, limit, self._buffer.count)))

    def query_ids(self, value: int, limit: int, max_distance: int) -> Ids:
        """Return the ids of the matches of a fingerprint within a distance, in the same order."""
        values = np.array([value], np.uint64)
        _, ids, distances = self._near.find_many(values, limit, self._buffer.count)
        return ids[: distances.searchsorted(max_distance, "right")]

    def query_many(self, values: Fingerprints, limit: int) -> Matches:
        """Return the matches of each fingerprint; limit 0: all of them."""
        if not len(values):
            return Matches(no_rows().ids, no_rows().ids, np.zeros(0, np.uint8))
        values = np.ascontiguousarray(values)
        ends, ids, distances = self._near.find_many(values, limit, self._buffer.count)
        positions = np.arange(len(values)).repeat(np.diff(ends, prepend=0))
        return Matches(positions, ids, distances)
