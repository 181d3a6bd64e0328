"""Counts in how many documents each feature occurs, in memory that has a bound."""

import numpy as np
from numpy.typing import NDArray

from neardup.features.hashing import Hashes
from neardup.features.idf_file import Frequencies

_WAITING = 1 << 20


class DocumentCounter:
    """Document frequencies of a stream: exact until there are too many features, then close.

    Lossy counting, with a bound that is raised only when the table is full and not at every step:
    beside its count, a feature has the number of documents in which it may have been dropped
    before. When more than ``max_features`` are held, the bound is raised to the least number at
    which dropping every feature whose both numbers sum to no more makes room. So a count is never
    above the true frequency, and never more than ``max_undercount`` below it; a feature that is not
    held occurred in at most ``max_undercount`` documents.

    Args:
        max_features: The largest number of features held between two merges, 1 or more.

    Memory: 24 bytes a feature held, 8 for each that waits to be merged: as many as are held, at
    least a million; twice that during a merge.

    Complexity: amortized O(log n) a feature of a document.
    Reference: Manku, Motwani, Approximate frequency counts over data streams, VLDB 2002,
    section 4.2.
    """

    def __init__(self, max_features: int) -> None:
        self.documents = 0
        self.max_undercount = 0
        self._max_features = max_features
        self._hashes: Hashes = np.empty(0, np.uint64)
        self._counts: Frequencies = np.empty(0, np.int64)
        self._dropped: Frequencies = np.empty(0, np.int64)
        self._waiting: Hashes = np.empty(_WAITING, np.uint64)
        self._filled = 0

    def add(self, features: Hashes) -> None:
        """Count a document.

        Args:
            features: uint64, (distinct features,), in any order.
        """
        self.documents += 1
        end = self._filled + len(features)
        if end > len(self._waiting):
            self._merge()
            end = len(features)
            room = max(_WAITING, len(self._hashes), end)
            self._waiting = np.empty(room, np.uint64)
        self._waiting[self._filled : end] = features
        self._filled = end

    def counts(self) -> tuple[Hashes, Frequencies]:
        """Return the features that are held, ascending, and the documents that hold each."""
        self._merge()
        return self._hashes, self._counts

    def _merge(self) -> None:
        new, counts = np.unique(self._waiting[: self._filled], return_counts=True)
        self._filled = 0
        places, known = find(self._hashes, new)
        self._counts[places[known]] += counts[known]
        added = ~known
        self._hashes = np.concatenate((self._hashes, new[added]))
        self._counts = np.concatenate((self._counts, counts[added]))
        unseen = np.full(len(self._hashes) - len(self._dropped), self.max_undercount)
        self._dropped = np.concatenate((self._dropped, unseen))
        # Two ascending runs: a stable sort merges them in one pass.
        self._keep(np.argsort(self._hashes, kind="stable"))
        if len(self._hashes) > self._max_features:
            self._drop_rare()

    def _drop_rare(self) -> None:
        at_most = self._counts + self._dropped
        excess = len(at_most) - self._max_features
        self.max_undercount = int(np.partition(at_most, excess - 1)[excess - 1])
        self._keep(np.flatnonzero(at_most > self.max_undercount))

    def _keep(self, rows: NDArray[np.intp]) -> None:
        self._hashes = self._hashes[rows]
        self._counts = self._counts[rows]
        self._dropped = self._dropped[rows]


def find(stored: Hashes, asked: Hashes) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Return the place of each value asked for, and whether it is there.

    Args:
        stored: uint64, (features,), ascending and distinct.
        asked: uint64, (asked,); fastest where they ascend.

    Returns:
        intp and bool, (asked,); places of values that are not held say nothing.

    Complexity: O(asked * log features).
    """
    if not len(stored):
        return np.zeros(len(asked), np.intp), np.zeros(len(asked), np.bool_)
    places = np.minimum(np.searchsorted(stored, asked), len(stored) - 1)
    return places, stored[places] == asked
