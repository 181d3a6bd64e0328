"""Distances and similarities in words."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.lab.words import content_words, in_places, measures_of, name_text, share
from crawler.reading.content.content_xml import PackedContent
from neardup.names import NO_NAME, Name
from neardup.plurals import many


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


@pytest.mark.parametrize(
    ("value", "limit", "written"),
    [
        (0.7996, 0.8, "0.7996"),
        (0.79996, 0.8, "0.79996"),
        (0.8004, 0.8, "0.8004"),
        (float(np.float32(0.8)), 0.8, "0.80"),
        (0.75, 0.8, "0.75"),
        (0.7996, None, "0.80"),
        (0.804, 0.8, "0.804"),
        (0.9996, 0.8, "0.9996"),
        (1.0, 0.8, "1.00"),
        (0.79999999, 0.8, "0.80"),
    ],
)
def test_a_similarity_lies_on_the_side_of_the_limit_where_it_is_written(
    value: float, limit: float | None, written: str
) -> None:
    assert in_places(value, 2, limit) == written


@given(st.floats(0, 1), st.floats(0, 1))
def test_what_is_written_compares_as_the_value_does(value: float, limit: float) -> None:
    exact, bound = round(value, 6), round(limit, 6)
    written = float(in_places(value, 2, limit))
    assert (written < bound, written > bound) == (exact < bound, exact > bound)
    assert (written == 1) == (exact == 1)


def test_a_bound_of_many_places_is_told_apart_beside_its_similarity() -> None:
    assert measures_of(3, 0.7996, min_similarity=0.8) == "3 bits, similarity 0.7996"
    assert measures_of(-1, None, 0.8999) == "containment 0.8999"
    assert share(0.79962, 0.8) == "0.7996"


def test_what_stands_of_a_part_in_another_page_is_said() -> None:
    assert measures_of(-1, None, 0.951) == "containment 0.95"


def test_a_name_is_a_line_for_each_of_its_parts() -> None:
    identifiers = ("canonical:http://shop.example/a", "sku:A-1: blue")
    name = Name("Shoe | Shop", "Shoe", identifiers=identifiers, subheading="Blue\nand new")
    assert name_text(name).split("\n") == [
        "title: Shoe | Shop",
        "heading: Shoe",
        "subheading: Blue and new",
        "canonical URL, which decides nothing: http://shop.example/a",
        "sku: A-1: blue",
    ]
    assert name_text(NO_NAME) == ""


def test_one_pair_is_no_pairs() -> None:
    assert many(1, "labelled pair") == "1 labelled pair"
    assert [many(0, "pair"), many(1_200, "pair")] == ["0 pairs", "1,200 pairs"]


@pytest.mark.parametrize(
    ("content", "written"),
    [
        (PackedContent(b"", "article", "blocks"), "article, shown from chosen blocks of the page"),
        (PackedContent(b"", "document", "pdf"), "document, shown from pdf"),
        (PackedContent(b"", None, "lines"), "type not known, shown from the lines of its text"),
        (None, "a text without a page, which is shown as it is judged"),
    ],
)
def test_type_and_source_of_what_is_shown_are_said(
    content: PackedContent | None, written: str
) -> None:
    assert content_words(content) == written
