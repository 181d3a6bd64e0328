"""Keys, sketches and buckets: what adding and searching have in common, compiled into both.

``state`` is here the address of the array that ``lsh_layout`` describes, since a function that is
given an array counts references to it, which takes as long as all else. Of use inside functions
that ``from neardup.compiled import compiled`` compiles, and only there.
"""

from typing import Any, TypeAlias

import numpy as np

from neardup.indexes import lsh_layout as field
from neardup.indexes.lsh_layout import (
    BUCKET_BITS,
    BUCKETS_A_CHUNK,
    LINE_BITS,
    LINE_BYTES,
    LINE_WORDS,
    LINES_A_CHUNK,
    ROW_BITS,
    ROWS_A_CHUNK,
    SLOTS,
    VALUES_A_WORD,
)
from neardup.indexes.lsh_rows import NIBBLE, NIBBLE_SHIFT
from neardup.instructions import load_i64, load_u32, load_u64, part, set_bits, store_i64

Word: TypeAlias = Any
"""uint64 where compiled; never mixed with int64, which would make a float of both."""

_ONE = np.uint64(1)
_HALF_WORD = np.uint64(32)
_MASK_16 = np.uint64(0xFFFF)
_MASK_32 = np.uint64(0xFFFFFFFF)
_TAG_SHIFT = np.uint64(12)
_MARK_SHIFT = np.uint64(14)
_ENTRY_ROW_BITS = np.uint64(28)


@part
def words_in(state: int) -> Any:
    """Return the words of a sketch."""
    return (load_i64(state, field.PERMUTATIONS) + VALUES_A_WORD - 1) >> 4


@part
def key_of(state: int, values: int, band: int) -> Word:
    """Return the key of a band of the signature at an address (Dietzfelbinger, STACS 1996)."""
    rows, factors = load_i64(state, field.ROWS), state + 8 * field.FACTORS
    total = load_u64(factors, load_i64(state, field.BANDS) * rows + band)
    for place in range(band * rows, (band + 1) * rows):
        total += load_u32(values, place) * load_u64(factors, place)
    return total >> _HALF_WORD


@part
def sketch(state: int, values: int, to: int) -> None:
    """Put four bits of each value to an address, those of sixteen values in a word."""
    permutations = load_i64(state, field.PERMUTATIONS)
    for word in range(permutations >> 4):
        # Always sixteen times, so that it becomes a few instructions for all sixteen.
        bits = np.uint64(0)
        for place in range(16):
            bits |= _four_bits(load_u32(values, 16 * word + place)) << np.uint64(4 * place)
        store_i64(to, word, np.int64(bits))
    if permutations & 15:
        bits = np.uint64(0)
        for place in range(permutations & 15):
            value = load_u32(values, (permutations & ~15) + place)
            bits |= _four_bits(value) << np.uint64(4 * place)
        store_i64(to, permutations >> 4, np.int64(bits))


@part
def _four_bits(value: Word) -> Word:
    return (value * NIBBLE) >> NIBBLE_SHIFT


@part
def unequal(first: int, second: int, words: int) -> int:
    """Return in how many values two sketches differ."""
    total = 0
    for word in range(words):
        bits = load_u64(first, word) ^ load_u64(second, word)
        bits |= bits >> np.uint64(1)
        bits |= bits >> np.uint64(2)
        total += set_bits(bits & np.uint64(0x1111111111111111))
    return total


@part
def row_at(state: int, row: int) -> Any:
    """Return the address of a row: its id, then its sketch."""
    chunk = load_i64(load_i64(state, field.ROW_CHUNKS), row >> ROW_BITS)
    return chunk + (row & (ROWS_A_CHUNK - 1)) * 8 * (1 + words_in(state))


@part
def bucket_of(state: int, key: Word) -> Any:
    """Return the number of a key's bucket (linear hashing: Litwin, VLDB 1980)."""
    half = load_i64(state, field.HALF)
    bucket = np.int64(key) & (2 * half - 1)
    return bucket if bucket < load_i64(state, field.BUCKETS) else bucket - half


