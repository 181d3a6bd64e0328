"""Draw histograms and scatters from near lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from crawler.lab.figures import Histogram, Scatter
from neardup.evaluation.distinct_pairs import count_all, pick
from neardup.evaluation.nearest import count_nearest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from neardup.evaluation.judging import Near


class WeighedPairs(NamedTuple):
    """Near lists, and whose pairs count.

    Attributes:
        near: All of them.
        is_judged: bool, (places,): of at least as many words as are asked for.
    """

    near: Near
    is_judged: NDArray[np.bool_]


def judged(near: Near, words: NDArray[np.int32], min_words: int) -> WeighedPairs:
    """Return near lists with the places that a fingerprint stands for."""
    is_judged = (near.members.classes >= 0) & (words >= min_words)
    return WeighedPairs(near, is_judged)


def histogram(of: WeighedPairs) -> Histogram:
    """Return the distances from each distinct text to the nearest one."""
    members = of.near.members
    places = np.flatnonzero(of.is_judged)
    places = places[members.first_of_text[members.texts[places]] == places]
    found = count_nearest(of.near.fingerprints[members.classes[places]])
    return Histogram(found.counts, found.asked, sampled=found.is_sampled)


def scatter(of: WeighedPairs, most: int) -> Scatter:
    """Return pairs of texts: of each distance all, or no more than its share."""
    counts = count_all(of.near, of.is_judged, 0.0)
    known = counts.different + counts.similar
    given = shares(known, most)
    picked = pick(of.near, of.is_judged, known, given, with_unknown=False)
    return Scatter(
        picked.distance,
        picked.similarity.astype(np.float32),
        picked.earlier.astype(np.int64),
        picked.later.astype(np.int64),
        int(known.sum()),
    )


def shares(available: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """Share ``most`` out among the distances, as evenly as the available pairs allow."""
    given = np.zeros_like(available)
    left, waiting = most, list(np.argsort(available, kind="stable"))
    while waiting:
        # The scarcest first; what it leaves goes to the others.
        distance = waiting.pop(0)
        given[distance] = min(int(available[distance]), left // (len(waiting) + 1))
        left -= int(given[distance])
    return given
