from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.errors import DocumentError
from neardup.evaluation.metrics import (
    Scores,
    labelled_pairs,
    read_similar,
    wilson,
)


@pytest.mark.parametrize(
    ("scores", "precision", "recall", "f1"),
    [
        (Scores(0, 0, 0), 1.0, 1.0, 1.0),
        (Scores(0, 0, 1), 1.0, 0.0, 0.0),
        (Scores(0, 1, 0), 0.0, 1.0, 0.0),
        (Scores(1, 1, 2), 1.0, 0.5, 2 / 3),
        (Scores(1, 2, 1), 0.5, 1.0, 2 / 3),
    ],
)
def test_scores_of_known_counts(scores: Scores, precision: float, recall: float, f1: float) -> None:
    assert (scores.precision, scores.recall, scores.f1) == pytest.approx((precision, recall, f1))


def test_labelled_pairs_come_once() -> None:
    similar = {1: frozenset({2, 7}), 2: frozenset({1}), 7: frozenset({1})}
    assert labelled_pairs(similar) == {(1, 2), (1, 7)}


@given(st.integers(0, 20), st.integers(0, 20), st.integers(0, 20))
def test_f1_lies_between_precision_and_recall(right: int, wrong: int, missed: int) -> None:
    scores = Scores(right, right + wrong, right + missed)
    if scores.found and scores.labelled:
        low, high = sorted((scores.precision, scores.recall))
        assert low - 1e-9 <= scores.f1 <= high + 1e-9
    assert Scores(right, right + missed, right + wrong).f1 == scores.f1


CSV_ROWS = "a,b,j3,j5\n1,2,0.9,0.8\n2,3,0.85,0.79\n7,1,1,1\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    written = tmp_path / "pairs.csv"
    written.write_text(CSV_ROWS)
    return written


def test_a_pair_counts_both_ways_from_the_min_similarity_on(path: Path) -> None:
    assert read_similar(path) == {1: {2, 7}, 2: {1}, 7: {1}}
    assert read_similar(path, measure="j3") == {1: {2, 7}, 2: {1, 3}, 3: {2}, 7: {1}}
    assert read_similar(path, min_similarity=1) == {1: {7}, 7: {1}}


def test_a_missing_column_is_named(path: Path) -> None:
    with pytest.raises(DocumentError, match="line 2: columns a, b and j9 expected"):
        read_similar(path, measure="j9")


@pytest.mark.parametrize("row", ["x,2,0.9,0.9", "1,2,0.9,high", "1"])
def test_a_bad_row_is_named(path: Path, row: str) -> None:
    path.write_text(CSV_ROWS + row + "\n")
    with pytest.raises(DocumentError, match="line 5"):
        read_similar(path)


@pytest.mark.parametrize(
    ("right", "of", "low", "high"),
    [
        # Newcombe, Statistics in Medicine 17, 1998, table I, method 3.
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_intervals_are_those_of_the_literature(
    right: int, of: int, low: float, high: float
) -> None:
    found = wilson(right, of)
    assert found is not None
    assert found.low == pytest.approx(low, abs=5e-5)
    assert found.high == pytest.approx(high, abs=5e-5)


def test_a_share_of_nothing_is_none() -> None:
    assert wilson(0, 0) is None


class TestWilsonProperties:
    @given(st.integers(1, 10**6), st.data())
    def test_the_share_lies_within(self, of: int, data: st.DataObject) -> None:
        found = wilson(data.draw(st.integers(0, of)), of)
        assert found is not None
        assert 0 <= found.low <= found.share <= found.high <= 1
