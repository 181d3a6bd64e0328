"""The parts of an index, and the order in which they change."""

from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

import numpy as np

from neardup.indexes.arrays import Rows
from neardup.indexes.building import built
from neardup.indexes.columns import MAX_ENTRIES, joined_rows, no_rows
from neardup.indexes.files.index_directory import Content, IndexDirectory
from neardup.indexes.files.log_file import Batch
from neardup.indexes.search import LOOPS, EntryBuffer, Search
from neardup.indexes.segment import Segment

RATIO = 4
"""A segment is left alone while it is at least this many times larger than all that follow it."""

MAX_MERGED = 1 << 20
"""The largest number of rows that adding merges into one segment, in 0.1 to 0.2 seconds.

A query takes 1 microsecond a segment: 24 of a million entries 23, and 3 of eight million entries 7.
"""


MAX_BUFFERS = 16
"""The buffer holds this many times its usual entries while another process compiles what searches
segments. A query compares 131,072 in 8 microseconds."""


class MergeSegment(NamedTuple):
    """A segment as the policy of merges sees it.

    Attributes:
        live: Entries that count.
        dead: Entries that were deleted.
        removed: Entries of older segments that were deleted, which it names.
    """

    live: int
    dead: int = 0
    removed: int = 0

    @property
    def size(self) -> int:
        """Rows that a merge writes again: a segment of removals alone is merged as well."""
        return self.live + self.removed


def next_merge(parts: Sequence[MergeSegment]) -> range:
    """Return which neighbours become one segment next; those with the new rows come last.

    When these are merged, a segment has at least RATIO times the rows of its successors, or is too
    large to be merged with the next: n rows are in 2 * n / MAX_MERGED + O(log n) segments, and a
    row is written again O(log n) times. No segment is mostly deleted, and removals are no more than
    live entries: all segments together store at most three times the entries that count.

    Args:
        parts: The segments, the oldest first, and the new rows as the newest of them.
    """
    first = first_to_merge(parts)
    older = range(first)
    for place in older:
        if parts[place].dead > parts[place].live:
            return range(place, place + 1)
    for place in older[:-1]:
        last = _end_of_merge(parts[:first], place)
        newer = sum(part.size for part in parts[place + 1 :])
        if last > place + 1 and parts[place].size < RATIO * newer:
            return range(place, last)
    if sum(part.removed for part in parts) > sum(part.live for part in parts):
        for place in older:
            # No older segment has a dead entry, so that these removals are superfluous.
            if parts[place].dead or parts[place].removed:
                return range(place, place + 1)
    return range(first, len(parts))


def first_to_merge(parts: Sequence[MergeSegment]) -> int:
    """Return the first of the neighbours that become one with the newest; its place: none does."""
    first = len(parts) - 1
    newer = parts[first].size
    for place in reversed(range(first)):
        size = parts[place].size
        if newer + size > MAX_MERGED:
            break
        if size < RATIO * newer:
            first = place
        newer += size
    return first


def _end_of_merge(parts: Sequence[MergeSegment], first: int) -> int:
    """Return the end of the longest range from a place on that may be merged."""
    sizes = accumulate(part.size for part in parts[first:])
    return first + max(1, sum(1 for size in sizes if size <= MAX_MERGED))


