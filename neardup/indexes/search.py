"""Queries: from Python to the compiled search and back."""

from collections.abc import Callable, Sequence
from typing import TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from neardup.indexes import search_state as field
from neardup.indexes.arrays import Fingerprints, Ids, Match, Matches, Rows
from neardup.indexes.columns import SPARE_ROWS
from neardup.indexes.segment import Segment

R = TypeVar("R")

LOOPS = ("neardup.indexes.near",)
"""The modules of compiled loops that search segments."""

ROOM = 1024
"""The number of matches for which there is always room."""

BATCH_ROOM = 1 << 18
"""The number of matches found before they are copied to the answer to many queries: 2.4 MB."""


Find: TypeAlias = Callable[[npt.NDArray[np.int64], int, int, int, int], int]
FindNewest: TypeAlias = Callable[[npt.NDArray[np.int64], int, int, int], int]


class EntryBuffer:
    """A list of entries that is read whole by each query (8,192: about 0.5 microseconds).

    Args:
        capacity: The number of entries that it is to hold.

    Attributes:
        count: Entries held.
        flushed: The number of entries, from the first on, that are durable elsewhere.
        fingerprints: uint64, (room + 16,), where the room is ``capacity`` or more.
        ids: int64, (room,).
    """

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.count = 0
        self.flushed = 0
        self.fingerprints = np.zeros(0, np.uint64)
        self.ids = np.zeros(0, np.int64)
        self.reserve(capacity)

    @property
    def size_bytes(self) -> int:
        """Bytes of memory that the buffer takes, full or empty."""
        return self.fingerprints.nbytes + self.ids.nbytes

    def room_for(self, count: int) -> bool:
        """Whether ``count`` more entries fit."""
        return self.count + count <= self.capacity

    def reserve(self, count: int) -> None:
        """Make room for ``count`` entries in all: those held are then found elsewhere in memory."""
        held = self.rows()
        self.fingerprints = np.zeros(count + SPARE_ROWS, np.uint64)
        self.ids = np.zeros(count, np.int64)
        self.count = 0
        self.extend(held)

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
        self._segments: tuple[Segment, ...] = ()
        # Compiled only where there are segments.
        self._find: Find | None = None
        # Loaded by the first query: an index is opened before there is anything to wait for.
        self._find_newest: FindNewest | None = None
        self._state = np.zeros(field.HEAD, np.int64)
        self._state[field.RADIUS] = radius
        self.read_buffer()
        self._make_room(ROOM)

    @property
    def radius(self) -> int:
        """The largest distance of a match, in bits; may be set."""
        return int(self._state[field.RADIUS])

    @radius.setter
    def radius(self, bits: int) -> None:
        # Each query plans for itself which buckets to search: nothing else depends on the radius.
        self._state[field.RADIUS] = bits

    def read_buffer(self) -> None:
        """Take note of where the entries of the buffer are from now on."""
        self._state[field.BUFFER_FINGERPRINTS] = self._buffer.fingerprints.ctypes.data
        self._state[field.BUFFER_IDS] = self._buffer.ids.ctypes.data

    def look_into(self, segments: Sequence[Segment]) -> None:
        """Look into these segments from now on."""
        stored = tuple(segments)
        fields = [segment.fields for segment in stored if segment.live]
        state = np.concatenate([self._state[: field.HEAD], *fields])
        state[field.SEGMENTS] = len(fields)
        # Side by side, last: the segments keep alive what the addresses point to.
        self._segments, self._state = stored, state
        self._find = _find() if fields else None

    def query(self, value: int, limit: int) -> list[Match]:
        """Return the matches of a fingerprint, nearest first, then by id; limit 0: all of them."""
        count = self._search(value, limit)
        if not count:
            return []
        if count > self._room:
            return self._in_room(count, lambda: self.query(value, limit))
        return list(map(Match, self._id_list[:count], self._distance_list[:count]))

    def query_ids(self, value: int, limit: int, max_distance: int) -> Ids:
        """Return the ids of the matches of a fingerprint within a distance, in the same order."""
        count = self._search(value, limit)
        if count > self._room:
            return self._in_room(count, lambda: self.query_ids(value, limit, max_distance))
        if count:
            count = int(self._distances[:count].searchsorted(max_distance, "right"))
        return self._ids[:count].copy()

    def _search(self, value: int, limit: int) -> int:
        """Put out the matches of a fingerprint where there is room, and return how many it has."""
        held = self._buffer.count
        if self._find is None:
            if self._find_newest is None:
                self._find_newest = _find_newest()
            return self._find_newest(self._state, value, limit, held)
        return self._find(self._state, value, limit, held, 0)

    def query_many(self, values: Fingerprints, limit: int) -> Matches:
        """Return the matches of each fingerprint; limit 0: all of them."""
        try:
            self._make_room(BATCH_ROOM)
            return self._answers(values, limit)
        finally:
            self._make_room(ROOM)

    def _in_room(self, count: int, query: Callable[[], R]) -> R:
        """Ask again with room for ``count`` matches."""
        try:
            self._make_room(count)
            return query()
        finally:
            self._make_room(ROOM)

    def _answers(self, values: Fingerprints, limit: int) -> Matches:
        values = np.ascontiguousarray(values)
        ends = np.zeros(len(values), np.int64)
        counts = np.zeros(len(values), np.int64)
        ids, distances = [self._ids[:0]], [self._distances[:0]]
        begin = 0
        while begin < len(values):
            self._state[field.QUERIES] = values[begin:].ctypes.data
            self._state[field.ENDS_OF_QUERIES] = ends.ctypes.data
            done = _find()(self._state, 0, limit, self._buffer.count, len(values) - begin)
            if not done:
                self._make_room(int(ends[0]))
                continue
            counts[begin : begin + done] = np.diff(ends[:done], prepend=0)
            ids.append(self._ids[: ends[done - 1]].copy())
            distances.append(self._distances[: ends[done - 1]].copy())
            begin += done
        positions = np.arange(len(values)).repeat(counts)
        return Matches(positions, np.concatenate(ids), np.concatenate(distances))

    def _make_room(self, count: int) -> None:
        """Provide room for ``count`` matches; a failure changes nothing, an interrupt leaves 0."""
        ids, distances = np.empty(count, np.int64), np.empty(count, np.uint8)
        self._room = self._state[field.CAPACITY] = 0
        self._ids, self._distances = ids, distances
        # A memoryview hands out Python's numbers four times faster than an array does.
        self._id_list, self._distance_list = self._ids.data, self._distances.data
        self._state[field.OUT_IDS] = self._ids.ctypes.data
        self._state[field.OUT_DISTANCES] = self._distances.ctypes.data
        self._state[field.CAPACITY] = count
        self._room = count


def _find_newest() -> FindNewest:
    from neardup.indexes.newest import find_newest  # noqa: PLC0415  (numba takes long)

    return find_newest


def _find() -> Find:
    from neardup.indexes.near import find  # noqa: PLC0415  (it takes seconds to compile)

    return find
