"""What labels say, and what can be told from them."""

from __future__ import annotations

import numpy as np
import pytest

from crawler.lab.distance_evidence import (
    EvidenceLine,
    lines_by_similarity,
    suggest_from_jaccard,
    suggest_from_labels,
    suggest_similarity,
)
from crawler.lab.judgement import Choice
from crawler.lab.labels import Label
from crawler.lab.near_pairs import NearPair
from neardup import Parameters, hamming, jaccard
from neardup.evaluation.metrics import wilson
from neardup.fingerprints.digest import text_digest
from tests.crawler.lab.pages import Book, Made
from tests.neardup.texts import changed, prose

_LITTLE = "not enough evidence: "
_NEEDED = "20 needed; label some with crawl-once lab"


def book() -> Book:
    texts = [prose(seed, 150) for seed in range(12)]
    return Book(
        [Made(text) for text in texts]
        + [Made(changed(texts[seed % 12], seed, seed % 6 + 1)) for seed in range(36)]
    )


def label(made: Book, pair: NearPair, *, is_duplicate: bool, turned: bool = False) -> Label:
    digests = [text_digest(made.made[place].text) for place in (pair.first, pair.second)]
    first, second = digests[::-1] if turned else digests
    return Label(first, second, is_duplicate, "", "", 0.0)


def far_apart(made: Book) -> tuple[int, int]:
    """Two pages farther apart than 8 bits."""
    prints = [made.document(one, Parameters()).fingerprint or 0 for one in made.made]
    pairs = ((a, b) for b in range(len(prints)) for a in range(b))
    return next(pair for pair in pairs if hamming(prints[pair[0]], prints[pair[1]]) > 8)


def test_labels_are_counted_at_each_distance() -> None:
    made = book()
    session = made.session()
    pairs = session.pairs(Choice(), range(9), limit=60)
    said = [
        label(made, pair, is_duplicate=pair.distance <= 4, turned=bool(number % 2))
        for number, pair in enumerate(pairs)
    ]
    far = label(made, NearPair(*far_apart(made), 9, None, None, ""), is_duplicate=False)
    elsewhere = Label(b"a" * 16, b"b" * 16, True, "", "", 0.0)
    evidence = session.evidence(Choice(), [*said, far, elsewhere])
    assert evidence.basis == "labels"
    assert (evidence.pairs, evidence.beyond) == (len(pairs), 2)
    assert evidence.duplicates == sum(pair.distance <= 4 for pair in pairs)
    for bits, one in enumerate(evidence.by_distance):
        found = [pair for pair in pairs if pair.distance <= bits]
        right = [pair for pair in found if pair.distance <= 4]
        assert (one.bound, one.found, one.right) == (bits, len(found), len(right))
        assert one.precision == wilson(len(right), len(found))
        assert one.recall == wilson(len(right), evidence.duplicates)
    assert evidence.suggestion == 4
    expected = f"4: no pair labelled different at or below 4; {len(pairs)} labelled"
    assert evidence.reason == expected
    assert "labelled" in evidence.population


def test_labels_are_counted_at_each_similarity_within_the_radius() -> None:
    made = book()
    session = made.session()
    pairs = session.pairs(Choice(), range(9), limit=60)
    said = [label(made, pair, is_duplicate=(pair.similarity or 0) >= 0.7) for pair in pairs]
    features = Parameters().fingerprint_features
    choice = Choice(Parameters(features, max_distance=6, verify=False))
    within = [pair for pair in pairs if pair.distance <= 6]
    for one in session.evidence(choice, said).by_similarity:
        found = [pair for pair in within if (pair.similarity or 0) >= one.bound]
        assert one.found == len(found)
        assert one.right == sum((pair.similarity or 0) >= 0.7 for pair in found)


def test_without_labels_jaccard_counts() -> None:
    made = book()
    session = made.session()
    evidence = session.evidence(Choice())
    prints = [made.document(one, Parameters()).fingerprint or 0 for one in made.made]
    distances = [hamming(one, prints[a]) for b, one in enumerate(prints) for a in range(b)]
    assert evidence.basis == "jaccard"
    found = [sum(distance <= bits for distance in distances) for bits in range(9)]
    assert [one.found for one in evidence.by_distance] == found
    texts = [one.text for one in made.made]
    similar = [jaccard(one, texts[a]) >= 0.8 for b, one in enumerate(texts) for a in range(b)]
    right = [
        sum(of for of, distance in zip(similar, distances, strict=True) if distance <= bits)
        for bits in range(9)
    ]
    assert [one.right for one in evidence.by_distance] == right
    assert {one.duplicates for one in evidence.by_distance} == {right[-1]}
    assert evidence.by_similarity == ()
    assert "0.8" in evidence.population


