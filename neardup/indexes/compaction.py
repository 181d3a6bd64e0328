"""The merges under way: begun, brought forward and finished, while the index goes on."""

from neardup.indexes.arrays import Rows
from neardup.indexes.columns import Shape
from neardup.indexes.home import Home
from neardup.indexes.merge import Merge
from neardup.indexes.merging import Part, next_merge, next_union
from neardup.indexes.search import Search
from neardup.indexes.segment import Segment
from neardup.indexes.sink import Sink


class Compaction:
    """Merges segments of an index in bounded steps.

    Merges have different neighbours in hand. The one of the newest and smallest goes first, so
    that new segments do not pile up behind a merge of a hundred million rows.

    Args:
        home: Of the index.
        segments: Of the index, the oldest first; changed when a merge is finished.
        search: Of the index.
    """

    def __init__(self, home: Home, segments: list[Segment], search: Search) -> None:
        self._home = home
        self._segments = segments
        self._search = search
        self._merges: list[Merge] = []

    def work(self, max_rows: int) -> None:
        """Do what the policy asks for, about so many rows of it.

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
        """Work towards the fewest segments, without deleted entries; return whether they are there.

        Args:
            max_rows: About so many rows of work; None: all of it.
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

    def _parts(self) -> list[Part]:
        return [
            Part(segment.live, segment.dead, len(segment.tables.removed.ids))
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
