"""When do segments become one? Answered from their sizes alone."""

from collections.abc import Sequence
from typing import NamedTuple

from neardup.indexes.columns import MAX_ENTRIES

RATIO = 4
"""A segment is left alone while it is at least this many times larger than what follows it."""

WORK = 128
"""For each new entry or removal at most this many rows are merged, at 10 ns each.

A merge counts each of its entries, sorts its id in and sorts it into four tables, which is six rows
of work. A hundred million entries, added one by one, are 9 segments on the average, 19 at times,
with half of this.
"""


class MergeSegment(NamedTuple):
    """A segment as the policy sees it.

    Attributes:
        live: Entries that count.
        dead: Entries that were deleted.
        removed: Entries of older segments that were deleted, which it names.
    """

    live: int
    dead: int
    removed: int


def first_to_merge(sizes: Sequence[int], fresh: int) -> int:
    """Return the first of the segments that join ``fresh`` new rows; len(sizes): none does.

    Afterwards each segment has at least RATIO times the rows of its successor: a query looks at
    O(log n) segments, and a row is written again O(log n) times.

    Args:
        sizes: The rows of each segment, the oldest first.
        fresh: New rows.
    """
    first, total = len(sizes), fresh
    while first and sizes[first - 1] < RATIO * total:
        first -= 1
        total += sizes[first]
    return first


def next_merge(parts: Sequence[MergeSegment]) -> range | None:
    """Return which neighbours become one next; None: none need to.

    Args:
        parts: The segments, the oldest first, that no merge under way has in hand.
    """
    if not parts:
        return None
    # A segment of removals alone is a segment to look after as well.
    sizes = [part.live + part.removed for part in parts]
    last = len(sizes) - 1
    first = first_to_merge(sizes[:last], sizes[last])
    while sum(part.live for part in parts[first:]) > MAX_ENTRIES:
        first += 1
    if first < last:
        return range(first, len(parts))
    # What is mostly deleted is rewritten without that.
    mostly_dead = (place for place, part in enumerate(parts) if part.dead > part.live)
    return next((range(place, place + 1) for place in mostly_dead), None)


def next_union(parts: Sequence[MergeSegment]) -> range | None:
    """Return which neighbours become one next, so that none is left that could; None: none could.

    Args:
        parts: All segments, the oldest first.
    """
    first = 0
    while first < len(parts):
        last, live = first + 1, parts[first].live
        while last < len(parts) and live + parts[last].live <= MAX_ENTRIES:
            live += parts[last].live
            last += 1
        # What the oldest segment removes is nowhere.
        superfluous = parts[first].dead or (first == 0 and parts[first].removed)
        if last - first > 1 or superfluous:
            return range(first, last)
        first = last
    return None
