"""SimHash: a set of features in 64 bits, few of which differ where few features do."""

from collections.abc import Mapping
from operator import index

import numpy as np
import xxhash
from numpy.typing import ArrayLike, NDArray

from neardup.errors import FingerprintError
from neardup.features.folding import normal_form
from neardup.features.hashing import Hashes
from neardup.features.shingles import shingle_hashes
from neardup.features.tokens import pack
from neardup.parameters import DEFAULTS, Parameters

BITS = 64

_SHIFTS = np.arange(8, dtype=np.uint64)[:, np.newaxis]
_LOWEST_OF_BYTE = np.uint64(0x0101010101010101)
# A byte counts to 255. 256 such groups at a time keep the work of a 5 MB text within the cache.
_GROUP = 255
_CHUNK = _GROUP * 256


def simhash(text: str, parameters: Parameters = DEFAULTS) -> int:
    """Return the 64-bit fingerprint of a text: the SimHash of its set of word shingles.

    Bit b is 1 where more than half of the distinct shingles have bit b set in their hash, so a
    tie makes 0. The value is the same in every process and on every platform.

    Args:
        text: Any text; folding is part of the fingerprint.
        parameters: Of these, ``shingle_size`` counts.

    Raises:
        FingerprintError: The text has no words. Its fingerprint is not 0, which belongs to texts.

    Complexity: O(length).
    Reference: Charikar, STOC 2002, section 3; Manku, Jain, Das Sarma, WWW 2007, section 2.
    """
    return of_shingles(shingle_hashes(pack(normal_form(text)), parameters.shingle_size))


def simhash_weighted(weights: Mapping[str, float]) -> int:
    """Return the 64-bit SimHash of features with a weight each.

    A feature adds its weight to every bit that its hash (xxh3 of its UTF-8) sets and takes it from
    the others; the sign of the sum is the bit, and a sum of 0 makes 0. Features are taken as they
    are, unfolded; the result is not comparable with that of ``simhash``.

    Raises:
        FingerprintError: No features, or a weight that is not finite.
    """
    if not weights:
        raise FingerprintError("no features, so no fingerprint")
    # In one order, since sums of floats depend on it.
    features = sorted(weights)
    values = np.array([weights[feature] for feature in features], np.float64)
    if not np.isfinite(values).all():
        raise FingerprintError("a weight must be a finite number")
    digests = b"".join(
        xxhash.xxh3_64_digest(feature.encode("utf-8", "surrogatepass")) for feature in features
    )
    bits = np.unpackbits(np.frombuffer(digests, np.uint8).reshape(-1, 8), axis=1)
    return int.from_bytes(np.packbits(majority(bits, values)).tobytes(), "big")


def hamming(first: int, second: int) -> int:
    """Return the number of bits in which two fingerprints differ, 0 to 64.

    Raises:
        FingerprintError: A value is no integer, negative or does not fit in 64 bits.
    """
    return (check_fingerprint(first) ^ check_fingerprint(second)).bit_count()


def check_fingerprint(value: int) -> int:
    """Return the value as an ``int``.

    Raises:
        FingerprintError: It is no integer, negative or does not fit in 64 bits.
    """
    try:
        fingerprint = index(value)
    except TypeError:
        raise FingerprintError(f"a fingerprint must be an integer, got {value!r}") from None
    if not 0 <= fingerprint < 1 << BITS:
        raise FingerprintError(f"a fingerprint must be 0..2**{BITS}-1, got {fingerprint}")
    return fingerprint


def of_shingles(hashes: Hashes) -> int:
    """Return the SimHash of hashes with a weight of one each.

    Raises:
        FingerprintError: There are none.
    """
    if not len(hashes):
        raise FingerprintError("a text without words has no fingerprint")
    ones = np.zeros(BITS, np.int64)
    for start in range(0, len(hashes), _CHUNK):
        ones += _count_ones(hashes[start : start + _CHUNK])
    # More ones than zeros is what a positive sum of +1 and -1 means.
    bits = np.packbits(2 * ones > len(hashes), bitorder="little")
    return int.from_bytes(bits.tobytes(), "little")


def majority(bits: ArrayLike, weights: ArrayLike) -> NDArray[np.bool_]:
    """Return for each column whether the rows that set it outweigh those that do not.

    Args:
        bits: 0 or 1, (features, bits).
        weights: (features,).

    Returns:
        bool, (bits,); False where both weigh the same.
    """
    signs = 2.0 * np.asarray(bits, np.float64) - 1.0
    return np.asarray(weights, np.float64) @ signs > 0


def _count_ones(hashes: Hashes) -> NDArray[np.int64]:
    """Count the ones in each bit, lowest first.

    Eight counters of a byte share one 64-bit sum: 8.5 us for 1,000 hashes, where unpacking the
    bits and summing them took 29 us, and 14 us as a product of float32 matrices.
    """
    lowest = (hashes >> _SHIFTS) & _LOWEST_OF_BYTE
    sums = np.add.reduceat(lowest, np.arange(0, len(hashes), _GROUP), axis=1)
    counters = sums.astype("<u8", copy=False).view(np.uint8).reshape(8, -1, 8)
    # [bit within the byte, byte] to one row of bits.
    ones: NDArray[np.int64] = counters.sum(axis=1, dtype=np.int64)
    return ones.T.ravel()
