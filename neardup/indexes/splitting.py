"""Fingerprints to rows of a table and back, and two sorted arrays to one; compiled."""

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import types

from neardup.compiled import compiled

U64 = npt.NDArray[np.uint64]
I64 = npt.NDArray[np.int64]
U32 = npt.NDArray[np.uint32]
U16 = npt.NDArray[np.uint16]
U8 = npt.NDArray[np.uint8]


def _stored(number: Any) -> Any:
    """Return the type of a column, which may be mapped read-only."""
    return types.Array(number, 1, "C", readonly=True)


@compiled("void(uint64[::1],int64,uint32[::1],uint16[::1],uint8[::1],uint32[::1])")
def split(values: U64, bits: int, high: U32, low: U16, keys: U8, counts: U32) -> None:
    """Split rotated fingerprints into the columns of a table and count the rows of each bucket.

    Args:
        values: uint64, (rows,), the table's block first.
        bits: The bits of the number of a bucket.
        high: uint32, (rows,), to be filled.
        low: uint16, (rows,), to be filled.
        keys: uint8, (rows,), to be filled; (0,) where bits is 16.
        counts: uint32, (2**bits,), added to.
    """
    shift = np.uint64(64 - bits)
    rest = np.uint64((1 << (16 - bits)) - 1)
    for row in range(len(values)):
        value = values[row]
        high[row] = value >> np.uint64(16) & np.uint64(0xFFFFFFFF)
        low[row] = value & np.uint64(0xFFFF)
        counts[np.int64(value >> shift)] += np.uint32(1)
    for row in range(len(keys)):
        keys[row] = values[row] >> np.uint64(48) & rest


@compiled(
    types.void(
        _stored(types.uint32),
        _stored(types.uint32),
        _stored(types.uint16),
        _stored(types.uint8),
        types.int64,
        types.uint64[::1],
    )
)
def join(starts: U32, high: U32, low: U16, keys: U8, first: int, values: U64) -> None:
    """Make rotated fingerprints of the rows of a table, from the row ``first`` on.

    Args:
        starts: The column of the table, as are high, low and keys.
        high: Its upper bits.
        low: Its last bits.
        keys: The remaining bits of its block.
        first: A row.
        values: uint64, (rows,), to be filled.
    """
    cut = np.uint64(0)
    while (len(starts) - 1) << cut < 65536:
        cut += np.uint64(1)
    bucket = np.searchsorted(starts, first, side="right") - 1
    for place in range(len(values)):
        row = first + place
        while np.int64(starts[bucket + 1]) <= row:
            bucket += 1
        block = np.uint64(bucket) << cut
        if len(keys):
            block |= np.uint64(keys[row])
        rest = np.uint64(high[row]) << np.uint64(16) | np.uint64(low[row])
        values[place] = block << np.uint64(48) | rest


@compiled("UniTuple(int64,3)(uint64[::1],uint64[::1],uint64[::1])")
def unite(a: U64, b: U64, out: U64) -> tuple[int, int, int]:
    """Merge two sorted arrays of distinct values until one ends; what is in both comes once.

    Returns:
        How many values of ``a`` and of ``b`` were taken, and how many stand in ``out``.
    """
    i = j = count = 0
    while i < len(a) and j < len(b):
        x, y = a[i], b[j]
        out[count] = min(x, y)
        i += x <= y
        j += y <= x
        count += 1
    return i, j, count


@compiled("UniTuple(int64,2)(uint64[::1],int64[::1],uint64[::1],int64[::1],uint64[::1],int64[::1])")
def merge(a: U64, a_ids: I64, b: U64, b_ids: I64, out: U64, out_ids: I64) -> tuple[int, int]:
    """Merge two sorted lists of entries until one ends.

    Returns:
        How many entries of ``a`` and of ``b`` were taken.
    """
    i = j = 0
    while i < len(a) and j < len(b):
        if a[i] < b[j] or (a[i] == b[j] and a_ids[i] <= b_ids[j]):
            out[i + j], out_ids[i + j] = a[i], a_ids[i]
            i += 1
        else:
            out[i + j], out_ids[i + j] = b[j], b_ids[j]
            j += 1
    return i, j
