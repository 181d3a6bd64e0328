"""Sweep parameters over judged texts; fingerprints are compared once for all of them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neardup.errors import ParameterError
from neardup.evaluation.metrics import Pair, Scores, Similar, count_errors, labelled_pairs
from neardup.indexes.arrays import checked_fingerprints
from neardup.indexes.hamming import HammingIndex
from neardup.verdict import NEAR_DUPLICATE, NEW, Verdict

Flags = NDArray[np.bool_]


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
    """The outcome of one choice of parameters.

    Attributes:
        max_distance: The largest distance of a match, in bits.
        min_similarity: The similarity that confirms a candidate; None where distance alone decides.
        kept: The number of texts that are kept, judged in crawl order.
        dropped: The number of texts that are dropped.
        wrong_drops: The number of dropped texts that no text kept before them resembles.
        missed: The number of kept texts that a text kept before them resembles.
        precision: The share of labelled pairs among all pairs within both bounds.
        recall: The share of pairs within both bounds among the labelled ones.
        f1: Their harmonic mean.
    """

    max_distance: int
    min_similarity: float | None
    kept: int
    dropped: int
    wrong_drops: int
    missed: int
    precision: float
    recall: float
    f1: float


def sweep(
    fingerprints: Mapping[int, int],
    labelled: Similar,
    *,
    distances: Sequence[int] = range(9),
    similarity: Callable[[int, int], float] | None = None,
    min_similarities: Sequence[float] = (0.8,),
) -> list[SweepRow]:
    """Judge fingerprints under each choice of parameters, without computing them or texts again.

    Args:
        fingerprints: The fingerprints by id, in the order in which the texts are judged.
        labelled: The ids that count as the same, for each id; ids without a fingerprint are left
            out.
        distances: Values of ``max_distance``, each 0 to 8.
        similarity: The similarity of two ids, asked once for each pair within the largest
            distance. None: only rows where the distance decides alone.
        min_similarities: Values of ``min_similarity``, each 0 to 1, where ``similarity`` is given.

    Returns:
        A row for each distance where it decides alone, then for each similarity a row for each
        distance.

    Raises:
        ParameterError: No distances, one outside of 0..8, or a similarity outside of 0..1.
        FingerprintError: A fingerprint does not fit in 64 bits.

    Complexity: O(pairs within the largest distance), for each row.
    """
    _check(distances, min_similarities)
    pairs = near_pairs(fingerprints, max(distances))
    texts = _Texts(list(fingerprints), labelled)
    rows = [texts.row(pairs, pairs.distances <= bits, bits, None) for bits in distances]
    if similarity is None:
        return rows
    shared = np.fromiter((similarity(*pair) for pair in texts.named(pairs)), np.float64)
    for least in min_similarities:
        confirmed = shared >= least
        rows += [
            texts.row(pairs, confirmed & (pairs.distances <= bits), bits, least)
            for bits in distances
        ]
    return rows


class _Texts:
    """The texts in crawl order, and what is known of them."""

    def __init__(self, ids: list[int], labelled: Similar) -> None:
        self._ids = ids
        self._labelled = labelled
        judged = set(ids)
        self._wanted = {pair for pair in labelled_pairs(labelled) if judged.issuperset(pair)}

    def named(self, pairs: NearPairs) -> Iterator[Pair]:
        """Yield the ids of each pair, the earlier first."""
        for earlier, later in zip(pairs.earlier.tolist(), pairs.later.tolist(), strict=True):
            yield self._ids[earlier], self._ids[later]

    def row(self, pairs: NearPairs, counts: Flags, bits: int, least: float | None) -> SweepRow:
        """Judge all texts by those pairs that count."""
        chosen = NearPairs(pairs.later[counts], pairs.earlier[counts], pairs.distances[counts])
        outcome = count_errors(self._verdicts(chosen), self._labelled)
        right = sum((min(pair), max(pair)) in self._wanted for pair in self.named(chosen))
        scores = Scores(right, len(chosen.later), len(self._wanted))
        counted = (outcome.kept, outcome.dropped, outcome.wrong_drops, outcome.missed)
        return SweepRow(bits, least, *counted, scores.precision, scores.recall, scores.f1)

    def _verdicts(self, pairs: NearPairs) -> Iterator[tuple[int, Verdict]]:
        """Judge in crawl order, as a deduplicator does: against what is kept, nearest first."""
        drops: dict[int, Verdict] = {}
        for later, earlier, distance in zip(*(part.tolist() for part in pairs), strict=True):
            # Pairs come by the later text, so of the earlier one all is decided.
            if later not in drops and earlier not in drops:
                drops[later] = Verdict(NEAR_DUPLICATE, self._ids[earlier], distance)
        new = Verdict(NEW)
        for place, text in enumerate(self._ids):
            yield text, drops.get(place, new)


def _check(distances: Sequence[int], min_similarities: Sequence[float]) -> None:
    if not distances:
        raise ParameterError("at least one distance expected, got none")
    for bits in distances:
        if not 0 <= bits <= 8:
            raise ParameterError(f"a distance must be 0..8, got {bits}")
    for least in min_similarities:
        if not 0 <= least <= 1:
            raise ParameterError(f"min_similarity must be 0..1, got {least}")
