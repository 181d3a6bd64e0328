"""The merges under way: begun, brought forward and finished, while the index goes on."""

from collections.abc import Callable, Generator, Iterator, Sequence

import numpy as np

from neardup.indexes.arrays import Fingerprints, Rows
from neardup.indexes.columns import (
    BLOCKS,
    FIRST_TABLE,
    HIGH,
    IDS,
    KEYS,
    LOW,
    RUNS,
    STARTS,
    TABLE_COLUMNS,
    Shape,
    Tables,
    joined_rows,
    no_rows,
)
from neardup.indexes.merging import MergeSegment, next_merge, next_union
from neardup.indexes.search import Search
from neardup.indexes.segment import Places, Segment
from neardup.indexes.segment_streams import (
    Entries,
    Values,
    all_entries,
    all_values,
    entries_of,
    values_of,
)
from neardup.indexes.sink import Home, Sink, put_removed
from neardup.indexes.splitting import split


class Merge:
    """A merge under way: the segments answer on until it is finished.

    Args:
        inputs: Neighbours, the oldest first.
        oldest: Whether no segment is older, so that no removal must be remembered for one.
        open_sink: Makes the place to which a segment of some shape goes.

    Attributes:
        inputs: The same.
        removed_since: Entries that were deleted since the merge began: it may hold them still.
    """

    def __init__(
        self, inputs: Sequence[Segment], oldest: bool, open_sink: Callable[[Shape], Sink]
    ) -> None:
        self.inputs = tuple(inputs)
        self._sink: Sink | None = None
        self.removed_since: list[Rows] = []
        self._open_sink = open_sink
        removed = [segment.tables.removed for segment in inputs]
        self._removed = no_rows() if oldest else joined_rows(removed)
        self._entries = sum(segment.live for segment in inputs)
        self._dead = [segment.dead_places() for segment in inputs]
        self._dropped = [
            _without_entries(segment, dead)
            for segment, dead in zip(inputs, self._dead, strict=True)
        ]
        self._max_id = -1
        self._steps = self._run()

    def step(self, max_rows: int) -> int | None:
        """Merge at least ``max_rows`` further rows, or all that remain.

        Returns:
            The part of ``max_rows`` that the end of the merge left over, 0 or more; None: the merge
            is not at its end.

        Raises:
            OSError: The disk is full, or the like; the merge must be abandoned.
        """
        while max_rows > 0:
            rows = next(self._steps, None)
            if rows is None:
                return max_rows
            max_rows -= rows
        return None

    def abandon(self) -> None:
        """Leave nothing behind."""
        self._steps.close()
        if self._sink is not None:
            self._sink.abandon()

    def finished(self) -> Tables:
        """Let the merged segment count, in place of the inputs, and return it.

        Raises:
            OSError: The disk is full, or the like.
            StorageError: The index must be opened again.
        """
        assert self._sink is not None
        return self._sink.replace_inputs(self._max_id)

    def _run(self) -> Generator[int, None, None]:
        """Do the work; yield after each chunk how many rows it had."""
        rows = 0
        for (values,) in self._values(0):
            rows += len(values)
            yield len(values)
        shape = Shape(rows, self._entries, len(self._removed.ids))
        self._sink = sink = self._open_sink(shape)
        put_removed(sink, self._removed)
        yield len(self._removed.ids)
        yield from self._put_entries(sink, self._entries > rows)
        for block in range(BLOCKS):
            yield from self._put_table(sink, block, shape.bits)

    def _values(self, block: int) -> Iterator[Values]:
        inputs = zip(self.inputs, self._dropped, strict=True)
        return all_values([values_of(segment, block, dropped) for segment, dropped in inputs])

    def _all_entries(self) -> Iterator[Entries]:
        inputs = zip(self.inputs, self._dead, strict=True)
        return all_entries([entries_of(segment, dead) for segment, dead in inputs])

    def _put_entries(self, sink: Sink, repeated: bool) -> Generator[int, None, None]:
        count, last = 0, no_rows().fingerprints
        for fingerprints, ids in self._all_entries():
            if not len(ids):
                continue
            sink.put(IDS, ids)
            self._max_id = max(self._max_id, int(ids.max()))
            if repeated:
                before = last if len(last) else ~fingerprints[:1]
                heads = np.flatnonzero(np.diff(fingerprints, prepend=before))
                sink.put(RUNS, (heads + count).astype(np.uint32))
                last = fingerprints[-1:].copy()
            count += len(ids)
            yield len(ids)
        if repeated:
            sink.put(RUNS, np.array([count], np.uint32))

    def _put_table(self, sink: Sink, block: int, bits: int) -> Generator[int, None, None]:
        first = FIRST_TABLE + block * TABLE_COLUMNS
        starts = np.zeros((1 << bits) + 1, np.uint32)
        for (values,) in self._values(block):
            count = len(values)
            high, low = np.empty(count, np.uint32), np.empty(count, np.uint16)
            keys = np.empty(count if bits < 16 else 0, np.uint8)
            split(values, bits, high, low, keys, starts[1:])
            for column, part in ((HIGH, high), (LOW, low), (KEYS, keys)):
                sink.put(first + column, part)
            yield count
        sink.put(first + STARTS, np.cumsum(starts, dtype=np.uint32))


