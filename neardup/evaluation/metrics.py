"""Precision and recall of pairs."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from neardup.evaluation.labelled import Similar

Pair: TypeAlias = tuple[int, int]
"""Two ids, in either order."""


@dataclass(frozen=True, slots=True)
class Scores:
    """Found pairs held against labelled ones.

    Attributes:
        right: Pairs that were found and are labelled.
        found: Pairs that were found.
        labelled: Pairs that are labelled, so should be found.
    """

    right: int
    found: int
    labelled: int

    @property
    def precision(self) -> float:
        """The share of the found pairs that are right, 0 to 1; 1 where none were found."""
        return self.right / self.found if self.found else 1.0

    @property
    def recall(self) -> float:
        """The share of the labelled pairs that were found, 0 to 1; 1 where none are labelled."""
        return self.right / self.labelled if self.labelled else 1.0

    @property
    def f1(self) -> float:
        """The harmonic mean of both, 0 to 1: 2 right / (found + labelled)."""
        both = self.found + self.labelled
        return 2 * self.right / both if both else 1.0


def score_pairs(labelled: Iterable[Pair], found: Iterable[Pair]) -> Scores:
    """Count which pairs are right.

    A pair counts once, however often and in whichever order it is given; an id with itself is
    none.

    Complexity: O(pairs).
    """
    wanted, got = _distinct(labelled), _distinct(found)
    return Scores(len(wanted & got), len(got), len(wanted))


def labelled_pairs(similar: Similar) -> set[Pair]:
    """Return the pairs that ``read_similar`` read, the smaller id first."""
    return _distinct((text, other) for text, others in similar.items() for other in others)


def _distinct(pairs: Iterable[Pair]) -> set[Pair]:
    return {(min(pair), max(pair)) for pair in pairs if pair[0] != pair[1]}
