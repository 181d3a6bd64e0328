"""Precision and recall of pairs."""

import csv
import os
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import NamedTuple, TypeAlias

from neardup.errors import DocumentError
from neardup.verdict import Verdict

Similar: TypeAlias = Mapping[int, frozenset[int]]
"""The ids of all texts that count as the same, for each id."""

_QUANTILE = 1.959963984540054
"""The quantile of the normal distribution for intervals of 95 %."""

Pair: TypeAlias = tuple[int, int]
"""Two ids, in either order."""


def read_similar(
    path: str | os.PathLike[str], *, measure: str = "j5", min_similarity: float = 0.8
) -> Similar:
    """Read which texts count as the same from a CSV file of pairs.

    Args:
        path: Columns ``a`` and ``b`` hold ids, a pair a row, in either order.
        measure: The column of the similarity, 0 to 1.
        min_similarity: Pairs below it are left out.

    Raises:
        DocumentError: A column is missing or holds no number.
    """
    similar: defaultdict[int, set[int]] = defaultdict(set)
    with Path(path).open(newline="", encoding="utf-8") as file:
        rows = csv.DictReader(file)
        for number, row in enumerate(rows, start=2):
            try:
                first, second, similarity = int(row["a"]), int(row["b"]), float(row[measure])
            except (KeyError, TypeError, ValueError) as error:
                raise DocumentError(
                    f"{path}, line {number}: columns a, b and {measure} expected, got {row}"
                ) from error
            if similarity >= min_similarity:
                similar[first].add(second)
                similar[second].add(first)
    return {text: frozenset(others) for text, others in similar.items()}


class Interval(NamedTuple):
    """A share and where the true one lies, 19 times of 20; all are 0 to 1."""

    low: float
    share: float
    high: float


def wilson(right: int, of: int) -> Interval | None:
    """Return the share of ``right`` among ``of`` with its 95 % interval; None: a share of nothing.

    Reference: Wilson, Journal of the American Statistical Association 22, 1927.
    """
    if not of:
        return None
    share, z = right / of, _QUANTILE
    shrunk = 1 + z * z / of
    middle = (share + z * z / (2 * of)) / shrunk
    half = z / shrunk * sqrt(share * (1 - share) / of + z * z / (4 * of * of))
    # Rounding must not lift the low end above a share of 0, nor the high end below one of 1.
    return Interval(min(share, max(0.0, middle - half)), share, max(share, min(1.0, middle + half)))


@dataclass(frozen=True, slots=True)
class CrawlOutcome:
    """The numbers of verdicts on texts, and of the wrong ones.

    Attributes:
        kept: The number of texts that were kept.
        dropped: The number of texts whose verdict was a duplicate.
        wrong_drops: The number of dropped texts that no text kept before them resembles: pages
            lost.
        missed: The number of kept texts that a text kept before them resembles: work not saved.
    """

    kept: int
    dropped: int
    wrong_drops: int
    missed: int


def count_errors(verdicts: Iterable[tuple[int, Verdict]], similar: Similar) -> CrawlOutcome:
    """Count the wrong ones among verdicts, taken in the order in which they fell.

    Args:
        verdicts: Ids of texts with their verdicts.
        similar: For an id, the ids of all texts that count as the same.
    """
    kept: set[int] = set()
    dropped = wrong_drops = missed = 0
    for text, verdict in verdicts:
        resembles_kept = not kept.isdisjoint(similar.get(text, ()))
        if verdict.is_duplicate:
            dropped += 1
            wrong_drops += not resembles_kept
        else:
            missed += resembles_kept
            kept.add(text)
    return CrawlOutcome(len(kept), dropped, wrong_drops, missed)


@dataclass(frozen=True, slots=True)
class Scores:
    """Found pairs compared with labelled ones.

    Attributes:
        right: The number of pairs that were found and are labelled.
        found: The number of pairs that were found.
        labelled: The number of pairs that are labelled, so should be found.
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


def labelled_pairs(similar: Similar) -> set[Pair]:
    """Return the pairs that ``read_similar`` read, the smaller id first."""
    return _distinct((text, other) for text, others in similar.items() for other in others)


def _distinct(pairs: Iterable[Pair]) -> set[Pair]:
    return {(min(pair), max(pair)) for pair in pairs if pair[0] != pair[1]}
