"""Find for each text the earlier ones that share a band of their MinHash signatures."""

import numpy as np
from numpy.typing import NDArray

from neardup.evaluation.column import Column, column_bytes
from neardup.evaluation.near_arrays import NONE, Lists, Members
from neardup.evaluation.shingle_sets import Load
from neardup.indexes.lsh import LshIndex

_MIN_SIMILARITY = 0.5
_MAX_COUNT = 128
"""The largest number of texts in a list: by the estimate, the most similar ones."""


class MinHashLists:
    """Grows with a crawl; lists hold the most similar text first, then the earliest.

    Pairs of a similarity of one half are found with a chance of .95, more similar ones with a
    greater one, and of a text that more than 128 resemble, those that seem the most similar.

    Memory: 13 bytes a pair, some 310 a text for the index, 30 bytes a place.
    """

    def __init__(self) -> None:
        self._index = LshIndex(_MIN_SIMILARITY)
        self._texts, self._classes = Column(np.int32), Column(np.int32)
        self._first_of_text, self._starts = Column(np.int32), Column(np.int64)
        self._earlier, self._similarity = Column(np.int32), Column(np.float64)
        self._starts.extend([0])

    def __len__(self) -> int:
        return self._classes.count

    @property
    def size_bytes(self) -> int:
        return self._index.size_bytes + column_bytes(self)

    def lists(self) -> Lists:
        """Return all lists; no distance is known, and none is cut."""
        return Lists(
            self._starts.values,
            np.zeros(len(self), np.bool_),
            self._earlier.values,
            np.zeros(self._earlier.count, np.uint8),
            self._similarity.values,
        )

    def members(self) -> Members:
        """Return the places by text; all that have a signature are of one class."""
        return Members(
            self._texts.values,
            self._classes.values,
            np.full(len(self), -1, np.int32),
            np.full(len(self), -1.0),
            self._first_of_text.values,
            np.full(1, NONE, np.int32),
            np.full(len(self), NONE, np.int32),
        )

    def extend(
        self, numbers: NDArray[np.int32], signatures: NDArray[np.uint32], texts: int, load: Load
    ) -> None:
        """Take more places.

        Args:
            numbers: int32, (new,): of the texts of the next places; below 0 where the place has no
                signature.
            signatures: uint32, (those that have one, 128), in the same order.
            texts: The number of texts by now.
            load: As for ``NearLists.extend``.
        """
        first = len(self)
        has_one = numbers >= 0
        places = np.flatnonzero(has_one) + first
        self._texts.extend(numbers)
        self._classes.extend(np.where(has_one, 0, -1))
        self._first_of_text.fill(texts, NONE)
        firsts = self._first_of_text.values
        # Of equal ones in one call the first counts: the smallest place.
        np.minimum.at(firsts, numbers[has_one], places.astype(np.int32))
        is_first = firsts[numbers[has_one]] == places
        self._index.add_many(signatures[is_first], places[is_first])
        found = self._index.query_many(signatures, limit=_MAX_COUNT)
        self._list(first, places[found.positions], found.ids, load)

    def _list(
        self, first: int, later: NDArray[np.int64], earlier: NDArray[np.int64], load: Load
    ) -> None:
        from neardup.evaluation import near_kernels  # noqa: PLC0415  (numba takes long)

        texts = self._texts.values.astype(np.int64)
        are_pairs = (earlier < later) & (texts[earlier] != texts[later])
        later, earlier = later[are_pairs], earlier[are_pairs]
        ours, theirs = texts[later], texts[earlier]
        sets = load(np.concatenate((ours, theirs)))
        similarity = near_kernels.similarities(sets, ours, theirs)
        order = np.lexsort((earlier, -similarity, later))
        ends = np.searchsorted(later[order], np.arange(first, len(self)), side="right")
        self._starts.extend(ends + self._earlier.count)
        self._earlier.extend(earlier[order])
        self._similarity.extend(similarity[order])
