"""Precision and recall of pairs, and of the verdicts at each distance."""

import csv
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from neardup.errors import DocumentError, ParameterError
from neardup.indexes.arrays import checked_fingerprints
from neardup.indexes.hamming import HammingIndex
from neardup.verdict import NEAR_DUPLICATE, NEW, Verdict

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


class NearPairs(NamedTuple):
    """Pairs of texts, by the later one, then nearest first, then by the earlier one.

    Texts are named by their places in the order in which they were judged.

    Attributes:
        later: int64, (pairs,).
        earlier: int64, (pairs,).
        distances: uint8, (pairs,), in bits.
    """

    later: NDArray[np.int64]
    earlier: NDArray[np.int64]
    distances: NDArray[np.uint8]


def near_pairs(fingerprints: Mapping[int, int], max_distance: int) -> NearPairs:
    """Find every pair of fingerprints within ``max_distance`` bits.

    Args:
        fingerprints: The fingerprints by id, in the order in which the texts are judged.
        max_distance: The largest distance of a pair, 0 to 8 bits.

    Raises:
        FingerprintError: A fingerprint does not fit in 64 bits.
        ParameterError: ``max_distance`` is out of range.

    Complexity: that of a query for each text; O(pairs) memory, which a fingerprint shared by m
    texts makes m**2 / 2.
    """
    values = checked_fingerprints(list(fingerprints.values()))
    with HammingIndex(radius=max_distance) as index:
        index.add_many(values, np.arange(len(values)))
        found = index.query_many(values)
    # Each pair comes from both ends, and each text finds itself.
    once = found.ids < found.positions
    return NearPairs(found.positions[once], found.ids[once], found.distances[once])


@dataclass(frozen=True, slots=True)
class SweepRow:
    """Outcome for texts where a distance alone decides.

    Attributes:
        max_distance: The largest distance of a match, in bits.
        outcome: The numbers of texts kept and dropped in crawl order, and of the wrong ones.
        scores: All pairs within the distance compared with the labelled ones.
    """

    max_distance: int
    outcome: CrawlOutcome
    scores: Scores


def sweep(
    fingerprints: Mapping[int, int], labelled: Similar, distances: Sequence[int] = range(9)
) -> list[SweepRow]:
    """Judge fingerprints by each distance, without computing them or texts again.

    Args:
        fingerprints: The fingerprints by id, in the order in which the texts are judged.
        labelled: The ids that count as the same, for each id; ids without a fingerprint are left
            out.
        distances: Values of ``max_distance``, each 0 to 8.

    Raises:
        ParameterError: No distances, or one outside of 0..8.
        FingerprintError: A fingerprint does not fit in 64 bits.

    Complexity: O(pairs within the largest distance), for each row.
    """
    if not distances:
        raise ParameterError("at least one distance expected, got none")
    for bits in distances:
        if not 0 <= bits <= 8:
            raise ParameterError(f"a distance must be 0..8, got {bits}")
    ids = list(fingerprints)
    wanted = {pair for pair in labelled_pairs(labelled) if fingerprints.keys() >= set(pair)}
    every = near_pairs(fingerprints, max(distances))
    rows = []
    for bits in distances:
        pairs = NearPairs._make(column[every.distances <= bits] for column in every)
        ends = zip(pairs.later.tolist(), pairs.earlier.tolist(), strict=True)
        named = ((ids[later], ids[earlier]) for later, earlier in ends)
        right = sum((min(pair), max(pair)) in wanted for pair in named)
        scores = Scores(right, len(pairs.later), len(wanted))
        rows.append(SweepRow(bits, count_errors(_verdicts(ids, pairs), labelled), scores))
    return rows


def _verdicts(ids: Sequence[int], pairs: NearPairs) -> Iterator[tuple[int, Verdict]]:
    """Judge in crawl order, as a deduplicator does: against what is kept, nearest first."""
    drops: dict[int, Verdict] = {}
    for later, earlier, distance in zip(*(part.tolist() for part in pairs), strict=True):
        # Pairs come by the later text, so of the earlier one all is decided.
        if later not in drops and earlier not in drops:
            drops[later] = Verdict(NEAR_DUPLICATE, ids[earlier], distance)
    new = Verdict(NEW)
    for place, text in enumerate(ids):
        yield text, drops.get(place, new)
