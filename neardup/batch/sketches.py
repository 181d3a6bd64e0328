"""16 bytes that tell two texts of different words apart before their texts are fetched."""

import math

import numpy as np

from neardup.features.hashing import Hashes
from neardup.fingerprints.minhash import Signature
from neardup.indexes.banding import CANDIDATE_PERMUTATIONS

WORDS = ("sketch0", "sketch1")
"""The columns of a sketch, 64 bits each."""

_MAX_LOST = 1e-7

# The 32-bit finalizer of MurmurHash3 (Austin Appleby, public domain).
_FIRST = np.uint32(0x85EBCA6B)
_SECOND = np.uint32(0xC2B2AE35)


def sketches_of(signatures: Signature) -> Hashes:
    """Return two bits of each of the 64 values of signatures: uint64, (texts, 2).

    Args:
        signatures: uint32, (texts, 64).

    Reference: Li and Koenig, b-bit minwise hashing, WWW 2010, section 3.
    """
    columns = _mixed(signatures)[..., np.newaxis] >> np.arange(2, dtype=np.uint32) & np.uint32(1)
    bits = columns.astype(np.uint8).reshape(len(signatures), -1)
    sketches: Hashes = np.packbits(bits, axis=1, bitorder="little").view(np.uint64)
    return sketches


def _mixed(values: Signature) -> Signature:
    # The values are odd, and the low bits of a product rest on the low bits of its factors alone:
    # two texts of one shingle each would agree in all values or in none.
    mixed = values ^ values >> np.uint32(16)
    mixed *= _FIRST
    mixed ^= mixed >> np.uint32(13)
    mixed *= _SECOND
    mixed ^= mixed >> np.uint32(16)
    return mixed


def max_unequal(min_similarity: float) -> int:
    """Return the number of values in which the sketches of two similar texts may differ.

    The two bits of a value agree by chance once in four times, so that those of texts of similarity
    s differ with a chance of .75 * (1 - s), and sketches of texts at ``min_similarity`` differ in
    more values once in 10**7 pairs, by Chernoff's bound. Those of texts that share nothing hardly
    ever differ in so few.
    """
    unequal_share = 0.75 * (1.0 - min_similarity)
    for unequal in range(CANDIDATE_PERMUTATIONS):
        share = unequal / CANDIDATE_PERMUTATIONS
        if share > unequal_share and _tail(share, unequal_share) <= _MAX_LOST:
            return unequal
    return CANDIDATE_PERMUTATIONS


def expected_unequal(min_similarity: float) -> int:
    """Return the number of values in which the sketches of two texts at a similarity differ."""
    return int(0.75 * (1.0 - min_similarity) * CANDIDATE_PERMUTATIONS)


def _tail(share: float, expected: float) -> float:
    """Bound the chance of at least that share of values, where another one is expected."""
    if expected == 0.0:
        return 0.0
    divergence = share * math.log(share / expected)
    divergence += (1 - share) * math.log((1 - share) / (1 - expected))
    return math.exp(-CANDIDATE_PERMUTATIONS * divergence)
