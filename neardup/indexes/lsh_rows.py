"""Rows of an index of signatures as its files keep them, and how signatures become such rows."""

from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from neardup.features.hashing import GOLDEN, Hashes, mix
from neardup.indexes.arrays import Ids, Signatures
from neardup.indexes.banding import Banding

Keys = npt.NDArray[np.uint32]
Sketches = npt.NDArray[np.uint64]

MAX_ROWS = 1 << 28
"""The largest number of rows of an index."""

VALUES_A_WORD = 16

_NIBBLE_SHIFT = np.uint64(60)
"""The upper four bits of a value times ``GOLDEN`` stand in a sketch."""

_KEY_SHIFT = np.uint64(32)
_NIBBLE_PLACES = np.arange(0, 4 * VALUES_A_WORD, 4, dtype=np.uint64)
_ONE = np.uint64(1)


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
    factors[:used] |= _ONE
    factors.flags.writeable = False
    return factors


def keys_of(signatures: Signatures, shape: Banding) -> Keys:
    """Return the keys of all bands of signatures, as the compiled loops make them.

    Args:
        signatures: uint32, (signatures, permutations).
        shape: The bands, and the values of each.

    Returns:
        uint32, (signatures, bands).

    Reference: Dietzfelbinger, STACS 1996.
    """
    factors, used = factors_of(shape), shape.bands * shape.rows
    products = signatures[:, :used].astype(np.uint64) * factors[:used]
    totals = products.reshape(len(signatures), *shape).sum(axis=2) + factors[used:]
    keys: Keys = (totals >> _KEY_SHIFT).astype(np.uint32)
    return keys


def sketches_of(signatures: Signatures) -> Sketches:
    """Return four bits of each value, those of sixteen values in a word, as the compiled loops do.

    Args:
        signatures: uint32, (signatures, permutations).

    Returns:
        uint64, (signatures, words).
    """
    count, permutations = signatures.shape
    words = words_of(permutations)
    bits = np.zeros((count, words * VALUES_A_WORD), np.uint64)
    bits[:, :permutations] = signatures.astype(np.uint64) * GOLDEN >> _NIBBLE_SHIFT
    places = bits.reshape(count, words, VALUES_A_WORD) << _NIBBLE_PLACES
    sketches: Sketches = np.bitwise_or.reduce(places, axis=2)
    return sketches


def words_of(permutations: int) -> int:
    """Return the 64-bit words of a sketch."""
    return -(-permutations // VALUES_A_WORD)


def nothing_alike(permutations: int) -> int:
    """Return the number of unequal values from which on a similarity of 0 is estimated."""
    return -(-15 * permutations // 16)