class Engine:
    """A buffer of the newest entries, segments of all others, and the files behind them.

    Args:
        path: The directory of the files; None: memory only.
        radius: The largest distance of a match, in bits.
        buffer_size: The number of entries that are compared one and all.

    Attributes:
        search: Answers queries.
        half_way: Whether a change got stuck: nothing but closing is left to do.
        max_id: The largest id that counts, -1 where there is none.
    """

    def __init__(self, path: Path | None, radius: int, buffer_size: int) -> None:
        self._buffer = EntryBuffer(buffer_size)
        self.search = Search(radius, self._buffer)
        self.half_way = False
        self.max_id = -1
        self._segments: list[Segment] = []
        self._unflushed: list[Rows] = []
        """The removals of durable entries that are not durable themselves."""
        self._carried: list[Rows] = []
        """The removals from segments that the next segment must name."""
        self._directory: IndexDirectory | None = None
        content = Content([], [])
        if path is not None:
            self._directory, content = IndexDirectory.opened(path)
        try:
            self._segments += map(Segment, content.segments)
            self._replay(content.batches)
        except BaseException:
            self.close()
            raise

    def __len__(self) -> int:
        return sum(segment.live for segment in self._segments) + self._buffer.count

    @property
    def size_bytes(self) -> int:
        """Bytes of memory that entries and tables take, mapped files included."""
        return self._buffer.size_bytes + sum(segment.size_bytes for segment in self._segments)

    def add(self, value: int, number: int) -> None:
        """Hold one more entry."""
        count, capacity = self._buffer.count, self._buffer.capacity
        if 2 * count >= capacity and count % capacity in (0, capacity // 2):
            self._seal_in_time(count)
        self._buffer.append(value, number)
        self.max_id = max(self.max_id, number)

    def extend(self, rows: Rows) -> None:
        """Hold more entries, at least one."""
        if self._buffer.room_for(len(rows.ids)):
            self._buffer.extend(rows)
        else:
            self._seal(rows)
        self.max_id = max(self.max_id, int(rows.ids.max()))

    def delete(self, number: int) -> int:
        """Hold no entry of an id any more, and return how many there were."""
        if sum(len(rows.ids) for rows in self._carried) >= self._buffer.capacity:
            self._seal(no_rows())
        found = joined_rows([segment.entries_of(number) for segment in self._segments])
        flushed, count = self._buffer.remove(number)
        self._unflushed += [part for part in (found, flushed) if len(part.ids)]
        if len(found.ids):
            self._remove(found)
        count += len(found.ids)
        if count and number == self.max_id:
            self.max_id = self._largest_id()
        return count

    def flush(self) -> None:
        """Make all changes durable."""
        batch = Batch(joined_rows(self._unflushed), self._buffer.rows(self._buffer.flushed))
        if self._directory is not None and any(len(rows.ids) for rows in batch):
            self._directory.append(batch)
        self._unflushed = []
        self._buffer.flushed = self._buffer.count

    def merge(self) -> None:
        """Make one segment of all entries, or of as many as one may hold."""
        first, live = len(self._segments), self._buffer.count
        while first and live + self._segments[first - 1].live <= MAX_ENTRIES:
            first -= 1
            live += self._segments[first].live
        parts = self._parts()
        if self._buffer.count or len(parts) > first + 1 or self._superfluous(parts, first):
            self._become_one(range(first, len(parts) + 1), no_rows())

    def close(self) -> None:
        """Let go of everything, without a flush."""
        self._segments.clear()
        self._buffer.clear()
        self.search.look_into([])
        if self._directory is not None:
            self._directory.close()

    def _parts(self) -> list[MergeSegment]:
        return [
            MergeSegment(segment.live, segment.dead, len(segment.tables.removed.ids))
            for segment in self._segments
        ]

    @staticmethod
    def _superfluous(parts: Sequence[MergeSegment], first: int) -> bool:
        """Whether merging the segments from ``first`` on would leave something out."""
        needed = any(part.dead for part in parts[:first])
        return any(part.dead or (part.removed and not needed) for part in parts[first:])

    def _seal_in_time(self, count: int) -> None:
        """Turn a full buffer into a segment, once what searches segments is compiled."""
        from neardup.compiled import are_ready  # noqa: PLC0415  (numba takes long)

        capacity = self._buffer.capacity
        is_ready = are_ready(LOOPS, wait=count >= MAX_BUFFERS * capacity)
        if count >= capacity and is_ready:
            self._seal(no_rows())
        elif count >= capacity:
            self._buffer.reserve(count + capacity)
            self.search.read_buffer()

    def _seal(self, more: Rows) -> None:
        """Turn the buffer and more rows into a segment, and merge what is worth it."""
        removed = sum(len(rows.ids) for rows in self._carried)
        fresh = MergeSegment(self._buffer.count + len(more.ids), removed=removed)
        # The new rows come last, so that an OSError has held none of them.
        while (chosen := next_merge([*self._parts(), fresh])).stop <= len(self._segments):
            if self._unflushed:
                # Its deleted entries are gone for good: what came before that must be durable too.
                self.flush()
            self._become_one(chosen, no_rows())
        self._become_one(chosen, more)

    def _become_one(self, chosen: range, more: Rows) -> None:
        """Make a segment of neighbours, and of the buffer and more rows if it is the newest.

        An OSError has changed nothing, so that the call can be repeated after a full disk.

        Args:
            chosen: The places of the segments; the buffer's is that after the last of them.
            more: More rows.
        """
        inputs = self._segments[chosen.start : chosen.stop]
        newest = chosen.stop > len(self._segments)
        removed = [segment.tables.removed for segment in inputs]
        rows = more
        if newest:
            rows = joined_rows([self._buffer.rows(), more])
            removed += self._carried
        if not any(segment.dead for segment in self._segments[: chosen.start]):
            # What they would remove is stored nowhere.
            removed = []
        tables = built(rows, joined_rows(removed), inputs)
        if self._directory is not None:
            staged = self._directory.stage(chosen, tables)
            self.half_way = True
            tables = self._directory.switch(staged)
        self._segments[chosen.start : chosen.stop] = [Segment(tables)]
        if newest:
            self._buffer.clear()
            self._unflushed, self._carried = [], []
        self.search.look_into(self._segments)
        self.half_way = False
        if self._directory is not None:
            self._directory.tidy_up()

    def _remove(self, rows: Rows) -> None:
        """Let entries of segments count no more."""
        counted = np.zeros(len(rows.ids), np.bool_)
        for segment in self._segments:
            counted |= segment.remove(rows)
        if counted.any():
            self._carried.append(Rows(rows.fingerprints[counted], rows.ids[counted]))
            self.search.look_into(self._segments)

    def _replay(self, batches: list[Batch]) -> None:
        """Repeat the changes that the files record."""
        for place, segment in enumerate(self._segments):
            if len(segment.tables.removed.ids):
                for older in self._segments[:place]:
                    older.remove(segment.tables.removed)
        self.search.look_into(self._segments)
        logged = [no_rows()]
        for batch in batches:
            if len(batch.removed.ids):
                self._remove(batch.removed)
                logged = [_without(joined_rows(logged), batch.removed)]
            logged.append(batch.added)
        rows = joined_rows(logged)
        if self._buffer.room_for(len(rows.ids)):
            self._buffer.extend(rows)
            self._buffer.flushed = self._buffer.count
        else:
            self._seal(rows)
        self.max_id = self._largest_id()

    def _largest_id(self) -> int:
        largest = [int(self._buffer.rows().ids.max(initial=-1))]
        return max(largest + [segment.max_id() for segment in self._segments])


def _without(rows: Rows, removed: Rows) -> Rows:
    """Return the entries that are none of the removed ones."""
    gone = set(zip(removed.fingerprints.tolist(), removed.ids.tolist(), strict=True))
    entries = zip(rows.fingerprints.tolist(), rows.ids.tolist(), strict=True)
    kept = np.fromiter((entry not in gone for entry in entries), np.bool_, len(rows.ids))
    return Rows(rows.fingerprints[kept], rows.ids[kept])
