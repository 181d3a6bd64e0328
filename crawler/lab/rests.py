"""Measure what near pages have in common outside the boilerplate of their hosts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from neardup.boilerplate import has_letter, has_shingle, rest_of, worded
from neardup.evaluation.column import Column
from neardup.evaluation.shingle_sets import ShingleSets

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from crawler.lab.crawl_source import Blocks, PageBoilerplate
    from crawler.lab.page_columns import PageColumns
    from crawler.lab.prepared import TextShelf, Watch
    from neardup.evaluation.near_arrays import Lists

    ReadBoilerplate = Callable[[], PageBoilerplate]

_PLACES_AT_ONCE = 1000
_GROWTH = 1.125
"""The boilerplate is read again when there are this many times the pages as when it was read."""

MIN_SIMILARITY = 0.5
"""The rests of less similar pages are not compared."""


class Rests:
    """The shares of their rests that near pairs have in common; grows behind the near lists.

    A share is that of ``neardup.boilerplate.RestComparison.shared_with``, by the boilerplate that
    the crawl has counted by now; 1.0 for pairs that are not compared.

    Memory: 8 bytes a pair, and 8 a shingle and a word of the rests of similar pages.

    Args:
        pages: The columns of all pages.
        shelf: The texts of the pages.
        read: The function that opens the boilerplate as it is now.
        shingle_size: The words of a shingle.
    """

    def __init__(
        self, pages: PageColumns, shelf: TextShelf, read: ReadBoilerplate, shingle_size: int
    ) -> None:
        self._pages = pages
        self._shelf = shelf
        self._read = read
        self._shingle_size = shingle_size
        self.begin()

    def begin(self) -> None:
        self._blocks = self._read()
        self._read_at, self._places = len(self._pages), 0
        self._numbers: dict[tuple[int, Blocks], int] = {}
        self._sets, self._sets_count = ShingleSets(self._shingle_size), 0
        self._words = ShingleSets(1)
        self._shares = Column(np.float64), Column(np.float64)

    def __len__(self) -> int:
        """Return the number of places whose pairs have a share."""
        return self._places

    @property
    def size_bytes(self) -> int:
        sets = self._sets.size_bytes + self._words.size_bytes
        return sets + sum(column.room.nbytes for column in self._shares)

    def shares(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the shares of the pairs of both lists, as views that ``catch_up`` may leave."""
        near, candidates = self._shares
        return near.values, candidates.values

    def catch_up(self, both: tuple[Lists, Lists], watch: Watch) -> None:
        """Compare the pairs that came since, or all where there are many more pages.

        Args:
            both: The near lists and the lists of candidates, of the same places.
            watch: Called with the share that is done, and with what is being done.
        """
        count = len(both[0].starts) - 1
        if len(self._pages) > _GROWTH * self._read_at:
            self.begin()
        for start in range(self._places, count, _PLACES_AT_ONCE):
            watch(start / count, f"boilerplate of {start:,} of {count:,} pages left aside")
            stop = min(count, start + _PLACES_AT_ONCE)
            try:
                found = [self._compared(lists, start, stop) for lists in both]
            except BaseException:
                # A text that cannot be read leaves sets half way.
                self.begin()
                raise
            for column, shares in zip(self._shares, found, strict=True):
                column.extend(shares)
            self._places = stop

    def _compared(self, lists: Lists, start: int, stop: int) -> NDArray[np.float64]:
        """Return the shares of the pairs of some places."""
        from neardup.evaluation import near_kernels  # noqa: PLC0415  (numba takes long)

        first, last = lists.starts[start], lists.starts[stop]
        shares = np.ones(last - first)
        similar = np.flatnonzero(lists.similarity[first:last] >= MIN_SIMILARITY)
        later = np.repeat(np.arange(start, stop), np.diff(lists.starts[start : stop + 1]))[similar]
        earlier = lists.earlier[first:last][similar].astype(np.int64)
        places, rows = np.unique(np.concatenate((later, earlier)), return_inverse=True)
        blocks = [self._blocks(self._pages.pages[place]) for place in places.tolist()]
        ours, theirs = rows.reshape(2, -1)
        are_known = np.array([known is not None for known in blocks], np.bool_)
        asked = are_known[ours] | are_known[theirs]
        numbers = self._load(
            places, blocks, np.unique(np.concatenate((ours[asked], theirs[asked])))
        )
        of_asked = np.empty(np.count_nonzero(asked))
        pairs = numbers[ours[asked]], numbers[theirs[asked]]
        sets, words = self._sets.arrays(), self._words.arrays()
        near_kernels.shared_shares(sets, *pairs, of_asked)
        # A rest that is shorter than a shingle is compared by its words.
        are_short = np.minimum(*(sets.sizes[each] for each in pairs)) < 0
        are_short &= np.minimum(*(words.sizes[each] for each in pairs)) > 0
        if are_short.any():
            short = pairs[0][are_short], pairs[1][are_short]
            of_short = np.empty(len(short[0]))
            near_kernels.shared_shares(words, *short, of_short)
            of_asked[are_short] = of_short
        shares[similar[asked]] = of_asked
        return shares

    def _load(
        self, places: NDArray[np.int64], blocks: list[Blocks], rows: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Return the numbers of the rests of places; those of some rows are to have sets."""
        texts = self._pages.columns().texts[places].astype(np.int64)
        numbers, missing = np.full(len(places), -1, np.int64), []
        for row in rows.tolist():
            key = int(texts[row]), blocks[row]
            numbers[row] = number = self._numbers.setdefault(key, len(self._numbers))
            if number == self._sets_count:
                self._sets_count += 1
                missing.append(row)
        self._sets.grow(self._sets_count)
        self._words.grow(self._sets_count)
        for row, text in zip(missing, self._shelf.read(texts[missing]), strict=True):
            number, rest = (
                int(numbers[row]),
                None if text is None else rest_of(text, blocks[row] or ()),
            )
            self._words.add(number, None if rest is None else worded(rest))
            self._sets.add(number, self._long(rest))
        return numbers

    def _long(self, rest: str | None) -> str | None:
        """Return a rest; None where it is shorter than a shingle, empty where it says nothing."""
        if rest is None or has_shingle(rest, self._shingle_size):
            return rest
        return None if has_letter(rest) else ""
