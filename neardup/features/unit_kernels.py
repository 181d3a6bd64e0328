"""Words and characters of a text, and their hashes."""

import numpy as np
from numba import types
from numpy.typing import NDArray

from neardup.compiled import compiled
from neardup.features.byte_kernels import BYTES
from neardup.features.hashing import FIRST, GOLDEN, HALF, SECOND
from neardup.instructions import lowest_bit, part

U64 = np.uint64

HASHES = types.Array(types.uint64, 1, "C")
_EIGHTS = types.Array(types.uint64, 1, "C", readonly=True)

_ALL = U64(0xFFFFFFFFFFFFFFFF)
_EACH = U64(0x0101010101010101)
_HIGHEST = U64(0x8080808080808080)
_LOWER = U64(0x7F7F7F7F7F7F7F7F)
# Times this, the lowest bits of eight bytes stand side by side in the highest byte.
_GATHER = U64(0x0102040810204080)
# A byte of UTF-8 that is not a character's first has these two highest bits.
_TOP_TWO, _CONTINUES = U64(0xC0), U64(0x80)


@part
def mixed(value: np.uint64) -> np.uint64:
    """Scatter the bits of a value, as ``neardup.features.hashing.mix`` does."""
    value ^= value >> HALF
    value *= FIRST
    value ^= value >> HALF
    value *= SECOND
    return value ^ (value >> HALF)


@part
def _lower(eight: np.uint64) -> np.uint64:
    """Turn ASCII's capitals into small letters, in eight bytes at once."""
    low = eight & _LOWER
    # A byte below 128 plus 63 reaches 128 from "A" on, plus 37 from "[" on.
    capitals = (low + U64(63) * _EACH) & ~(low + U64(37) * _EACH) & ~eight & _HIGHEST
    return eight | (capitals >> U64(2))


@part
def _word_bits(eight: np.uint64) -> np.uint64:
    """Return eight bits that say which of eight bytes belong to a word, the first byte's lowest."""
    low = eight & _LOWER
    letters = (low + U64(31) * _EACH) & ~(low + U64(5) * _EACH)
    digits = (low + U64(80) * _EACH) & ~(low + U64(70) * _EACH)
    underscores = _HIGHEST - (low ^ (U64(0x5F) * _EACH))
    inside = (letters | digits | underscores | eight) & _HIGHEST
    return ((inside >> U64(7)) * _GATHER) >> U64(56)


@compiled(types.int64(_EIGHTS, HASHES, HASHES))
def bound_words(
    eights: NDArray[np.uint64], lowered: NDArray[np.uint64], bounds: NDArray[np.uint64]
) -> int:
    """Write a text in lower case, and where its words begin and end; return their number.

    Bytes are looked at eight at a time, and 64 of them give one number with a bit for each that
    belongs to a word, so that a word costs no branch for each of its bytes.

    Args:
        eights: uint64, (8 * blocks + 1,): what ``unit_bytes`` returns for words, with a space or
            more up to whole blocks of 64, and a number more, so that eight bytes can be read from
            any place. Bytes beyond ASCII belong to words.
        lowered: uint64, of the same size.
        bounds: uint64, (at least 2 * words,): takes for each word the place of its first byte and
            the place after its last.

    Complexity: O(bytes).
    """
    for place in range(len(eights)):
        lowered[place] = _lower(eights[place])
    begun = ended = 0
    inside = U64(0)
    for block in range(len(eights) >> 3):
        words = U64(0)
        for place in range(8):
            words |= _word_bits(lowered[(block << 3) + place]) << U64(place << 3)
        shifted = (words << U64(1)) | inside
        starts, ends = words & ~shifted, shifted & ~words
        inside = words >> U64(63)
        base = U64(block << 6)
        while starts != U64(0):
            bounds[2 * begun] = base + U64(lowest_bit(starts))
            starts &= starts - U64(1)
            begun += 1
        while ends != U64(0):
            bounds[2 * ended + 1] = base + U64(lowest_bit(ends))
            ends &= ends - U64(1)
            ended += 1
    return ended


@part
def _word_hash(lowered: NDArray[np.uint64], start: np.uint64, end: np.uint64) -> np.uint64:
    """Return the hash of the bytes from start to end, which are at least one."""
    value = U64(0)
    left = end - start
    while left > U64(0):
        place, shift = start >> U64(3), (start & U64(7)) << U64(3)
        eight = lowered[place] >> shift
        # By two shifts, since one of 64 bits is none.
        eight |= (lowered[place + U64(1)] << U64(1)) << (U64(63) - shift)
        taken = min(left, U64(8))
        eight &= _ALL >> (U64(64) - (taken << U64(3)))
        value = mixed(eight ^ (value * GOLDEN))
        start += taken
        left -= taken
    return value


@compiled(types.void(HASHES, HASHES, HASHES))
def hash_words(
    lowered: NDArray[np.uint64], bounds: NDArray[np.uint64], hashes: NDArray[np.uint64]
) -> None:
    """Write one hash for each word of a text.

    The same for the same word, in every process and on every platform; words of at most eight
    bytes never collide.

    Args:
        lowered: What ``bound_words`` wrote.
        bounds: What it wrote too.
        hashes: uint64, (words,).

    Complexity: O(bytes).
    """
    for word in range(len(hashes)):
        hashes[word] = _word_hash(lowered, bounds[2 * word], bounds[2 * word + 1])


@compiled(types.int64(BYTES, HASHES))
def character_hashes(folded: bytes, hashes: NDArray[np.uint64]) -> int:
    """Write one hash for each character of a text in UTF-8 and return their number.

    There must be room for as many hashes as bytes.
    """
    count = 0
    character = U64(0)
    for place in range(len(folded)):
        byte = U64(folded[place])
        begins = (byte & _TOP_TWO) != _CONTINUES
        character = byte if begins else (character << U64(8)) | byte
        if place + 1 == len(folded) or (U64(folded[place + 1]) & _TOP_TWO) != _CONTINUES:
            # Moved off 0, which a NUL would stay.
            hashes[count] = mixed(character + GOLDEN)
            count += 1
    return count
