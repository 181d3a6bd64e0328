"""What a text is called, and which names are of different things."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup import Deduplicator
from neardup.errors import ParameterError
from neardup.names import MAX_NAME_CHARACTERS, NO_NAME, Name, difference, name_of, unpacked
from neardup.whole import with_whole
from tests.neardup.texts import prose

BODY = prose(1, 200)

NAMES = st.builds(
    Name,
    title=st.sampled_from(["", "Shop", "Widget | Shop", "Gadget | Shop", "Widget | Shop 2.0"]),
    heading=st.sampled_from(["", "Shop", "Widget", "Gadget"]),
    opening=st.sampled_from(["", "Widget\nfor all", "Gadget\nfor all", "Start\nWidget"]),
    identifiers=st.lists(st.sampled_from(["sku:1", "sku:2", "isbn:1", "canonical:x"])).map(tuple),
    subheading=st.sampled_from(["", "Widget", "Part I / Widget", "Part I / Gadget", "3 comments"]),
)

OTHER = [
    ("heading", Name(heading="Widget 3000"), Name(heading="Widget 4000")),
    ("heading", Name("Shop", "Widget"), Name("Shop", "Gadget")),
    ("heading", Name("Widgets | Shop", "Widget"), Name("Gadgets | Shop", "Gadget")),
    ("heading", Name(title="Shop"), Name(heading="Widget")),
    ("title", Name("Widget | Shop"), Name("Gadget | Shop")),
    ("title", Name("Widget | Shop", "Shop"), Name("Gadget | Shop", "Shop")),
    ("title", Name("Widget 3000 | Shop", "Shop"), Name("Widget 4000 | Shop", "Shop")),
    ("subheading", Name("Act", subheading="Sec. 1"), Name("Act", subheading="Sec. 2")),
    ("subheading", Name("", "Act", subheading="Sec. 1"), Name("", "Act", subheading="Sec. 2")),
    ("identifier", Name("Shop", identifiers=("sku:1",)), Name("Shop", identifiers=("sku:2",))),
    ("identifier", Name(identifiers=("a:1", "sku:1")), Name(identifiers=("a:1", "sku:2"))),
    ("opening", Name(opening="Widget\nfor all"), Name(opening="Gadget\nfor all")),
    ("opening", Name("Shop", opening="Widget\nall"), Name("Shop", opening="Gadget\nall")),
    ("opening", Name(opening="Marathon 2:01:39\nall"), Name(opening="Marathon 2:03:23\nall")),
    ("opening", Name(opening="\u2630\nWidget\nall"), Name(opening="\u2630\nGadget\nall")),
    (
        "opening",
        Name(opening=f"Widget {'$1.50 ' * 7}\nall"),
        Name(opening=f"Gadget {'$1.50 ' * 7}\nall"),
    ),
    ("heading", Name("Films", "(500) Days"), Name("Films", "(50) Days")),
    ("heading", Name(heading="Copyright 1976"), Name(heading="Copyright 1998")),
    ("heading", Name(heading="C++"), Name(heading="C")),
    ("subheading", Name("Act", subheading="Sec. 5+"), Name("Act", subheading="Sec. 5-")),
]

SAME = [
    (NO_NAME, Name("Widget", "Widget", identifiers=("sku:1",))),
    (Name(heading="Widget \N{PILCROW SIGN}"), Name(heading="widget")),
    (Name("Widget | Shop", "Shop"), Name("Widget | Shop", "Widget")),
    (Name("Widget | Shop"), Name(heading="Widget")),
    (Name("Act", subheading="Sec. 1"), Name("Act", "Act")),
    (Name("Act | Law", "Act", subheading="Sec. 1"), Name("Act | Law", "Law", subheading="Sec. 2")),
    (Name(identifiers=("sku:ab-1",)), Name(identifiers=("sku:AB 1",))),
    (Name(identifiers=("sku:1", "sku:2")), Name(identifiers=("sku:2", "sku:3"))),
    (Name(identifiers=("sku:1",)), Name(identifiers=("isbn:2",))),
    (Name("Widget", identifiers=("canonical:a",)), Name("Widget", identifiers=("canonical:b",))),
    (Name(opening="Widget\nfor all"), Name(opening="Printed by hand\nWidget\nfor all")),
    (Name(opening="Widget"), Name(opening="Gadget")),
    (Name(opening=f"{BODY[:200]}\nx"), Name(opening="Gadget\nx")),
    (Name(heading="numpy.ravel#"), Name(heading="numpy.ravel")),
]


@pytest.mark.parametrize(("shown", "first", "second"), OTHER)
def test_names_of_other_things(shown: str, first: Name, second: Name) -> None:
    assert difference(first, second) == shown
    assert difference(second, first) == shown


@pytest.mark.parametrize(("first", "second"), SAME)
def test_names_that_leave_it_to_the_texts(first: Name, second: Name) -> None:
    assert difference(first, second) == ""
    assert difference(second, first) == ""


def test_a_source_with_a_heading_needs_no_first_lines() -> None:
    assert name_of(f"Start\n{BODY}", "Widget | Shop", "Widget") == Name("Widget | Shop", "Widget")
    assert name_of(f"Start\n{BODY}", "Shop").opening.startswith("Start\n")


@pytest.mark.parametrize(
    ("text", "heading"),
    [
        ("numpy.ravel#\nReturn a flat array.", "numpy.ravel"),
        ("numpy.ravel# Return a flat array.", "numpy.ravel"),
        ("User Guide\nLearn\nnumpy.ravel\N{PILCROW SIGN}\nReturn", "numpy.ravel"),
        ("Guide\nnumpy.ravel\n#\nReturn", "numpy.ravel"),
        ("matrix.H#\nReturn", "matrix.H"),
        ("Programs in C#\nfor all", ""),
        ("x = 1  # the first\n# the second", ""),
        ("Call #5 and #\n", ""),
        (f"{prose(1, 16)}#\nReturn", ""),
    ],
)
def test_a_permalink_mark_shows_a_heading(text: str, heading: str) -> None:
    assert name_of(text).heading == heading


def test_the_heading_of_a_site_gives_way_to_the_marked_one_that_the_title_has() -> None:
    text = f"API Notes\N{PILCROW SIGN}\n{BODY}"
    names = [
        name_of(
            text, f"API Notes - Clang {version} documentation", f"Clang {version} documentation"
        )
        for version in (14, 15)
    ]
    assert [name.heading for name in names] == ["API Notes", "API Notes"]
    assert difference(*names) == ""
    assert name_of(text, "Shop | Widget", "Widget").heading == "Widget"


def test_a_mark_far_below_leaves_the_first_lines() -> None:
    name = name_of(f"Widget\n{BODY}\nUsage#\n{BODY}")
    assert name.heading == "Usage"
    assert difference(name, name_of(f"Gadget\n{BODY}\nUsage#\n{BODY}")) == "opening"


@pytest.mark.parametrize(
    ("line", "identifiers"),
    [
        ("SKU: AB-1234", ("sku:AB-1234",)),
        ("ISBN 978-3-16-148410-0.", ("isbn:978-3-16-148410-0",)),
        ("ISBN-13: 9783161484100", ("isbn:9783161484100",)),
        ("Item no. 12345", ("sku:12345",)),
        ("Art.-Nr.: 12345", ("sku:12345",)),
        ("Article number 12345", ("sku:12345",)),
        ("EAN 4006381333931", ("gtin:4006381333931",)),
        ("Model number: XC-900", ("mpn:XC-900",)),
        ("SKU: 1234 SKU: 5678", ("sku:1234",)),
        ("Article 12 and Article 13", ()),
        ("Items not numbered 12345", ()),
        ("In 2024 the call 555-12345", ()),
    ],
)
def test_labelled_numbers_are_identifiers(line: str, identifiers: tuple[str, ...]) -> None:
    assert name_of(f"{BODY}\n{line}", heading="Widget").identifiers == identifiers


def test_the_identifiers_of_the_source_stand_before_those_of_the_text() -> None:
    assert name_of("SKU: 1234, ISBN 3161484100", identifiers=("sku:77",)).identifiers == (
        "isbn:3161484100",
        "sku:77",
    )


def test_the_whole_of_a_text_gives_it_no_name() -> None:
    assert name_of(with_whole("Widget", f"SKU: 1234\n{BODY}")) == Name(opening="Widget")


def test_white_space_in_front_hides_no_name() -> None:
    first, second = (
        name_of("", f"\n{' ' * 400}Widget {letter}", f"{' ' * 400}\n The  one") for letter in "AB"
    )
    assert first == Name("Widget A", "The one")
    assert difference(first, second) == "title"


def test_a_number_far_behind_its_label_is_none_of_it() -> None:
    assert name_of("Art-" * 5000 + "123", heading="Widget").identifiers == ()
    assert name_of(f"SKU: {'A' * 41}123", heading="Widget").identifiers == ()
    assert name_of(f"SKU: {'A' * 40}123", heading="Widget").identifiers != ()


@pytest.mark.parametrize("title", [1984, float("nan"), b"Widget", None])
def test_what_is_no_text_is_no_title(title: Any) -> None:
    with pytest.raises(ParameterError, match=re.escape(f"title must be a text, got {title!r}")):
        name_of(BODY, title)
    with pytest.raises(ParameterError, match="heading must be a text"):
        name_of(BODY, heading=title)
    if title is not None:
        with Deduplicator() as deduplicator, pytest.raises(ParameterError, match="title must be"):
            deduplicator.judge(0, BODY, title=title)


class TestNameProperties:
    @given(NAMES, NAMES)
    def test_the_order_of_two_names_does_not_matter(self, first: Name, second: Name) -> None:
        assert difference(first, second) == difference(second, first)
        assert difference(first, first) == ""

    @given(st.text(), st.text(), st.text(), st.lists(st.text()), st.text())
    def test_a_name_of_anything_is_stored_as_it_is(
        self, text: str, title: str, heading: str, identifiers: list[str], subheading: str
    ) -> None:
        name = name_of(text, title, heading, tuple(identifiers), subheading)
        assert unpacked(name.packed()) == name
        texts = (name.title, name.heading, name.opening, name.subheading)
        assert max(map(len, texts)) <= MAX_NAME_CHARACTERS
        assert difference(name, name) == ""
        name.packed().encode()
