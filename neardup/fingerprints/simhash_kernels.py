"""The bits of a SimHash, counted and weighed."""

import numpy as np
from numba import types
from numpy.typing import NDArray

from neardup.compiled import compiled
from neardup.features.shingle_kernels import distinct, shingles
from neardup.features.unit_kernels import BYTES, HASHES, U64

_EACH = U64(0x0101010101010101)
_WEIGHTS = types.Array(types.float64, 1, "C")
_SKETCH = types.Tuple((types.uint64, types.int64))  # type: ignore[no-untyped-call]
# A byte counts to 255.
_GROUP = 255


@compiled(types.uint64(HASHES, types.int64))
def of_set(hashes: NDArray[np.uint64], count: int) -> int:
    """Return the SimHash of the first hashes, which weigh the same.

    Eight counters of a byte share one number, so eight numbers count the ones of 64 bits, and
    another takes each of them one step on.
    """
    ones = np.zeros(64, np.int64)
    for start in range(0, count, _GROUP):
        a = b = c = d = e = f = g = h = U64(0)
        for place in range(start, min(count, start + _GROUP)):
            value = hashes[place]
            a += value & _EACH
            b += (value >> U64(1)) & _EACH
            c += (value >> U64(2)) & _EACH
            d += (value >> U64(3)) & _EACH
            e += (value >> U64(4)) & _EACH
            f += (value >> U64(5)) & _EACH
            g += (value >> U64(6)) & _EACH
            h += (value >> U64(7)) & _EACH
        sums = (a, b, c, d, e, f, g, h)
        for bit in range(64):
            ones[bit] += np.int64((sums[bit & 7] >> U64(bit & 56)) & U64(255))
    fingerprint = U64(0)
    for bit in range(64):
        # More ones than zeros is what a positive sum of +1 and -1 means.
        if 2 * ones[bit] > count:
            fingerprint |= U64(1) << U64(bit)
    return int(fingerprint)


@compiled(_SKETCH(BYTES, types.boolean, types.int64, types.uint64))
def of_text(data: bytes, characters: bool, size: int, salt: int) -> tuple[int, int]:
    """Return the SimHash of a text's set of shingles, and how many units the text has.

    The arguments are those of ``shingles``, and the salt of ``distinct``.
    """
    hashes, count, units = shingles(data, characters, size)
    return of_set(hashes, distinct(hashes, count, salt)), units


@compiled(types.uint64(HASHES, _WEIGHTS))
def of_weights(hashes: NDArray[np.uint64], weights: NDArray[np.float64]) -> int:
    """Return the SimHash of hashes with a finite weight each, summed in their order."""
    sums = np.zeros(64, np.float64)
    for place in range(len(hashes)):
        value, weight = hashes[place], weights[place]
        for bit in range(64):
            sums[bit] += weight if (value >> U64(bit)) & U64(1) else -weight
    fingerprint = U64(0)
    for bit in range(64):
        if sums[bit] > 0:
            fingerprint |= U64(1) << U64(bit)
    return int(fingerprint)
