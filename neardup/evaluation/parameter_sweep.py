"""Sweep distances over judged texts; fingerprints are compared once for all of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neardup.errors import ParameterError
from neardup.evaluation.metrics import (
    CrawlOutcome,
    Scores,
    Similar,
    count_errors,
    labelled_pairs,
)
from neardup.indexes.arrays import checked_fingerprints
from neardup.indexes.hamming import HammingIndex
from neardup.verdict import NEAR_DUPLICATE, NEW, Verdict


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
