"""The parts of an index, and the order in which they change."""

from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from neardup.indexes.arrays import Fingerprints, Rows
from neardup.indexes.index_directory import Batch, Content, IndexDirectory
from neardup.indexes.search import EntryBuffer, Search
from neardup.indexes.segment import (
    BLOCK_BITS,
    BLOCKS,
    SPARE_ROWS,
    Segment,
    Shape,
    Table,
    Tables,
    bucket_bits,
    joined_rows,
    no_rows,
)

ROTATED_AT_ONCE = 1 << 15
"""The number of fingerprints that stay in the processor's cache while they are rotated."""


def built(rows: Rows, removed: Rows, inputs: Sequence[Segment] = ()) -> Tables:
    """Return a segment of new entries and of those that count in other segments.

    Args:
        rows: The new entries, in any order; all are at most 2**32 - 1.
        removed: Entries of older segments that do not count any more.
        inputs: The other segments.

    Complexity: O(n log n), about 0.1 seconds a million.
    """
    if inputs:
        inputs = (*inputs, Segment(built(rows, no_rows())))
        rows = joined_rows([segment.rows() for segment in inputs])
    entries, repeated = sorted_rows(rows, "stable" if inputs else None)
    runs, distinct = np.zeros(0, np.uint32), entries.fingerprints
    if repeated:
        runs = run_starts(entries.fingerprints)
        distinct = entries.fingerprints[runs[:-1]]
    shape = Shape(len(distinct), len(entries.ids), len(removed.ids))
    tables = [_table(distinct)]
    tables += [_table(_rotated(distinct, block, inputs)) for block in range(1, BLOCKS)]
    max_id = int(entries.ids.max(initial=-1))
    return Tables(shape, max_id, entries.ids, runs, tuple(tables), removed)


def _rotated(distinct: Fingerprints, block: int, inputs: Sequence[Segment]) -> Fingerprints:
    """Return the fingerprints with the block first, ascending."""
    if not inputs or any(segment.dead for segment in inputs):
        values = np.empty_like(distinct)
        rotate(distinct, block, values)
        values.sort()
        return values
    # The stable sort merges what is sorted already, six times as fast.
    values = np.concatenate([segment.values(block) for segment in inputs])
    values.sort(kind="stable")
    if len(values) > len(distinct):
        values = values[np.append(values[:-1] != values[1:], values=True)]
    return values


def rotate(fingerprints: Fingerprints, block: int, out: Fingerprints) -> None:
    """Write the fingerprints with the block first."""
    left, right = np.uint64(16 * block & 63), np.uint64(-16 * block & 63)
    for start in range(0, len(fingerprints), ROTATED_AT_ONCE):
        part = fingerprints[start : start + ROTATED_AT_ONCE]
        out[start : start + ROTATED_AT_ONCE] = part << left | part >> right


def sorted_rows(rows: Rows, kind: Literal["stable"] | None = None) -> tuple[Rows, bool]:
    """Return a copy sorted by fingerprint, then by id; and whether fingerprints are repeated."""
    order = np.argsort(rows.fingerprints, kind=kind)
    entries = Rows(rows.fingerprints[order], rows.ids[order])
    equal = entries.fingerprints[1:] == entries.fingerprints[:-1]
    repeated = bool(equal.any())
    if repeated:
        _sort_ids_of_runs(entries, equal)
    return entries, repeated


def run_starts(fingerprints: Fingerprints) -> npt.NDArray[np.uint32]:
    """Return where the entries of each distinct one of sorted fingerprints start.

    Returns:
        uint32, (distinct + 1,); the last value is the number of entries.
    """
    changes = np.flatnonzero(fingerprints[1:] != fingerprints[:-1])
    starts = np.zeros(len(changes) + 2, np.uint32)
    starts[1:-1] = changes + 1
    starts[-1] = len(fingerprints)
    return starts


def _sort_ids_of_runs(rows: Rows, equal: npt.NDArray[np.bool_]) -> None:
    """Sort, in place, the ids of equal fingerprints; the fingerprints are sorted."""
    in_runs: npt.NDArray[np.bool_] = np.zeros(len(rows.ids), np.bool_)
    in_runs[1:] |= equal
    in_runs[:-1] |= equal
    places = np.flatnonzero(in_runs)
    order = np.lexsort((rows.ids[places], rows.fingerprints[places]))
    rows.ids[places] = rows.ids[places[order]]


def _table(values: Fingerprints) -> Table:
    """Return the table of sorted, rotated fingerprints."""
    count, bits = len(values), bucket_bits(len(values))
    high = np.zeros(count + SPARE_ROWS, np.uint32)
    low = np.zeros(count + SPARE_ROWS, np.uint16)
    # With "out" nothing as large as the values is made on the way.
    np.right_shift(values, np.uint64(BLOCK_BITS), out=high[:count], casting="unsafe")
    low[:count] = values
    keys = np.zeros(0 if bits == BLOCK_BITS else count, np.uint8)
    if len(keys):
        rest = np.uint64((1 << (BLOCK_BITS - bits)) - 1)
        keys[:] = values >> np.uint64(3 * BLOCK_BITS) & rest
    firsts = np.arange(1 << bits, dtype=np.uint64) << np.uint64(4 * BLOCK_BITS - bits)
    starts = np.append(values.searchsorted(firsts), count).astype(np.uint32)
    return Table(starts, high, low, keys)


RATIO = 4
"""A segment is left alone while it is at least this many times larger than all that follow it."""

MAX_MERGED = 1 << 20
"""The largest number of rows that adding merges into one segment, in 0.1 to 0.2 seconds.

A query takes 1 microsecond a segment: 24 of a million entries 23, and 3 of eight million entries 7.
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
        if not self._buffer.room_for(1):
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
