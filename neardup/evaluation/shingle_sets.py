"""Shingle sets of many texts in one piece of memory, so that compiled loops compare them."""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from neardup.evaluation.column import Column, column_bytes
from neardup.features.shingles import shingle_set
from neardup.whole import split_whole

NOT_ASKED, NOT_STORED = -2, -1
"""These stand for the size of a set that is missing: not asked for, or of a text not stored."""


class SetArrays(NamedTuple):
    """Sets by the numbers of their texts.

    Attributes:
        hashes: uint64, all sets one behind the other, each ascending.
        starts: int64, (texts,).
        sizes: int32, (texts,): below 0, where there is no set.
        whole_starts: int64, (texts,): of the wholes that texts were taken from.
        whole_sizes: int32, (texts,): below 0, where a text is its own whole.
    """

    hashes: NDArray[np.uint64]
    starts: NDArray[np.int64]
    sizes: NDArray[np.int32]
    whole_starts: NDArray[np.int64]
    whole_sizes: NDArray[np.int32]


Load: TypeAlias = Callable[[NDArray[np.int64]], SetArrays]
"""A function that takes the numbers of texts to compare from now on and returns all sets."""


class ShingleSets:
    """The sets of those texts that have something near, 8 bytes a shingle."""

    def __init__(self, shingle_size: int) -> None:
        self._shingle_size = shingle_size
        self._hashes = Column(np.uint64)
        self._starts, self._sizes = Column(np.int64), Column(np.int32)
        self._whole_starts, self._whole_sizes = Column(np.int64), Column(np.int32)

    @property
    def size_bytes(self) -> int:
        return column_bytes(self)

    def arrays(self) -> SetArrays:
        """Return all sets, as views that the next ``add`` may leave behind."""
        columns = (self._hashes, self._starts, self._sizes, self._whole_starts, self._whole_sizes)
        return SetArrays._make(column.values for column in columns)

    def grow(self, texts: int) -> None:
        """Make room for ``texts`` texts; new ones have no set."""
        self._starts.fill(texts, 0)
        self._sizes.fill(texts, NOT_ASKED)
        self._whole_starts.fill(texts, 0)
        self._whole_sizes.fill(texts, NOT_STORED)

    def missing(self, texts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return those of some texts that were never added, ascending."""
        wanted = np.unique(texts)
        missing: NDArray[np.int64] = wanted[self._sizes.values[wanted] == NOT_ASKED]
        return missing

    def add(self, number: int, text: str | None) -> None:
        """Hold the set of a text; None: the text is not held, and so has none."""
        if text is None:
            self._sizes.values[number] = NOT_STORED
            return
        part, whole = split_whole(text)
        self._put(number, part, self._starts, self._sizes)
        if whole is not part:
            self._put(number, whole, self._whole_starts, self._whole_sizes)

    def _put(
        self, number: int, text: str, starts: Column[np.int64], sizes: Column[np.int32]
    ) -> None:
        hashes = shingle_set(text, size=self._shingle_size)
        starts.values[number] = self._hashes.count
        sizes.values[number] = len(hashes)
        self._hashes.extend(hashes)
