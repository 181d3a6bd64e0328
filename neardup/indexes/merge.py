"""Several segments become one, a bounded number of rows at a time."""

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
from neardup.indexes.segment import Places, Segment
from neardup.indexes.segment_streams import (
    Entries,
    Values,
    all_entries,
    all_values,
    entries_of,
    values_of,
)
from neardup.indexes.sink import Sink, put_removed
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
        """Go on for at least so many rows, or to the end.

        Returns:
            How many rows remain of ``max_rows``, 0 or more; None: the merge goes on.

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
    """Return the fingerprints of which all entries are dead."""
    rows, deaths = np.unique(segment.rows_at(dead), return_counts=True)
    if len(segment.tables.runs):
        lengths = segment.tables.runs[rows + 1] - segment.tables.runs[rows]
        rows = rows[deaths == lengths]
    return segment.fingerprints_at(rows)
