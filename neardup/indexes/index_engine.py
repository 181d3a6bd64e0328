"""The parts of an index, and the order in which they change."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from neardup.indexes.arrays import Rows
from neardup.indexes.building import built
from neardup.indexes.columns import MAX_ENTRIES, joined_rows, no_rows
from neardup.indexes.files.index_directory import Content, IndexDirectory
from neardup.indexes.files.log_file import Batch
from neardup.indexes.search import EntryBuffer, Search
from neardup.indexes.segment import Segment

RATIO = 4
"""A segment is left alone while it is at least this many times larger than all that follow it."""

MAX_MERGED = 1 << 23
"""The largest number of entries that adding merges: the call that does it takes 0.6 seconds and
80 bytes an entry. A hundred million entries are 12 to 24 segments.
"""


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


def first_to_merge(parts: Sequence[MergeSegment], fresh: int) -> int:
    """Return the first of the segments that become one with new rows; len(parts): none does.

    Afterwards each segment has at least RATIO times the rows of its successors, or is too large to
    be merged: a query looks at O(log n) segments up to MAX_MERGED entries, and a row is written
    again O(log n) times. A segment that is mostly deleted is rewritten too.

    Args:
        parts: The segments, the oldest first.
        fresh: New rows.
    """
    first, live, newer = len(parts), fresh, fresh
    for place, part in reversed(list(enumerate(parts))):
        live += part.live
        if live > MAX_MERGED:
            break
        # A segment of removals alone is a segment to look after as well.
        size = part.live + part.removed
        if size < RATIO * newer or part.dead > part.live:
            first = place
        newer += size
    return first


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
        if self._buffer.count == self._buffer.capacity:
            self._seal(no_rows())
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
        parts = self._parts()[first:]
        if len(parts) > 1 or self._buffer.count or any(part.dead for part in parts):
            self._become_one(first, no_rows())

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

    def _seal(self, more: Rows) -> None:
        """Turn the buffer and more rows into a segment, with what is worth merging with them."""
        fresh = self._buffer.count + len(more.ids) + sum(len(rows.ids) for rows in self._carried)
        self._become_one(first_to_merge(self._parts(), fresh), more)

    def _become_one(self, first: int, more: Rows) -> None:
        """Make a segment of those from ``first`` on, the buffer and more rows.

        An OSError has changed nothing, so that the call can be repeated after a full disk.
        """
        inputs = self._segments[first:]
        rows = joined_rows([self._buffer.rows(), more])
        # No segment is older than the first: what it would remove is nowhere.
        removed = [segment.tables.removed for segment in inputs] + self._carried if first else []
        tables = built(rows, joined_rows(removed), inputs)
        if self._directory is not None:
            staged = self._directory.stage(first, tables)
            self.half_way = True
            tables = self._directory.switch(staged)
        self._segments[first:] = [Segment(tables)]
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
