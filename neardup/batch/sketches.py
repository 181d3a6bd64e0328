"""Sixteen bytes that tell two texts of different words apart before their texts are fetched."""

import math

import numpy as np

from neardup.features.hashing import Hashes
from neardup.fingerprints.b_bit import b_bit
from neardup.fingerprints.estimate import Signature

PERMUTATIONS = 128
"""Values of the signatures of a run, one bit of each of which is in a sketch."""

_MOST_LOST = 1e-12


def sketch_of(signature: Signature) -> Hashes:
    """Return one bit of each value of a signature: uint64, (2,)."""
    return np.frombuffer(b_bit(signature, 1).data, np.uint64)


def most_unequal(min_similarity: float) -> int:
    """Return how many bits of two sketches may differ before the texts need not be compared.

    Bits of texts of similarity s agree with a chance of (1 + s) / 2, so that sketches of texts at
    ``min_similarity`` differ in more bits once in 10**12 pairs, by Chernoff's bound.
    """
    unequal_share = (1.0 - min_similarity) / 2.0
    for unequal in range(PERMUTATIONS):
        share = unequal / PERMUTATIONS
        if share > unequal_share and _tail(share, unequal_share) <= _MOST_LOST:
            return unequal
    return PERMUTATIONS


def _tail(share: float, expected: float) -> float:
    """The chance of at least that share of bits, where another one is expected."""
    if expected == 0.0:
        return 0.0
    divergence = share * math.log(share / expected)
    divergence += (1 - share) * math.log((1 - share) / (1 - expected))
    return math.exp(-PERMUTATIONS * divergence)
