"""The data of the charts, and the lines of a sweep."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from neardup.evaluation.distinct_pairs import NearestCounts, Picked, count_all, count_nearest, pick

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crawler.lab.judgement import Choice
    from neardup import Parameters
    from neardup.evaluation.judging import Near


class Scatter(NamedTuple):
    """Pairs of distinct texts within 8 bits; of each distance no more than its share.

    Attributes:
        shown: These pairs, all of known similarity.
        pairs: The number of all pairs that they were taken from.
    """

    shown: Picked
    pairs: int


@dataclass(frozen=True)
class SweepLine:
    """The outcome of one choice of a sweep.

    Attributes:
        choice: The choice that judged.
        kept: The number of pages kept.
        dropped: The number of pages dropped.
        layers: The number of pages that each layer decided.
        now_kept: The number of pages kept that the running parameters drop.
        now_dropped: The number of pages dropped that the running parameters keep.
    """

    choice: Choice
    kept: int
    dropped: int
    layers: dict[str, int]
    now_kept: int
    now_dropped: int


NO_BOUND, MAX_DISTANCE, MIN_SIMILARITY = "", "max_distance", "min_similarity"
"""Names of the parameter that a sweep varies."""


class Sweep(NamedTuple):
    """The outcomes of one bound's values.

    Attributes:
        bound: ``MAX_DISTANCE``, ``MIN_SIMILARITY`` or ``NO_BOUND``.
        lines: A line for each value.
    """

    bound: str
    lines: list[SweepLine]

    @property
    def values(self) -> list[float]:
        """The value of the bound in each line."""
        return [self.value_of(line.choice.parameters) for line in self.lines]

    @property
    def is_same(self) -> bool:
        """Whether several values were tried, and all keep and drop the same numbers of pages."""
        counts = {(one.kept, one.dropped, one.now_kept, one.now_dropped) for one in self.lines}
        return len(self.lines) > 1 and len(counts) == 1

    def value_of(self, parameters: Parameters) -> float:
        """Return the value of the bound in parameters."""
        return float(getattr(parameters, self.bound))


class WeighedPairs(NamedTuple):
    """Near lists, and whose pairs count.

    Attributes:
        near: All of them.
        is_judged: bool, (places,): of at least as many words as are asked for.
    """

    near: Near
    is_judged: NDArray[np.bool_]


def histogram(of: WeighedPairs) -> NearestCounts:
    """Return the distances from each distinct text to the nearest one."""
    members = of.near.members
    places = np.flatnonzero(of.is_judged)
    places = places[members.first_of_text[members.texts[places]] == places]
    return count_nearest(of.near.fingerprints[members.classes[places]])


def scatter(of: WeighedPairs, most: int) -> Scatter:
    """Return pairs of texts: of each distance all, or no more than its share."""
    counts = count_all(of.near, of.is_judged, 0.0)
    known = counts.different + counts.similar
    picked = pick(of.near, of.is_judged, known, shares(known, most), with_unknown=False)
    return Scatter(picked, int(known.sum()))


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
