"""Texts that meet under a key, compared: the compiled loop of the join."""

from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from neardup.batch.joining import JoinRows, Limits
from neardup.compiled import compiled
from neardup.instructions import part, set_bits

_array: Any = types.Array
_named: Any = types.NamedTuple
_uniform: Any = types.NamedUniTuple
_WORDS, _INTS = _array(types.uint64, 1, "C"), _array(types.int64, 1, "C")
_ROWS = _named((_WORDS, _INTS, _WORDS, _WORDS, _WORDS, _WORDS, _WORDS), JoinRows)
_LOWER = np.uint64(0x5555555555555555)
"""The mask of the first bit of each two."""
_LIMITS = _uniform(types.int64, 5, Limits)


@part
def _unequal(different: np.uint64) -> int:
    """Return how many of 32 values of two bits differ."""
    return int(set_bits((different | different >> np.uint64(1)) & _LOWER))


@part
def _is_near(rows: JoinRows, one: int, other: int, limits: Limits) -> bool:
    if set_bits(rows.fingerprints[one] ^ rows.fingerprints[other]) > limits.radius:
        return False
    unequal = _unequal(rows.sketch0[one] ^ rows.sketch0[other])
    unequal += _unequal(rows.sketch1[one] ^ rows.sketch1[other])
    unequal += _unequal(rows.sketch2[one] ^ rows.sketch2[other])
    unequal += _unequal(rows.sketch3[one] ^ rows.sketch3[other])
    return unequal <= limits.unequal


@part
def _is_first(rows: JoinRows, one: int, other: int, masks: NDArray[np.uint64]) -> bool:
    """Whether two do not meet in an earlier table."""
    different = rows.fingerprints[one] ^ rows.fingerprints[other]
    own = int(rows.keys[one] >> np.uint64(48))
    for table in range(min(len(masks), own)):  # noqa: SIM110  (numba has no all)
        if not different & masks[table]:
            return False
    return True


@compiled(types.int64(_ROWS, types.int64, _WORDS, _LIMITS, _INTS, _INTS))
def near_in_runs(
    rows: JoinRows,
    begin: int,
    masks: NDArray[np.uint64],
    limits: Limits,
    earlier: NDArray[np.int64],
    later: NDArray[np.int64],
) -> int:
    """Compare each row from ``begin`` on with those of its key before it.

    Args:
        rows: The rows, sorted by key, then by id.
        begin: The first row that was not compared yet.
        masks: The masks of the tables; only the first table in which a pair meets finds it.
        limits: The limits of the search.
        earlier: int64: takes the smaller place of each pair that is found.
        later: int64: takes the larger one; both have room for 2 * max_found a row.

    Returns:
        How many pairs were found.

    Complexity: O(min(length of run, 2 * max_compared)) a row.
    """
    found, start = 0, 0
    for row in range(len(rows.keys)):
        if row and rows.keys[row] != rows.keys[row - 1]:
            start = row
        if row < begin or rows.ids[row] < limits.first_new:
            continue
        other, taken = start, 0
        stop = min(row, start + limits.max_compared)
        while other < stop and taken < limits.max_found:
            if _is_near(rows, other, row, limits) and _is_first(rows, other, row, masks):
                earlier[found], later[found] = other, row
                found += 1
                taken += 1
            other += 1
        least, taken = max(other, row - limits.max_compared), 0
        other = row - 1
        while other >= least and taken < limits.max_found:
            if _is_near(rows, other, row, limits) and _is_first(rows, other, row, masks):
                earlier[found], later[found] = other, row
                found += 1
                taken += 1
            other -= 1
    return found
