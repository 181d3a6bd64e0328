"""Find the tables and lists of a page that are content as a whole or not at all.

Some tables and lists are none of these: those that lay out a page, and those of records with much
beside their text, such as posts with the names of their authors and buttons.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from crawler.reading.content.blocks import PageBlocks

Column = Any  # a numpy array with one value for each block

_UNIT, _ITEM, _LAYING_OUT = 1, 2, 4
_KINDS = {
    **dict.fromkeys(("ul", "ol", "dl"), _UNIT),
    **dict.fromkeys(("li", "dt", "dd", "td", "th"), _ITEM),
    **dict.fromkeys("h1 h2 h3 h4 h5 h6 form article section".split(), _LAYING_OUT),
    "table": _UNIT | _LAYING_OUT,
}
_CELLS = frozenset(["td", "th"])

# Posts and cards have more blocks for each of their items and cells.
_MAX_BLOCKS_AN_ITEM = 1.5
# A table of records has rows of several kinds; so many of the rows of others have as many cells.
_MIN_EQUAL_ROWS = 0.7


def block_units(blocks: PageBlocks) -> Column:
    """Return the number of the table or list that each block stands in, int64, (blocks,).

    It is the index of the outermost container that is whole or absent; 0 where there is none.

    Complexity: O(containers).
    """
    tags, ends = blocks.tags, blocks.ends
    homes = np.array(blocks.homes, np.int64)
    units = np.zeros(len(tags), np.int64)
    kinds = np.array([_KINDS.get(tag, 0) for tag in tags])
    found = np.flatnonzero(kinds & _UNIT).tolist()
    if found:
        texts = _sums_before(np.bincount(homes, minlength=len(tags)))
        items, layout = (_sums_before(kinds & kind > 0) for kind in (_ITEM, _LAYING_OUT))
        covered = 0
        for at in found:
            end = ends[at]
            if at < covered or layout[end] > layout[at + 1]:
                continue
            if texts[end] - texts[at] > _MAX_BLOCKS_AN_ITEM * (items[end] - items[at]) + 1:
                continue
            if tags[at] == "table" and not _has_equal_rows(blocks, at, end):
                continue
            units[at:end] = at
            covered = end
    return units[homes]


def _has_equal_rows(blocks: PageBlocks, at: int, end: int) -> bool:
    """Return whether the rows of a table have several cells, and most of them as many."""
    tags, parents = blocks.tags, blocks.parents
    cells = Counter(parents[cell] for cell in range(at, end) if tags[cell] in _CELLS)
    (size, rows), *_ = Counter(cells.values()).most_common(1) or [(0, 0)]
    return size > 1 and rows >= _MIN_EQUAL_ROWS * len(cells)


def _sums_before(counts: Column) -> list[int]:
    """Return the sums of what is before each container, and of all."""
    sums: list[int] = [0, *np.cumsum(counts).tolist()]
    return sums