@part
def line_at(state: int, bucket: int, band: int) -> Any:
    """Return the address of a bucket's own line."""
    chunk = load_i64(load_i64(state, field.BUCKET_CHUNKS), bucket >> BUCKET_BITS)
    place = (bucket & (BUCKETS_A_CHUNK - 1)) * load_i64(state, field.BANDS) + band
    return chunk + place * LINE_BYTES


@part
def marks_at(state: int, bucket: int, band: int) -> Any:
    """Return the address of a bucket's marks."""
    chunk = load_i64(load_i64(state, field.BUCKET_CHUNKS), bucket >> BUCKET_BITS)
    bands = load_i64(state, field.BANDS)
    place = (bucket & (BUCKETS_A_CHUNK - 1)) * bands + band
    return chunk + BUCKETS_A_CHUNK * bands * LINE_BYTES + place * 8


@part
def behind_at(state: int, number: int) -> Any:
    """Return the address of a line that stands behind another."""
    chunk = load_i64(load_i64(state, field.LINE_CHUNKS), (number - 1) >> LINE_BITS)
    return chunk + ((number - 1) & (LINES_A_CHUNK - 1)) * LINE_BYTES


@part
def mark_of(key: Word) -> Word:
    """Return the bit that a key sets among the marks of its bucket."""
    return _ONE << (key >> (_TAG_SHIFT + _MARK_SHIFT))


@part
def tag_of(key: Word) -> Word:
    """Return a key's tag."""
    return key >> _TAG_SHIFT


@part
def entry_of(tag: Word, row: int) -> Word:
    """Return the entry of a slot for a tag and a row."""
    return (tag >> np.uint64(16)) << _ENTRY_ROW_BITS | np.uint64(row)


@part
def more_of(line: int) -> Any:
    """Return the line behind one, and in the lower 4 bits the number of its entries."""
    return np.int64(load_u64(line, 2) >> _HALF_WORD)


@part
def tag_in(line: int, slot: int) -> Word:
    """Return the tag in a slot."""
    low = load_u64(line, slot >> 2) >> np.uint64(16 * (slot & 3)) & _MASK_16
    return entry_in(line, slot) >> _ENTRY_ROW_BITS << np.uint64(16) | low


@part
def entry_in(line: int, slot: int) -> Word:
    """Return the entry in a slot."""
    return load_u64(line, 3 + (slot >> 1)) >> np.uint64(32 * (slot & 1)) & _MASK_32


@part
def _put_behind(state: int, line: int) -> Any:
    """Copy a full line to one behind it, and return that one's number."""
    number = load_i64(state, field.FREE)
    if number:
        store_i64(state, field.FREE, load_i64(behind_at(state, number), 0))
    else:
        number = load_i64(state, field.BEHIND) + 1
        store_i64(state, field.BEHIND, number)
    to = behind_at(state, number)
    for word in range(LINE_WORDS):
        store_i64(to, word, load_i64(line, word))
    return number


@part
def push(state: int, bucket: int, band: int, tag: Word, entry: Word) -> None:
    """Put an entry into a bucket."""
    marks = marks_at(state, bucket, band)
    store_i64(marks, 0, np.int64(load_u64(marks, 0) | _ONE << (tag >> _MARK_SHIFT)))
    line = line_at(state, bucket, band)
    more = more_of(line)
    if more & 15 == SLOTS:
        more = _put_behind(state, line) << 4
    slot = more & 15
    _put(line, slot >> 2, np.uint64(16 * (slot & 3)), _MASK_16, tag & _MASK_16)
    _put(line, 3 + (slot >> 1), np.uint64(32 * (slot & 1)), _MASK_32, entry)
    _put(line, 2, _HALF_WORD, _MASK_32, np.uint64(more + 1))


@part
def _put(line: int, word: int, shift: Word, mask: Word, value: Word) -> None:
    """Overwrite some bits of a word."""
    others = load_u64(line, word) & ~(mask << shift)
    store_i64(line, word, np.int64(others | value << shift))
