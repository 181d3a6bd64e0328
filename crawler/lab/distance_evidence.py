"""Precision and recall of every bound, from labels or from Jaccard."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from crawler.lab.near_pairs import distinct_pairs
from neardup.evaluation import kernels
from neardup.evaluation.metrics import Interval, wilson
from neardup.evaluation.near_arrays import NONE, RADIUS
from neardup.plurals import many

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from crawler.lab.judgement import Choice
    from crawler.lab.near_pairs import WeighedPairs
    from neardup.evaluation.near_arrays import Load

LABELS, JACCARD = "labels", "jaccard"
MIN_COUNT = 20
"""The number of labelled pairs from which on a distance is suggested."""

_LABEL_SOME = "; label some with crawl-once lab"
_NO_LABELS = "which similarity is right cannot be told by similarity itself; no labels"
_SHARE_BELOW = 0.01
"""The share of pairs that may be on the wrong side where Jaccard stands for labels."""

_MIN_PRECISION = 0.5
"""No distance is suggested within which fewer pairs are duplicates than others."""

_ALL_SAME = "all these values keep and drop the same, so that the choice changes nothing"


@dataclass(frozen=True, slots=True)
class EvidenceLine:
    """The pairs that one bound finds.

    Attributes:
        bound: The largest distance, in bits, or the least similarity.
        found: The number of pairs within the bound.
        right: The number of duplicates among them.
        duplicates: The number of duplicates among all pairs.
    """

    bound: float
    found: int
    right: int
    duplicates: int

    @property
    def precision(self) -> Interval | None:
        """The share of ``right`` in ``found``; None: nothing was found."""
        return wilson(self.right, self.found)

    @property
    def recall(self) -> Interval | None:
        """The share of ``right`` in ``duplicates``; None: there are no duplicates."""
        return wilson(self.right, self.duplicates)


@dataclass(frozen=True)
class DistanceEvidence:
    """The evidence for each distance and similarity.

    Attributes:
        basis: ``labels``, or ``jaccard`` where there are none.
        pairs: Pairs that count: within 8 bits, and labelled, or of known similarity.
        duplicates: The number of duplicates among them: labelled so, or of at least
            ``min_similarity``.
        beyond: Labelled pairs that do not count: farther apart than 8 bits, or of texts without a
            fingerprint or that are not here.
        population: The pairs that recall is a share of, in words.
        by_distance: A line for each distance 0 to 8: all pairs within it count as found.
        by_similarity: A line for each similarity from .5 to 1: those pairs count as found that have
            at least this similarity, where it confirms at any distance within 8 bits, else within
            ``max_distance``. Empty without labels.
        suggestion: A distance, for ``choice.within``: where similarity confirms, ``max_distance``
            alone decides nothing. None: it cannot be told.
        reason: The reason of the suggestion, or why there is none.
        similarity: A ``min_similarity``; None: it cannot be told, or there are no labels.
        similarity_reason: The reason of it, or why there is none; empty where similarity confirms
            nothing and there are no labels.
    """

    basis: str
    pairs: int
    duplicates: int
    beyond: int
    population: str
    by_distance: tuple[EvidenceLine, ...]
    by_similarity: tuple[EvidenceLine, ...]
    suggestion: int | None
    reason: str
    similarity: float | None = None
    similarity_reason: str = ""

    def without_suggestion(self) -> DistanceEvidence:
        """Return the same where every value that was tried keeps and drops the same."""
        nothing = replace(self, suggestion=None, reason=_ALL_SAME)
        return replace(nothing, similarity=None, similarity_reason=_ALL_SAME)


def lines_by_distance(
    distances: NDArray[np.uint8], is_duplicate: NDArray[np.bool_]
) -> tuple[EvidenceLine, ...]:
    """Return a line for each distance 0 to 8."""
    return _lines({bits: distances <= bits for bits in range(9)}, is_duplicate)


def lines_by_similarity(
    similarities: NDArray[np.float64], is_duplicate: NDArray[np.bool_]
) -> tuple[EvidenceLine, ...]:
    """Return a line for each similarity .5, .55 ... 1; what is not known (NaN) is not found."""
    return _lines({step / 20: similarities >= step / 20 for step in range(10, 21)}, is_duplicate)


def _lines(
    within: Mapping[float, NDArray[np.bool_]], is_duplicate: NDArray[np.bool_]
) -> tuple[EvidenceLine, ...]:
    duplicates = int(is_duplicate.sum())
    return tuple(
        EvidenceLine(bound, int(found.sum()), int((found & is_duplicate).sum()), duplicates)
        for bound, found in within.items()
    )


def suggest_from_labels(lines: tuple[EvidenceLine, ...]) -> tuple[int | None, str]:
    """Return the largest distance at which nothing is labelled different, and why."""
    labelled = lines[8].found
    if labelled < MIN_COUNT:
        known = many(labelled, "labelled pair")
        return None, f"not enough evidence: {known} within 8 bits, {MIN_COUNT} needed{_LABEL_SOME}"
    clean = [bits for bits, one in enumerate(lines) if one.found and one.right == one.found]
    if not clean:
        first = next(bits for bits, one in enumerate(lines) if one.found)
        return None, (
            f"pairs at {many(first, 'bit')} are labelled different already: confirm by similarity; "
            f"{labelled} labelled"
        )
    # Beyond the farthest label nothing is known.
    farthest = next(bits for bits, one in enumerate(lines) if one.found == labelled)
    best = min(clean[-1], farthest)
    return best, f"{best}: no pair labelled different at or below {best}; {labelled} labelled"


def suggest_similarity(
    lines: tuple[EvidenceLine, ...], labelled: int, radius: int
) -> tuple[float | None, str]:
    """Return the least similarity from which on nothing is labelled different, and why.

    Args:
        lines: The lines of all similarities.
        labelled: Pairs of known similarity that are labelled, within the radius.
        radius: The largest distance of these pairs, in bits.
    """
    there = f"{labelled} labelled within {many(radius, 'bit')}"
    if labelled < MIN_COUNT:
        return None, f"not enough evidence: {there}, {MIN_COUNT} needed{_LABEL_SOME}"
    clean = [one for one in lines if one.found and one.right == one.found]
    if not clean:
        return None, f"at every similarity pairs are labelled different; {there}"
    # Below the least similar label nothing is known.
    best = max(one.bound for one in clean if one.found == clean[0].found)
    right, duplicates = clean[0].right, clean[0].duplicates
    return best, (
        f"{best:g}: no pair labelled different from {best:g} on, which finds {right} of "
        f"{duplicates} duplicates; {there}"
    )


def suggest_from_jaccard(
    lines: tuple[EvidenceLine, ...], least: float, *, verify: bool
) -> tuple[int | None, str]:
    """Return a distance by what exact Jaccard says of pairs, and why.

    Args:
        lines: At each distance.
        least: The similarity that makes a duplicate.
        verify: Whether similarity confirms what is near, so that a distance loses no page, and
            is the better the more it finds.
    """
    pairs = lines[8].found
    if pairs < MIN_COUNT:
        found = many(pairs, "pair")
        return None, f"not enough evidence: {found} within 8 bits, {MIN_COUNT} needed{_LABEL_SOME}"
    return _widest_needed(lines, least) if verify else _widest_safe(lines, least)


def _widest_safe(lines: tuple[EvidenceLine, ...], least: float) -> tuple[int | None, str]:
    """Return the largest distance at which nearly no pair is less similar than asked for."""
    clean = [
        bits
        for bits, one in enumerate(lines)
        if one.found and one.found - one.right <= _SHARE_BELOW * one.found
    ]
    if not clean:
        return None, f"at every distance pairs are less similar than {least:g}; no labels"
    best = clean[-1]
    less = lines[best].found - lines[best].right
    return best, (
        f"{best}: of {lines[best].found:,} pairs at or below {best} {less:,} are less similar than "
        f"{least:g}; no labels"
    )


def _widest_needed(lines: tuple[EvidenceLine, ...], least: float) -> tuple[int | None, str]:
    """Return the smallest distance at which nearly every similar pair is found."""
    similar = lines[8].right
    if not similar:
        return None, f"no pair within 8 bits has a similarity of {least:g}; no labels"
    wanted = (1 - _SHARE_BELOW) * similar
    best = next(bits for bits, one in enumerate(lines) if one.right >= wanted)
    if lines[best].right < _MIN_PRECISION * lines[best].found:
        return None, (
            f"of {lines[best].found:,} pairs at or below {best} only {lines[best].right:,} are "
            "similar enough, and similarity confirms at every distance; no labels"
        )
    return best, (
        f"{best}: similarity confirms, and {lines[best].right:,} of {similar:,} pairs that are "
        f"similar enough are at or below {best}; no labels"
    )


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
        choice: Whether similarity confirms, and ``max_distance``.
        labels: The labels by the digests of two texts.
        numbers: The numbers of texts, by their digests.
        load: The function that gives the shingle sets of texts.
    """
    distances, is_duplicate, texts = _labelled(of, labels, numbers)
    lines = lines_by_distance(distances, is_duplicate)
    parameters = choice.parameters
    radius = RADIUS if parameters.verify else parameters.max_distance
    within = distances <= radius
    similarities = _similarities(texts, load)[within]
    by_similarity = lines_by_similarity(similarities, is_duplicate[within])
    known = int(np.count_nonzero(~np.isnan(similarities)))
    similarity, similarity_reason = suggest_similarity(by_similarity, known, radius)
    suggestion, reason = suggest_from_labels(lines)
    return DistanceEvidence(
        basis=LABELS,
        pairs=len(distances),
        duplicates=int(is_duplicate.sum()),
        beyond=len(labels) - len(distances),
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
    pairs = distinct_pairs(of)
    known = pairs.taken(pairs.similarity >= 0)
    lines = lines_by_distance(known.distance, known.similarity >= least)
    suggestion, reason = suggest_from_jaccard(lines, least, verify=choice.parameters.verify)
    return DistanceEvidence(
        basis=JACCARD,
        pairs=lines[RADIUS].found,
        duplicates=lines[RADIUS].right,
        beyond=0,
        population=(
            f"pairs of texts within {RADIUS} bits of each other whose similarity is at least "
            f"{least:g}, counted, not judged by anybody"
        ),
        by_distance=lines,
        by_similarity=(),
        suggestion=suggestion,
        reason=reason,
        similarity_reason=_NO_LABELS if choice.parameters.verify else "",
    )


def _labelled(
    of: WeighedPairs,
    labels: Mapping[frozenset[bytes], bool],
    numbers: Mapping[bytes, int],
) -> tuple[NDArray[np.uint8], NDArray[np.bool_], NDArray[np.int64]]:
    """Return the labelled pairs within 8 bits: distances, whether duplicates, and both texts."""
    near, rows, texts = of.near, [], []
    for digests, is_duplicate in labels.items():
        both = [numbers.get(digest, -1) for digest in digests]
        places = [int(near.members.first_of_text[text]) for text in both if text >= 0]
        if len(places) != 2 or NONE in places or not of.is_judged[places].all():
            continue
        one, other = near.fingerprints[places].tolist()
        distance = (one ^ other).bit_count()
        if distance <= RADIUS:
            rows.append((distance, is_duplicate))
            texts.append(both)
    distances = np.array([row[0] for row in rows], np.uint8)
    duplicates = np.array([row[1] for row in rows], np.bool_)
    return distances, duplicates, np.array(texts, np.int64)


def _similarities(texts: NDArray[np.int64], load: Load) -> NDArray[np.float64]:
    """Return the similarities of pairs of texts; NaN: a text is not held."""
    if not len(texts):
        return np.zeros(0)
    ones, others = np.ascontiguousarray(texts.T)
    found = kernels.similarities(load(texts.ravel()), ones, others)
    return np.where(found < 0, np.nan, found)
