"""32 bytes that tell two texts of different words apart before their texts are fetched."""

import math

import numpy as np

from neardup.features.hashing import Hashes
from neardup.fingerprints.b_bit import b_bit
from neardup.fingerprints.estimate import Signature

PERMUTATIONS = 128
"""The number of values in a signature of a run; a sketch has two bits of each."""

WORDS = ("sketch0", "sketch1", "sketch2", "sketch3")
"""The columns of a sketch, 64 bits each."""

_MAX_LOST = 1e-12


def sketch_of(signature: Signature) -> Hashes:
    """Return two bits of each value of a signature: uint64, (4,)."""
    return np.frombuffer(b_bit(signature, 2).data, np.uint64)


def most_unequal(min_similarity: float) -> int:
    """Return the number of values in which the sketches of two similar texts may differ.

    The two bits of a value agree by chance once in four times, so that those of texts of similarity
    s differ with a chance of .75 * (1 - s), and sketches of texts at ``min_similarity`` differ in
    more values once in 10**12 pairs, by Chernoff's bound. Those of texts that share nothing hardly
    ever differ in so few.
    """
    unequal_share = 0.75 * (1.0 - min_similarity)
    for unequal in range(PERMUTATIONS):
        share = unequal / PERMUTATIONS
        if share > unequal_share and _tail(share, unequal_share) <= _MAX_LOST:
            return unequal
    return PERMUTATIONS


def _tail(share: float, expected: float) -> float:
    """Bound the chance of at least that share of values, where another one is expected."""
    if expected == 0.0:
        return 0.0
    divergence = share * math.log(share / expected)
    divergence += (1 - share) * math.log((1 - share) / (1 - expected))
    return math.exp(-PERMUTATIONS * divergence)
