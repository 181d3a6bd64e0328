"""Texts as bytes: folded, and cut into words."""

import numpy as np
from numba import types
from numpy.typing import NDArray

from neardup.compiled import compiled
from neardup.features.folding import (
    COMPOSES,
    ENDS_MARKED,
    KNOWN,
    OPEN,
    STARTS_MARKED,
    TOO_LONG,
)
from neardup.features.scripts import LAST, MARK, SEPARATOR, SINGLE, WORD
from neardup.instructions import part

U64 = np.uint64

BYTES = types.Bytes(types.uint8, 1, "C", readonly=True)

_OUT = types.Array(types.uint8, 1, "C")
_FOLDINGS = types.Array(types.uint64, 1, "C")
_KINDS = types.Array(types.uint8, 1, "C", readonly=True)

_SPACE = np.uint8(0x20)


# ASCII folded: small letters, and a space for each character that str.split() takes for one.
_FOLDED = np.array([ord(" " if c.isspace() else c.lower()) for c in map(chr, range(128))], np.uint8)
# Folded ASCII packed: a space for each character that belongs to no word.
_PACKED = np.array(
    [ord(c) if c.isalnum() or c == "_" else 0x20 for c in map(chr, range(128))], np.uint8
)


@part
def code_at(text: bytes, place: int) -> int:
    """Return the character beyond ASCII that begins at a byte of UTF-8."""
    first, second = text[place], text[place + 1] & 0x3F
    if first < 0xE0:
        return (first & 0x1F) << 6 | second
    third = text[place + 2] & 0x3F
    if first < 0xF0:
        return (first & 0x0F) << 12 | second << 6 | third
    return (first & 0x07) << 18 | second << 12 | third << 6 | (text[place + 3] & 0x3F)


@part
def length_of(first: int) -> int:
    """Return the bytes of the character beyond ASCII that begins with this one."""
    return 2 if first < 0xE0 else 3 if first < 0xF0 else 4


@part
def _reaches_back(entry: np.uint64, opened: bool, marked: bool) -> bool:
    """Return whether a character may change, or be changed by, what stands before it."""
    if opened and (entry & COMPOSES) != U64(0):
        return True
    if marked and (entry & STARTS_MARKED) != U64(0):
        return True
    return bool((entry & TOO_LONG) != U64(0))


@compiled(types.int64(BYTES, _FOLDINGS, _OUT))
def fold_into(text: bytes, foldings: NDArray[np.uint64], folded: NDArray[np.uint8]) -> int:
    """Write the folded text, character by character.

    Args:
        text: UTF-8, lone surrogates as "surrogatepass" encodes them.
        foldings: The entries of ``FoldTable``.
        folded: uint8, (3 * len(text),), or (len(text),) for ASCII.

    Returns:
        The bytes written; ~code for the first character that is not in the table yet; or
        ~LAST, or less, where the characters do not fold one by one.
    """
    place, size = 0, 0
    # What was written last; at first as if it were a space, so that none stands at the beginning.
    last = _SPACE
    opened = marked = False
    while place < len(text):
        byte = text[place]
        if byte < 0x80:
            last, before = _FOLDED[byte], last
            folded[size] = last
            size += int(last != _SPACE or before != _SPACE)
            opened, marked = True, False
            place += 1
            continue
        code = code_at(text, place)
        if code > LAST:
            return ~code
        entry = foldings[code]
        if (entry & KNOWN) == U64(0):
            return ~code
        if _reaches_back(entry, opened, marked):
            return ~(LAST + 1)
        written = int((entry >> U64(48)) & U64(7))
        for offset in range(written):
            last, before = np.uint8((entry >> U64(offset << 3)) & U64(0xFF)), last
            folded[size] = last
            size += int(last != _SPACE or before != _SPACE)
        if written:
            # What is not seen stands between nothing, and a mark leaves its base as open as it is.
            is_open = (entry & OPEN) != U64(0)
            opened = is_open or (opened and (entry & STARTS_MARKED) != U64(0))
            marked = (entry & ENDS_MARKED) != U64(0)
        place += length_of(byte)
    if size > 0 and folded[size - 1] == _SPACE:
        size -= 1
    return size


@compiled(types.int64(BYTES, _KINDS, _OUT))
def pack_into(folded: bytes, kinds: NDArray[np.uint8], packed: NDArray[np.uint8]) -> int:
    """Write the tokens of a folded text, parted by one or more spaces, and return how many bytes.

    Args:
        folded: UTF-8, in lower case.
        kinds: uint8, (characters,), as ``scripts.all_kinds`` returns them.
        packed: uint8, (2 * len(folded),).
    """
    place, size = 0, 0
    # What the character is that a mark here would stand on.
    owner = SEPARATOR
    while place < len(folded):
        byte = folded[place]
        if byte < 0x80 and owner != SINGLE:
            packed[size] = _PACKED[byte]
            owner = WORD if _PACKED[byte] != _SPACE else SEPARATOR
            size += 1
            place += 1
            continue
        if byte < 0x80:
            kind, width = WORD if _PACKED[byte] != _SPACE else SEPARATOR, 1
        else:
            kind = int(np.int64(kinds[min(code_at(folded, place), LAST)]))
            width = length_of(byte)
        if kind == MARK:
            kind = owner
        elif kind != WORD or owner == SINGLE:
            packed[size] = _SPACE
            size += 1
        if kind != SEPARATOR:
            for offset in range(width):
                packed[size + offset] = folded[place + offset]
            size += width
        owner = kind
        place += width
    return size
