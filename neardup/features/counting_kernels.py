"""Jaccard similarity counted in words: every shingle is told apart by its very words."""

import numpy as np
from numba import types
from numpy.typing import NDArray

from neardup.compiled import compiled
from neardup.features.hashing import FIRST
from neardup.features.unit_kernels import BYTES, HASHES, U64

_SPACE = 0x20
_LOW = U64(0xFFFFFFFF)
_HALF = U64(32)
_PLACES = types.Array(types.int64, 1, "C")


@compiled(types.int64(types.int64))
def _slots_for(count: int) -> int:
    """Return the size of a table that ``count`` values fill by half at most."""
    slots = 16
    while slots < 2 * count:
        slots *= 2
    return slots


@compiled(types.boolean(BYTES, types.int64, types.int64, types.int64))
def _is_same(data: bytes, first: int, second: int, length: int) -> bool:
    place = 0
    while place < length and data[first + place] == data[second + place]:
        place += 1
    return place == length


@compiled(types.int64(BYTES, _PLACES, HASHES, types.uint64))
def _number_words(
    data: bytes, starts: NDArray[np.int64], numbers: NDArray[np.uint64], salt: int
) -> int:
    """Write a number for each word, from 1 on in the order of their first appearances.

    A slot of the table holds half of a word's hash and its number. Words of the same hash are told
    apart by their bytes, so the hash decides about the time alone.

    Returns:
        The number of distinct words.
    """
    count = len(numbers)
    table = np.zeros(_slots_for(count), np.uint64)
    last = U64(len(table) - 1)
    firsts = np.empty(count + 1, np.int64)
    lengths = np.empty(count + 1, np.int64)
    found = 0
    for word in range(count):
        start = end = starts[word]
        value = U64(salt)
        while end < len(data) and data[end] != _SPACE:
            value = (value ^ U64(data[end])) * U64(salt)
            value ^= value >> _HALF
            end += 1
        value *= FIRST
        slot = (value ^ (value >> _HALF)) & last
        while True:
            stored = table[slot]
            if stored == U64(0):
                found += 1
                table[slot] = (value & ~_LOW) | U64(found)
                firsts[found], lengths[found] = start, end - start
                numbers[word] = U64(found)
                break
            known = stored & _LOW
            is_alike = (stored ^ value) >> _HALF == U64(0) and lengths[known] == end - start
            if is_alike and _is_same(data, firsts[known], start, end - start):
                numbers[word] = known
                break
            slot = (slot + U64(1)) & last
    return found


@compiled(types.int64(HASHES, types.int64, types.int64, types.uint64))
def _number_pairs(numbers: NDArray[np.uint64], count: int, apart: int, salt: int) -> int:
    """Replace each number by one for the pair of it and the number ``apart`` places behind it.

    Returns:
        The number of distinct pairs among the first ``count``; they are numbered from 1 on.
    """
    table = np.zeros(_slots_for(count), np.uint64)
    last = U64(len(table) - 1)
    pairs = np.empty(count + 1, np.uint64)
    found = 0
    for place in range(count):
        pair = (numbers[place] << _HALF) | numbers[place + apart]
        value = pair * U64(salt)
        value = (value ^ (value >> _HALF)) * FIRST
        slot = (value ^ (value >> _HALF)) & last
        while True:
            stored = table[slot]
            if stored == U64(0):
                found += 1
                table[slot] = (value & ~_LOW) | U64(found)
                pairs[found] = pair
                numbers[place] = U64(found)
                break
            if (stored ^ value) >> _HALF == U64(0) and pairs[stored & _LOW] == pair:
                numbers[place] = stored & _LOW
                break
            slot = (slot + U64(1)) & last
    return found


@compiled(types.float64(BYTES, types.int64, types.int64, types.uint64))
def similarity(data: bytes, boundary: int, size: int, salt: int) -> float:
    """Return the Jaccard similarity of the shingles of two texts, 0 to 1.

    Runs of words are numbered, and from these runs of up to twice the length, until they are
    shingles. No two runs that differ have the same number.

    Args:
        data: The words of the first text, a space and the words of the second, with one or more
            spaces between them: fewer than 2**32 words.
        boundary: The place at which the second text begins.
        size: Words of a shingle. A text of fewer is one shingle.
        salt: A random odd number. It does not change the result, but keeps fast a text that was
            written to make words share a slot.

    Complexity: O(bytes + words * log size) on average.
    """
    starts = np.empty((len(data) >> 1) + 2, np.int64)
    count = ours = 0
    before = _SPACE
    for place in range(len(data)):
        if before == _SPACE and data[place] != _SPACE:
            starts[count] = place
            count += 1
            if place < boundary:
                ours += 1
        before = data[place]
    numbers = np.empty(count, np.uint64)
    found = _number_words(data, starts, numbers, salt)
    theirs = count - ours
    if min(ours, theirs) < size:
        # A shingle of fewer words equals no longer one.
        if ours != theirs or np.any(numbers[:ours] != numbers[ours:]):
            return 0.0
        return 1.0
    length = 1
    while length < size:
        longer = min(2 * length, size)
        found = _number_pairs(numbers, count - longer + 1, longer - length, salt)
        length = longer
    marks = np.zeros(found + 1, np.uint8)
    for place in range(ours - size + 1):
        marks[numbers[place]] |= np.uint8(1)
    # Between the two lie the runs that begin in the first text and end in the second.
    for place in range(ours, count - size + 1):
        marks[numbers[place]] |= np.uint8(2)
    union = both = 0
    for number in range(found + 1):
        union += int(marks[number] != 0)
        both += int(marks[number] == 3)
    return both / union
