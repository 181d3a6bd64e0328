"""Rows of an index of signatures as its files keep them, and numbers that loops make them with."""

from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from neardup.features.hashing import GOLDEN, Hashes, mix
from neardup.indexes.arrays import Ids
from neardup.indexes.banding import Banding

Keys = npt.NDArray[np.uint32]
Sketches = npt.NDArray[np.uint64]

MAX_ROWS = 1 << 28
"""The largest number of rows of an index."""


class StoredRows(NamedTuple):
    """Rows as the files keep them.

    Attributes:
        ids: int64, (rows,).
        keys: uint32, (rows, bands).
        sketches: uint64, (rows, words).
    """

    ids: Ids
    keys: Keys
    sketches: Sketches


@cache
def factors_of(shape: Banding) -> Hashes:
    """Return an odd factor for each value of all bands, then a summand for each band."""
    used = shape.bands * shape.rows
    factors: Hashes = mix(np.arange(1, used + shape.bands + 1, dtype=np.uint64) * GOLDEN)
    factors[:used] |= np.uint64(1)
    factors.flags.writeable = False
    return factors


def words_of(permutations: int) -> int:
    """Return the 64-bit words of a sketch, which has four bits of each value."""
    return -(-permutations // 16)


def nothing_alike(permutations: int) -> int:
    """Return the number of unequal values from which on a similarity of 0 is estimated."""
    return -(-15 * permutations // 16)
