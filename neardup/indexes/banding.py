"""Choose the bands of a signature, and compute how often two texts share one."""

import math
from functools import cache
from typing import NamedTuple

from neardup.errors import ParameterError

MAX_BANDS = 1 << 10


class Banding(NamedTuple):
    """A division of signatures into bands; texts that agree in a whole band are candidates.

    Attributes:
        bands: The number of bands, slices of a signature.
        rows: The number of values in a band.
    """

    bands: int
    rows: int

    def collision_rate(self, similarity: float) -> float:
        """Return the chance that two texts share a band: 1 - (1 - s**rows)**bands, the S-curve.

        Args:
            similarity: The Jaccard similarity s of the two, 0 to 1.

        Raises:
            ParameterError: It is out of range.
        """
        if not 0 <= similarity <= 1:
            raise ParameterError(f"similarity must be 0..1, got {similarity}")
        return 1.0 - (1.0 - similarity**self.rows) ** self.bands

    def similarity_at(self, rate: float) -> float:
        """Return the similarity at which the chance is ``rate``.

        20 bands of 5 rows cross one half at .5087. Two other numbers are taken for it:
        (1 / bands)**(1 / rows) is .5493, where the chance is .64, and the curve is steepest at
        ((rows - 1) / (bands * rows - 1))**(1 / rows), that is .5264.

        Args:
            rate: 0 to 1.

        Raises:
            ParameterError: It is out of range.
        """
        if not 0 <= rate <= 1:
            raise ParameterError(f"rate must be 0..1, got {rate}")
        return float((1.0 - (1.0 - rate) ** (1.0 / self.bands)) ** (1.0 / self.rows))


CANDIDATE_BANDING = Banding(bands=16, rows=4)
"""The bands that find the candidates of a verdict: all but 2 in 10,000 of the pairs at .8."""

CANDIDATE_PERMUTATIONS = CANDIDATE_BANDING.bands * CANDIDATE_BANDING.rows
"""The number of values in the signature of a text that is judged."""

CANDIDATE_SIGNATURE_BYTES = 4 * CANDIDATE_PERMUTATIONS
"""The size of such a signature, whose values take four bytes each."""


_LOST = 1e-6
"""The share of pairs at ``min_similarity`` that an estimate may take for too different."""


@cache
def least_estimate(min_similarity: float) -> float:
    """Return the estimated similarity below which a candidate is not compared.

    Of the pairs whose texts have ``min_similarity``, at most one in a million is estimated lower
    from four bits of each value of their signatures (``LshIndex.query``).

    Args:
        min_similarity: Jaccard similarity, 0 to 1.

    Returns:
        At least 0; at .8 it is about .52.
    """
    unequal = max_unequal((1.0 - min_similarity) * 15 / 16, _LOST)
    return max(0.0, 1.0 - unequal * 16 / 15 / CANDIDATE_PERMUTATIONS)


@cache
def max_unequal(differing: float, lost: float = 1e-7) -> int:
    """Return the number of values in which the signatures of two similar texts may differ.

    Args:
        differing: The chance that one value differs, or what a sketch has of it, 0 to 1.
        lost: The largest share of such texts that differ in more values.
    """
    values, share = CANDIDATE_PERMUTATIONS, 0.0
    for unequal in range(values, 0, -1):
        rarer = math.comb(values, unequal) * differing**unequal
        share += rarer * (1.0 - differing) ** (values - unequal)
        if share > lost:
            return unequal
    return 0


def banding(min_similarity: float, permutations: int, min_recall: float) -> Banding:
    """Choose the bands that find at least ``min_recall`` of the pairs at ``min_similarity``.

    The largest number of rows that reaches this recall is taken: it makes the curve steepest, so
    that the fewest dissimilar texts are candidates. Then come as many bands as the signature has
    values for, at most 1,024.

    Args:
        min_similarity: Jaccard similarity, above 0, up to 1.
        permutations: Values of a signature.
        min_recall: Above 0, below 1.

    Raises:
        ParameterError: A number is out of range, or no number of rows finds that many.
    """
    check_wanted(min_similarity, min_recall)
    for rows in range(permutations, 0, -1):
        chosen = Banding(min(MAX_BANDS, permutations // rows), rows)
        if chosen.collision_rate(min_similarity) >= min_recall:
            return chosen
    most = Banding(min(MAX_BANDS, permutations), 1)
    lowest = math.ceil(most.similarity_at(min_recall) * 1000) / 1000
    raise ParameterError(
        f"min_similarity must be at least {lowest} for {permutations} permutations, "
        f"got {min_similarity}; take more permutations for less"
    )


def check_wanted(min_similarity: float, min_recall: float) -> None:
    """Raise ParameterError unless the one is above 0, up to 1, and the other between 0 and 1."""
    if not 0 < min_similarity <= 1:
        raise ParameterError(f"min_similarity must be above 0, up to 1, got {min_similarity!r}")
    if not 0 < min_recall < 1:
        raise ParameterError(f"min_recall must be between 0 and 1, got {min_recall!r}")