@pytest.mark.parametrize(
    ("counts", "suggestion", "reason"),
    [
        ([(0, 0)] * 9, None, f"{_LITTLE}0 labelled pairs within 8 bits, {_NEEDED}"),
        ([(19, 19)] * 9, None, f"{_LITTLE}19 labelled pairs within 8 bits, {_NEEDED}"),
        # Nothing is labelled beyond 2.
        ([(5, 5), (9, 9)] + [(20, 20)] * 7, 2, "2: no pair labelled different at or below 2"),
        ([(0, 0), (9, 9), (9, 9)] + [(30, 12)] * 6, 2, "at or below 2; 30 labelled"),
        ([(0, 0)] + [(5, 4)] * 3 + [(30, 12)] * 5, None, "at 1 bit are labelled different"),
    ],
)
def test_labels_make_a_suggestion_with_its_reason(
    counts: list[tuple[int, int]], suggestion: int | None, reason: str
) -> None:
    lines = tuple(
        EvidenceLine(bits, found, right, 30) for bits, (found, right) in enumerate(counts)
    )
    suggested, because = suggest_from_labels(lines)
    assert suggested == suggestion
    assert reason in because


@pytest.mark.parametrize(
    ("said", "labelled", "suggestion", "reason"),
    [
        ([(0.9, True)] * 19, 19, None, f"{_LITTLE}19 labelled within 8 bits, {_NEEDED}"),
        (
            [(0.72, True)] * 12 + [(0.68, False), (0.6, True)] * 6,
            24,
            0.7,
            "0.7: no pair labelled different from 0.7 on, which finds 12 of 18 duplicates; "
            "24 labelled within 8 bits",
        ),
        # Nothing is labelled below .8.
        ([(0.83, True)] * 30, 30, 0.8, "finds 30 of 30 duplicates"),
        ([(1.0, False)] * 30, 30, None, "at every similarity pairs are labelled different"),
    ],
)
def test_labels_suggest_a_similarity_with_its_reason(
    said: list[tuple[float, bool]], labelled: int, suggestion: float | None, reason: str
) -> None:
    lines = lines_by_similarity(
        np.array([similarity for similarity, _ in said]), np.array([right for _, right in said])
    )
    suggested, because = suggest_similarity(lines, labelled, 8)
    assert suggested == suggestion
    assert reason in because


def test_labels_suggest_both_bounds() -> None:
    made = book()
    session = made.session()
    pairs = session.pairs(Choice(), range(9), limit=60)
    said = [label(made, pair, is_duplicate=(pair.similarity or 0) >= 0.7) for pair in pairs]
    evidence = session.evidence(Choice(), said)
    assert evidence.similarity == 0.7
    assert f"{len(pairs)} labelled within 8 bits" in evidence.similarity_reason
    unlabelled = session.evidence(Choice())
    assert unlabelled.similarity is None
    assert "no labels" in unlabelled.similarity_reason
    alone = session.evidence(Choice(Parameters(verify=False)))
    assert (alone.similarity, alone.similarity_reason) == (None, "")


SURE = [(100, 100)] * 3 + [(300, 298)] * 3 + [(500, 400)] * 3


@pytest.mark.parametrize(
    ("counts", "verify", "suggestion", "reason"),
    [
        ([(3, 3)] * 9, True, None, "not enough evidence: 3 pairs within 8 bits, 20 needed; label"),
        (SURE, False, 5, "5: of 300 pairs at or below 5 2 are less similar than 0.8"),
        ([(100, 50)] * 9, False, None, "at every distance pairs are less similar than 0.8"),
        (SURE, True, 6, "6: similarity confirms, and 400 of 400 pairs"),
        ([(100, 7)] * 9, True, None, "of 100 pairs at or below 0 only 7 are similar enough"),
        ([(100, 0)] * 9, True, None, "no pair within 8 bits has a similarity of 0.8"),
    ],
)
def test_jaccard_makes_a_suggestion_with_its_reason(
    counts: list[tuple[int, int]], *, verify: bool, suggestion: int | None, reason: str
) -> None:
    lines = tuple(
        EvidenceLine(bits, found, right, 500) for bits, (found, right) in enumerate(counts)
    )
    suggested, because = suggest_from_jaccard(lines, 0.8, verify=verify)
    assert suggested == suggestion
    assert reason in because
    assert because.endswith(("no labels", "label some with crawl-once lab"))
