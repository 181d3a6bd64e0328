"""The parts of an index, and the order in which they change."""

from pathlib import Path

import numpy as np

from neardup.indexes.arrays import Rows
from neardup.indexes.building import built
from neardup.indexes.columns import joined_rows, no_rows
from neardup.indexes.compaction import Compaction
from neardup.indexes.files.index_directory import Content, IndexDirectory
from neardup.indexes.files.log_file import Batch
from neardup.indexes.merging import WORK
from neardup.indexes.search import EntryBuffer, Search
from neardup.indexes.segment import Segment
from neardup.indexes.sink import Home, MemoryHome


class Engine:
    """A buffer of the newest entries, segments of all others, and the files behind them.

    Args:
        path: The directory of the files; None: memory only.
        radius: The largest distance of a match, in bits.
        buffer_size: The number of entries that are compared one and all.

    Attributes:
        search: Answers queries.
        home: The keeper of all that must survive.
        max_id: The largest id that counts, -1 where there is none.
    """

    def __init__(self, path: Path | None, radius: int, buffer_size: int) -> None:
        self._buffer = EntryBuffer(buffer_size)
        self.search = Search(radius, self._buffer)
        self.max_id = -1
        self._segments: list[Segment] = []
        self._unflushed: list[Rows] = []
        """The removals of durable entries that are not durable themselves."""
        self._carried: list[Rows] = []
        """The removals from segments that the next segment must name."""
        self.home: Home = MemoryHome()
        content = Content([], [])
        if path is not None:
            self.home, content = IndexDirectory.opened(path)
        self._compaction = Compaction(self.home, self._segments, self.search)
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

    @property
    def largest_rows(self) -> int:
        """The distinct fingerprints of the largest segment."""
        return max((segment.tables.shape.rows for segment in self._segments), default=0)

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
        if batch.rows:
            self.home.append(batch)
        self._unflushed = []
        self._buffer.flushed = self._buffer.count

    def merge(self, max_rows: int | None) -> bool:
        """Bring all segments nearer to one; return whether there is no more to do."""
        self._flush_removals()
        return self._compaction.unite(max_rows)

    def close(self) -> None:
        """Let go of everything, without a flush."""
        try:
            self._compaction.abandon()
        finally:
            self._segments.clear()
            self._buffer.clear()
            self.search.look_into([])
            self.home.close()

    def _seal(self, more: Rows) -> None:
        """Turn the buffer and more rows into a segment; an OSError has changed nothing."""
        fresh, removed = joined_rows([self._buffer.rows(), more]), joined_rows(self._carried)
        self._flush_removals()
        # Before anything is held: who is told of a full disk can then just try again.
        self._compaction.work(WORK * (len(fresh.ids) + len(removed.ids)))
        tables = self.home.seal(built(fresh, removed))
        self._segments.append(Segment(tables))
        self._buffer.clear()
        self._unflushed, self._carried = [], []
        self.search.look_into(self._segments)
        self.home.settle()

    def _flush_removals(self) -> None:
        """Flush before a merge makes removals durable, which came after what is not flushed."""
        if self._unflushed:
            self.flush()

    def _remove(self, rows: Rows) -> None:
        """Let entries of segments count no more."""
        counted = np.zeros(len(rows.ids), np.bool_)
        for segment in self._segments:
            counted |= segment.remove(rows)
        found = Rows(rows.fingerprints[counted], rows.ids[counted])
        if len(found.ids):
            self._carried.append(found)
            self._compaction.removed(found)
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
        self._restore(rows)
        self.max_id = self._largest_id()

    def _restore(self, rows: Rows) -> None:
        if self._buffer.room_for(len(rows.ids)):
            self._buffer.extend(rows)
            self._buffer.flushed = self._buffer.count
        else:
            self._seal(rows)

    def _largest_id(self) -> int:
        largest = [int(self._buffer.rows().ids.max(initial=-1))]
        return max(largest + [segment.max_id() for segment in self._segments])


def _without(rows: Rows, removed: Rows) -> Rows:
    """Return the entries that are none of the removed ones."""
    gone = set(zip(removed.fingerprints.tolist(), removed.ids.tolist(), strict=True))
    entries = zip(rows.fingerprints.tolist(), rows.ids.tolist(), strict=True)
    kept = np.fromiter((entry not in gone for entry in entries), np.bool_, len(rows.ids))
    return Rows(rows.fingerprints[kept], rows.ids[kept])