def _without_entries(segment: Segment, dead: Places) -> Fingerprints:
    """Return the fingerprints whose entries are all dead."""
    rows, deaths = np.unique(segment.rows_at(dead), return_counts=True)
    if len(segment.tables.runs):
        lengths = segment.tables.runs[rows + 1] - segment.tables.runs[rows]
        rows = rows[deaths == lengths]
    return segment.fingerprints_at(rows)


class Compaction:
    """Merges segments of an index in bounded steps.

    Merges have different neighbours in hand. The one of the newest and smallest goes first, so
    that new segments do not pile up behind a merge of a hundred million rows.

    Args:
        home: The home of the index.
        segments: The segments of the index, the oldest first; changed when a merge is finished.
        search: The search of the index.
    """

    def __init__(self, home: Home, segments: list[Segment], search: Search) -> None:
        self._home = home
        self._segments = segments
        self._search = search
        self._merges: list[Merge] = []

    def work(self, max_rows: int) -> None:
        """Merge what the policy asks for, about ``max_rows`` rows of it.

        Raises:
            OSError: The disk is full, or the like; the segments are as they were.
        """
        left: int | None = max_rows
        while left:
            free = self._free()
            due = next_merge(self._parts()[free:])
            if due is not None:
                self._begin(range(free + due.start, free + due.stop))
            if not self._merges:
                return
            left = self._advance(left)

    def unite(self, max_rows: int | None) -> bool:
        """Merge towards the fewest segments, without deleted entries; return whether it is done.

        Args:
            max_rows: The approximate number of rows to merge; None: all that there are.
        """
        left = max_rows
        while True:
            if not self._merges:
                due = next_union(self._parts())
                if due is None:
                    return True
                self._begin(due)
            if max_rows is None:
                self._advance(1 << 62)
                continue
            left = self._advance(left) if left else None
            if left is None:
                return False

    def removed(self, rows: Rows) -> None:
        """Hear that entries count no more."""
        for merge in self._merges:
            merge.removed_since.append(rows)

    def abandon(self) -> None:
        """Stop, and leave nothing behind."""
        while self._merges:
            self._merges.pop().abandon()

    def _free(self) -> int:
        """Return the first segment after those that a merge has in hand."""
        return self._segments.index(self._merges[-1].inputs[-1]) + 1 if self._merges else 0

    def _parts(self) -> list[MergeSegment]:
        return [
            MergeSegment(segment.live, segment.dead, len(segment.tables.removed.ids))
            for segment in self._segments
        ]

    def _begin(self, places: range) -> None:
        inputs = self._segments[places.start : places.stop]
        first = inputs[0]

        def open_sink(shape: Shape) -> Sink:
            return self._home.open_merge(self._segments.index(first), len(inputs), shape)

        self._merges.append(Merge(inputs, places.start == 0, open_sink))

    def _advance(self, max_rows: int) -> int | None:
        """Bring the newest merge forward; return what is left of ``max_rows``, None: nothing."""
        merge = self._merges[-1]
        try:
            left = merge.step(max_rows)
            if left is not None:
                self._finish(merge)
        except BaseException:
            if merge in self._merges:
                self._merges.remove(merge)
                merge.abandon()
            raise
        return left

    def _finish(self, merge: Merge) -> None:
        segment = Segment(merge.finished())
        for rows in merge.removed_since:
            segment.remove(rows)
        first = self._segments.index(merge.inputs[0])
        self._segments[first : first + len(merge.inputs)] = [segment]
        self._merges.remove(merge)
        self._search.look_into(self._segments)
        self._home.settle()
