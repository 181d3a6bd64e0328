"""Distances and similarities in words."""

import pytest

from crawler.lab.words import in_pairs, measures_of


@pytest.mark.parametrize(
    ("distance", "similarity", "written"),
    [
        (1, 0.5, "1 bit, similarity 0.50"),
        (0, None, "0 bits"),
        (-1, 1.0, "similarity 1.00"),
        (-1, float("nan"), ""),
    ],
)
def test_what_is_not_known_of_two_texts_is_not_said(
    distance: int, similarity: float | None, written: str
) -> None:
    assert measures_of(distance, similarity) == written


def test_one_pair_is_no_pairs() -> None:
    assert in_pairs(1, "labelled") == "1 labelled pair"
    assert [in_pairs(0), in_pairs(1_200)] == ["0 pairs", "1,200 pairs"]
