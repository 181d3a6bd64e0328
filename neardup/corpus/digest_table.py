"""The first document of each digest, in some 32 bytes each."""

import numpy as np
from numpy.typing import NDArray

from neardup.fingerprints.digest import DIGEST_BYTES
from neardup.indexes.arrays import Ids

NONE = -1

_Words = NDArray[np.uint64]

_RUNS_PER_SIZE = 4


class DigestTable:
    """Finds ids by digests of 16 bytes, many at a time.

    Sorted runs; a run is merged with those before it that are no longer than four times itself, so
    that there are O(log n) runs. An entry takes 24 bytes, twice as many while runs are merged.
    """

    def __init__(self) -> None:
        self._runs: list[tuple[_Words, _Words, Ids]] = []

    def __len__(self) -> int:
        return sum(len(ids) for _, _, ids in self._runs)

    def find(self, digests: bytes) -> Ids:
        """Return the id of each digest, ``NONE`` where there is none: int64, (digests,).

        Args:
            digests: The digests, one behind the other.

        Complexity: O(digests * log n) for each of O(log n) runs.
        """
        high, low = _words(digests)
        found = np.full(len(high), NONE, np.int64)
        for highs, lows, ids in self._runs:
            places = np.searchsorted(highs, high)
            open_ones = np.arange(len(high))
            # Digests of equal first halves lie side by side; hardly ever there is more than one.
            while True:
                is_inside = places < len(highs)
                open_ones, places = open_ones[is_inside], places[is_inside]
                is_half = highs[places] == high[open_ones]
                open_ones, places = open_ones[is_half], places[is_half]
                if not len(places):
                    break
                is_equal = lows[places] == low[open_ones]
                found[open_ones[is_equal]] = ids[places[is_equal]]
                open_ones, places = open_ones[~is_equal], places[~is_equal] + 1
        return found

    def add(self, digests: bytes, ids: Ids) -> None:
        """Hold digests that are not held, each with its id."""
        if not len(ids):
            return
        run = _sorted((*_words(digests), ids))
        while self._runs and len(self._runs[-1][2]) <= _RUNS_PER_SIZE * len(run[2]):
            before = self._runs.pop()
            run = _sorted(
                (
                    np.concatenate([before[0], run[0]]),
                    np.concatenate([before[1], run[1]]),
                    np.concatenate([before[2], run[2]]),
                )
            )
        self._runs.append(run)


def _words(digests: bytes) -> tuple[_Words, _Words]:
    words = np.frombuffer(digests, np.uint64).reshape(-1, DIGEST_BYTES // 8)
    return words[:, 0], words[:, 1]


def _sorted(run: tuple[_Words, _Words, Ids]) -> tuple[_Words, _Words, Ids]:
    order = np.argsort(run[0], kind="stable")
    return run[0][order], run[1][order], run[2][order]
