"""Shingles under a hash with secret keys, and the similarity of sets of such hashes.

Arithmetic is that of the field of integers modulo 2**61 - 1. A word is a polynomial of one key
whose coefficients are its bytes, seven at a time; a shingle is a polynomial of the other key whose
coefficients are its words. Two polynomials that differ have the same value at no more keys than
their degree, so the author of a text cannot choose words that collide, whatever he knows but the
keys (Carter and Wegman, Universal classes of hash functions, 1979; Dietzfelbinger and others,
Polynomial hash functions are reliable, 1992).
"""

import numpy as np
from numba import types
from numpy.typing import NDArray

from neardup.compiled import compiled
from neardup.features.hashing import FIRST
from neardup.features.unit_kernels import HASHES, U64
from neardup.instructions import high_half, part

FIELD = (1 << 61) - 1
"""The prime number modulo which keys and hashes are calculated."""

_FIELD = U64(FIELD)
_BITS, _ABOVE = U64(61), U64(3)
_SEVEN_BYTES = U64(0x00FFFFFFFFFFFFFF)
_FREE = U64(0)


@part
def _sum(first: np.uint64, second: np.uint64) -> np.uint64:
    """Return the sum of two numbers below the prime number, modulo it."""
    value = first + second
    return value - _FIELD if value >= _FIELD else value


@part
def _product(first: np.uint64, second: np.uint64) -> np.uint64:
    """Return the product of two numbers below the prime number, modulo it."""
    low = first * second
    # 2**61 is 1 modulo 2**61 - 1, so what lies above 61 bits is added to them.
    return _sum(low & _FIELD, (high_half(first, second) << _ABOVE) | (low >> _BITS))


@part
def _word_hash(
    lowered: NDArray[np.uint64], start: np.uint64, end: np.uint64, key: np.uint64
) -> np.uint64:
    """Return the value of a word's polynomial; words of at most seven bytes are themselves.

    No word holds a NUL, so the first coefficient is not 0, and words of other lengths differ too.
    """
    value = U64(0)
    while start < end:
        place, shift = start >> U64(3), (start & U64(7)) << U64(3)
        eight = lowered[place] >> shift
        # By two shifts, since one of 64 bits is none.
        eight |= (lowered[place + U64(1)] << U64(1)) << (U64(63) - shift)
        taken = min(end - start, U64(7))
        eight &= _SEVEN_BYTES >> (U64(56) - (taken << U64(3)))
        value = _sum(_product(value, key), eight)
        start += U64(7)
    return value


@compiled(types.int64(HASHES, HASHES, HASHES, types.int64, types.uint64, types.uint64))
def hash_shingles(
    lowered: NDArray[np.uint64],
    bounds: NDArray[np.uint64],
    hashes: NDArray[np.uint64],
    size: int,
    word_key: int,
    shingle_key: int,
) -> int:
    """Write the hashes of all shingles of a text, in order, each as often as it occurs.

    Args:
        lowered: The text, as ``neardup.features.shingles.words_in`` returns it.
        bounds: The bounds of its words, as well.
        hashes: uint64, (words,): takes the hashes, 1 to ``FIELD``.
        size: Words of a shingle. A text of fewer is one shingle; a text of none has none.
        word_key: A secret number, 1 to ``FIELD`` - 1.
        shingle_key: Another one.

    Returns:
        The number of shingles.

    Complexity: O(bytes): two multiplications a shingle, whatever the size.
    """
    words = len(hashes)
    if words == 0:
        return 0
    taken = min(words, size)
    above = value = U64(0)
    for word in range(words):
        entering = _word_hash(lowered, bounds[2 * word], bounds[2 * word + 1], U64(word_key))
        if word < taken:
            above = _product(above, U64(shingle_key)) if word else U64(shingle_key)
        else:
            first = word - taken
            leaving = _product(above, hashes[first])
            hashes[first] = value + U64(1)
            value = _sum(value, _FIELD - leaving)
        hashes[word] = entering
        # Multiplied by the key once more than need be, so that one word is not its own hash.
        value = _product(_sum(value, entering), U64(shingle_key))
    hashes[words - taken] = value + U64(1)
    return words - taken + 1


@part
def _slot(table: NDArray[np.uint64], value: np.uint64, shift: int) -> np.uint64:
    """Return the slot that holds a value, or the free one that it is to take."""
    last = U64(len(table) - 1)
    slot = (value * FIRST) >> U64(shift)
    while table[slot] != _FREE and table[slot] != value:
        slot = (slot + U64(1)) & last
    return slot


@compiled(types.int64(HASHES, HASHES, types.int64))
def fill_table(hashes: NDArray[np.uint64], table: NDArray[np.uint64], shift: int) -> int:
    """Put hashes into a table, move the distinct ones to the front, and return how many.

    Args:
        hashes: uint64, none of them 0, in any order; they stay in the order of their first
            appearances.
        table: uint64, zeros, (2 ** (64 - shift),), at least twice as many as hashes: takes them by
            open addressing, and stays 0 where a slot is free.
        shift: How far a product of 64 bits is shifted to be the place of a slot.

    Complexity: O(hashes) on average.
    """
    found = 0
    for value in hashes:
        slot = _slot(table, value, shift)
        if table[slot] == _FREE:
            table[slot] = value
            hashes[found] = value
            found += 1
    return found


@compiled(types.int64(HASHES, types.int64, HASHES))
def shared_size(table: NDArray[np.uint64], shift: int, hashes: NDArray[np.uint64]) -> int:
    """Return the number of hashes that a table holds, which ``fill_table`` filled.

    Complexity: O(hashes) on average.
    """
    shared = 0
    for value in hashes:
        shared += int(table[_slot(table, value, shift)] == value)
    return shared
