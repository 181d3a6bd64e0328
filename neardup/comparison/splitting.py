"""Where a longest common subsequence may be cut in two."""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

# Words that stand in a text more often have their bits kept: 80 MB at most for 100,000 words.
_FREQUENT = 16


def best_split(first: Sequence[int], second: Sequence[int]) -> tuple[int, int]:
    """Return places in both at which a longest common subsequence can be cut.

    Complexity: O(n * m / 64) in time: two texts of 100,000 words take a second.
    Reference: Hirschberg, A linear space algorithm for computing maximal common subsequences,
    CACM 1975.
    """
    half = len(first) // 2
    ahead = _lengths(first[:half], second)
    behind = _lengths(first[half:][::-1], second[::-1])[::-1]
    return half, int(np.argmax(ahead + behind))


def _lengths(first: Sequence[int], second: Sequence[int]) -> NDArray[np.int64]:
    """Return the length of the LCS of ``first`` with each beginning of ``second``.

    A row of the table of dynamic programming is one integer: a zero at bit j says that the length
    grows by one there.

    Returns:
        int64, (len(second) + 1,).

    Reference: Hyyro, Bit-parallel LCS-length computation revisited, 2004, figure 4.
    """
    masks = _Masks(second)
    row = everything = (1 << len(second)) - 1
    for word in first:
        found = row & masks.of(word)
        if found:
            row = (row + found | row ^ found) & everything
    packed = np.frombuffer(row.to_bytes(len(second) // 8 + 1, "little"), np.uint8)
    bits = np.unpackbits(packed, count=len(second), bitorder="little")
    return np.concatenate(([0], np.cumsum(1 - bits.astype(np.int64))))


class _Masks:
    """For each word an integer with a bit set wherever it stands."""

    def __init__(self, words: Sequence[int]) -> None:
        self._places: defaultdict[int, list[int]] = defaultdict(list)
        for place, word in enumerate(words):
            self._places[word].append(place)
        self._size = len(words) // 8 + 1
        self._kept: dict[int, int] = {}

    def of(self, word: int) -> int:
        """Return the bits of a word, 0 where it does not occur."""
        kept = self._kept.get(word)
        if kept is not None:
            return kept
        places = self._places.get(word)
        if places is None:
            return 0
        if len(places) <= _FREQUENT:
            return sum(1 << place for place in places)
        bits = bytearray(self._size)
        for place in places:
            bits[place >> 3] |= 1 << (place & 7)
        self._kept[word] = int.from_bytes(bits, "little")
        return self._kept[word]
