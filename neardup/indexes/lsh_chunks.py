"""Memory that grows by pieces, none of which ever moves."""

import numpy as np
import numpy.typing as npt

_ALIGNED_WORDS = 8
"""A cache line, so that what is as long as one never lies in two."""

_WORD_BYTES = 8


class Chunks:
    """Pieces of zeros, listed by their addresses for the compiled loops.

    Args:
        items: How many a piece has.
        words: 64-bit words of an item.
        most: Items that there may ever be.
    """

    def __init__(self, items: int, words: int, most: int) -> None:
        self._items, self._words = items, words
        self._pieces: list[npt.NDArray[np.uint64]] = []
        self._addresses = np.zeros(-(-most // items), np.int64)

    def __getitem__(self, number: int) -> npt.NDArray[np.uint64]:
        """Return a piece: uint64, (items * words,)."""
        return self._pieces[number]

    @property
    def address(self) -> int:
        """Of the list of addresses."""
        return int(self._addresses.ctypes.data)

    def provide(self, items: int) -> None:
        """Have so many items at least; memory is taken only where something is written to it."""
        while len(self._pieces) * self._items < items:
            size = self._items * self._words
            room = np.zeros(size + _ALIGNED_WORDS, np.uint64)
            start = -(room.ctypes.data // _WORD_BYTES) % _ALIGNED_WORDS
            piece = room[start : start + size]
            self._addresses[len(self._pieces)] = piece.ctypes.data
            self._pieces.append(piece)

    def clear(self) -> None:
        """Let go of all pieces."""
        self._pieces.clear()
