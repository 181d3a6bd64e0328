from pathlib import Path

import pytest

from neardup.errors import DocumentError
from neardup.evaluation.labelled import read_similar

PAIRS = "a,b,j3,j5\n1,2,0.9,0.8\n2,3,0.85,0.79\n7,1,1,1\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    written = tmp_path / "pairs.csv"
    written.write_text(PAIRS)
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
    path.write_text(PAIRS + row + "\n")
    with pytest.raises(DocumentError, match="line 5"):
        read_similar(path)
