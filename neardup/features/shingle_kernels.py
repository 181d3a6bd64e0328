"""Shingles of a text and sets of them."""

import numpy as np
from numba import types
from numpy.typing import NDArray

from neardup.compiled import compiled
from neardup.features.hashing import FIRST, GOLDEN
from neardup.features.unit_kernels import (
    BYTES,
    HASHES,
    U64,
    character_hashes,
    mixed,
    word_hashes,
)
from neardup.instructions import set_bits as bits_set

_ANY_HASHES = types.Array(types.uint64, 1, "C", readonly=True)
_COUNTS = types.Array(types.float64, 1, "C")
_SHINGLES = types.Tuple((HASHES, types.int64, types.int64))  # type: ignore[no-untyped-call]


@compiled(types.int64(HASHES, types.int64, types.int64))
def rolled(hashes: NDArray[np.uint64], units: int, size: int) -> int:
    """Replace the hashes of units by those of the shingles that begin there.

    A shingle's hash is a polynomial of its units' hashes, mixed, so the order of units counts;
    from one to the next it takes one multiplication, whatever the size.

    Returns:
        The number of shingles.
    """
    taken = min(units, size)
    if taken == 0:
        return 0
    out, value = U64(1), U64(0)
    for place in range(taken):
        out *= GOLDEN
        value = value * GOLDEN + hashes[place]
    for place in range(taken, units):
        first = place - taken
        next_value = value * GOLDEN + hashes[place] - out * hashes[first]
        hashes[first] = mixed(value)
        value = next_value
    hashes[units - taken] = mixed(value)
    return units - taken + 1


@compiled(_SHINGLES(BYTES, types.boolean, types.int64))
def shingles(data: bytes, characters: bool, size: int) -> tuple[NDArray[np.uint64], int, int]:
    """Return the hashes of all shingles of a text, in order, each as often as it occurs.

    Args:
        data: The bytes that ``unit_bytes`` returns for the unit.
        characters: Whether the unit is the character.
        size: Units of a shingle. A text of fewer is one shingle; a text of none has none.

    Returns:
        uint64, (at least shingles,), how many of them count, and how many units the text has.
    """
    room = len(data) if characters else (len(data) >> 1) + 1
    hashes = np.empty(room, np.uint64)
    units = character_hashes(data, hashes) if characters else word_hashes(data, hashes)
    return hashes, rolled(hashes, units, size), units


@compiled(types.int64(HASHES, types.int64, types.uint64))
def distinct(hashes: NDArray[np.uint64], count: int, salt: int) -> int:
    """Move the distinct ones of the first values to the front, in their order; return how many.

    The values go into a table with open addressing, half full at most. The place of a value in it
    depends on the salt, an odd number that the author of a text cannot know. Without it all
    shingles of a text could be made to want the same place, and the time would grow with the square
    of its length.

    Complexity: O(count) on average, whatever the values.
    """
    slots, shift = 16, 60
    while slots < 2 * count:
        slots, shift = slots * 2, shift - 1
    table = np.zeros(slots, np.uint64)
    last = U64(slots - 1)
    found, zeros = 0, 0
    for place in range(count):
        value = hashes[place]
        if value == U64(0):
            # 0 is what an empty slot holds.
            zeros += 1
            new = zeros == 1
        else:
            spread = value * U64(salt)
            slot = ((spread ^ (spread >> U64(32))) * FIRST) >> U64(shift)
            while table[slot] != U64(0) and table[slot] != value:
                slot = (slot + U64(1)) & last
            new = table[slot] == U64(0)
            table[slot] = value
        if new:
            hashes[found] = value
            found += 1
    return found


@compiled(types.int64(HASHES, _COUNTS))
def counted(hashes: NDArray[np.uint64], counts: NDArray[np.float64]) -> int:
    """Move the distinct ones of hashes that ascend to the front, count each, return how many."""
    found = 0
    for place in range(len(hashes)):
        if place == 0 or hashes[place] != hashes[found - 1]:
            hashes[found] = hashes[place]
            counts[found] = 0.0
            found += 1
        counts[found - 1] += 1.0
    return found


@compiled(types.int64(_ANY_HASHES, _ANY_HASHES))
def intersection_size(first: NDArray[np.uint64], second: NDArray[np.uint64]) -> int:
    """Return the number of values that are in both of two sets, which ascend."""
    common, ours, theirs = 0, 0, 0
    while ours < len(first) and theirs < len(second):
        one, other = first[ours], second[theirs]
        # Without a branch, which would be guessed wrongly every second time.
        common += int(one == other)
        ours += int(one <= other)
        theirs += int(other <= one)
    return common


@compiled(types.void(_ANY_HASHES, HASHES))
def set_bits(hashes: NDArray[np.uint64], words: NDArray[np.uint64]) -> None:
    """Set for each hash the bit that its lowest bits name; the words are a power of two."""
    last = U64(64 * len(words) - 1)
    for place in range(len(hashes)):
        bit = hashes[place] & last
        words[bit >> U64(6)] |= U64(1) << (bit & U64(63))


@compiled(types.int64(_ANY_HASHES, types.int64, _ANY_HASHES, types.int64))
def max_shared(
    small: NDArray[np.uint64], small_size: int, large: NDArray[np.uint64], large_size: int
) -> int:
    """Return the largest number of values that two sets may have in common.

    Both are bits, a power of two of words, the larger ones folded to the same length.
    """
    ours, theirs = 0, 0
    for place in range(len(small)):
        folded = large[place]
        for further in range(place + len(small), len(large), len(small)):
            folded |= large[further]
        ours += bits_set(small[place] & ~folded)
        theirs += bits_set(folded & ~small[place])
    return min(small_size - ours, large_size - theirs)
