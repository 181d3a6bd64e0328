"""The names of texts by numbers, and which of them tell that two texts are different things."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from neardup.names import Name, difference, unpacked


class NameTable:
    """Each name once, by a number; 0 is that of a name that says nothing."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {"": 0}
        self._names: list[Name] = [unpacked("")]

    def numbers(self, packed: Sequence[str]) -> NDArray[np.int32]:
        """Return the numbers of names that ``Name.packed`` returned; new ones get one."""
        found = np.empty(len(packed), np.int32)
        for place, line in enumerate(packed):
            found[place] = number = self._numbers.setdefault(line, len(self._names))
            if number == len(self._names):
                self._names.append(unpacked(line))
        return found

    def differ(self, ones: NDArray[np.int32], others: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Return which pairs of names tell of different things, as ``difference`` has it.

        Args:
            ones: int32, (pairs,): the names of the texts that come first.
            others: int32, (pairs,): the names of those that are judged.

        Complexity: O(pairs), and a comparison for each distinct pair of names.
        """
        is_other = np.zeros(len(ones), np.bool_)
        asked = np.flatnonzero((ones != others) & (ones > 0) & (others > 0))
        keys = ones[asked].astype(np.int64) << 32 | others[asked]
        distinct, places = np.unique(keys, return_inverse=True)
        names = self._names
        found = [bool(difference(names[key & 0xFFFFFFFF], names[key >> 32])) for key in distinct]
        is_other[asked] = np.array(found, np.bool_)[places]
        return is_other
