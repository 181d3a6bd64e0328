import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.evaluation.metrics import Pair, Scores, labelled_pairs, score_pairs

PAIRS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=12)


@pytest.mark.parametrize(
    ("labelled", "found", "scores", "precision", "recall", "f1"),
    [
        ([], [], Scores(0, 0, 0), 1.0, 1.0, 1.0),
        ([(1, 2)], [], Scores(0, 0, 1), 1.0, 0.0, 0.0),
        ([], [(1, 2)], Scores(0, 1, 0), 0.0, 1.0, 0.0),
        ([(1, 2), (2, 3)], [(2, 1)], Scores(1, 1, 2), 1.0, 0.5, 2 / 3),
        ([(1, 2)], [(1, 2), (2, 1), (1, 3), (5, 5)], Scores(1, 2, 1), 0.5, 1.0, 2 / 3),
    ],
)
def test_scores_of_known_pairs(
    labelled: list[Pair],
    found: list[Pair],
    scores: Scores,
    precision: float,
    recall: float,
    f1: float,
) -> None:
    assert score_pairs(labelled, found) == scores
    assert (scores.precision, scores.recall, scores.f1) == pytest.approx((precision, recall, f1))


def test_labelled_pairs_come_once() -> None:
    similar = {1: frozenset({2, 7}), 2: frozenset({1}), 7: frozenset({1})}
    assert labelled_pairs(similar) == {(1, 2), (1, 7)}


@given(PAIRS, PAIRS)
def test_f1_lies_between_precision_and_recall(labelled: list[Pair], found: list[Pair]) -> None:
    scores = score_pairs(labelled, found)
    if scores.found and scores.labelled:
        low, high = sorted((scores.precision, scores.recall))
        assert low - 1e-9 <= scores.f1 <= high + 1e-9
    assert score_pairs(found, labelled).f1 == scores.f1
