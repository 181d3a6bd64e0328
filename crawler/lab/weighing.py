"""Weigh near pairs by their labels, or by Jaccard where there are none."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from crawler.lab.distance_evidence import (
    JACCARD,
    LABELS,
    DistanceEvidence,
    line,
    lines_by_distance,
    lines_by_similarity,
    suggest_from_jaccard,
    suggest_from_labels,
    suggest_similarity,
)
from neardup.evaluation.distinct_pairs import count_all
from neardup.evaluation.near_arrays import NONE, RADIUS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from crawler.lab.choice import Choice
    from crawler.lab.pictures import WeighedPairs
    from neardup.evaluation.shingle_sets import Load


class LabelledPairs(NamedTuple):
    """Labelled pairs that are within 8 bits.

    Attributes:
        distances: uint8, (pairs,).
        similarities: float64, (pairs,): NaN: not known.
        is_duplicate: bool, (pairs,).
    """

    distances: NDArray[np.uint8]
    similarities: NDArray[np.float64]
    is_duplicate: NDArray[np.bool_]


def weigh_labels(
    of: WeighedPairs,
    choice: Choice,
    labels: Mapping[frozenset[bytes], bool],
    numbers: Mapping[bytes, int],
    load: Load,
) -> DistanceEvidence:
    """Return the evidence of labels for each distance and similarity.

    Args:
        of: The near lists, and who counts.
        choice: Its radius is that of the lines by similarity.
        labels: The labels by the digests of two texts.
        numbers: The numbers of texts, by their digests.
        load: The function that gives the shingle sets of texts.
    """
    pairs = _labelled(of, labels, numbers, load)
    lines = lines_by_distance(pairs.distances, pairs.is_duplicate)
    radius = choice.parameters.radius
    within = pairs.distances <= radius
    similarities = pairs.similarities[within]
    by_similarity = lines_by_similarity(similarities, pairs.is_duplicate[within])
    known = int(np.count_nonzero(~np.isnan(similarities)))
    similarity, similarity_reason = suggest_similarity(by_similarity, known, radius)
    suggestion, reason = suggest_from_labels(lines)
    return DistanceEvidence(
        basis=LABELS,
        pairs=len(pairs.distances),
        duplicates=int(pairs.is_duplicate.sum()),
        beyond=len(labels) - len(pairs.distances),
        population=(
            f"labelled pairs of texts within {RADIUS} bits of each other; they were chosen to be "
            "instructive, so shares of all pairs may be others"
        ),
        by_distance=lines,
        by_similarity=by_similarity,
        suggestion=suggestion,
        reason=reason,
        similarity=similarity,
        similarity_reason=similarity_reason,
    )


def weigh_jaccard(of: WeighedPairs, choice: Choice) -> DistanceEvidence:
    """Return the same where Jaccard of at least ``min_similarity`` makes a duplicate."""
    least = choice.parameters.min_similarity
    counts = count_all(of.near, of.is_judged, least)
    right = np.cumsum(counts.similar).tolist()
    found = np.cumsum(counts.similar + counts.different).tolist()
    lines = tuple(line(bits, found[bits], right[bits], right[-1]) for bits in range(RADIUS + 1))
    suggestion, reason = suggest_from_jaccard(lines, least, verify=choice.parameters.verify)
    return DistanceEvidence(
        basis=JACCARD,
        pairs=found[-1],
        duplicates=right[-1],
        beyond=0,
        population=(
            f"pairs of texts within {RADIUS} bits of each other whose similarity is at least "
            f"{least:g}, counted, not judged by anybody"
        ),
        by_distance=lines,
        by_similarity=(),
        suggestion=suggestion,
        reason=reason,
    )


def _labelled(
    of: WeighedPairs,
    labels: Mapping[frozenset[bytes], bool],
    numbers: Mapping[bytes, int],
    load: Load,
) -> LabelledPairs:
    """Return those labelled pairs that are within 8 bits."""
    near, rows, texts = of.near, [], []
    for digests, is_duplicate in labels.items():
        both = [numbers.get(digest, -1) for digest in digests]
        places = [int(near.members.first_of_text[text]) for text in both if text >= 0]
        if len(places) != 2 or NONE in places or not of.is_judged[places].all():
            continue
        one, other = near.fingerprints[near.members.classes[places]].tolist()
        distance = (one ^ other).bit_count()
        if distance <= RADIUS:
            rows.append((distance, is_duplicate))
            texts.append(both)
    distances = np.array([row[0] for row in rows], np.uint8)
    duplicates = np.array([row[1] for row in rows], np.bool_)
    return LabelledPairs(distances, _similarities(np.array(texts, np.int64), load), duplicates)


def _similarities(texts: NDArray[np.int64], load: Load) -> NDArray[np.float64]:
    from neardup.evaluation import similarity_kernel  # noqa: PLC0415  (numba takes long)

    if not len(texts):
        return np.zeros(0)
    ones, others = np.ascontiguousarray(texts.T)
    found = similarity_kernel.similarities(load(texts.ravel()), ones, others)
    return np.where(found < 0, np.nan, found)
