"""The forms of names that docs/verdicts.md says to be forgiven, and those that it says are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from neardup.names import difference, name_of
from tests.neardup.texts import prose

TEXT = prose(1)
DOCUMENT = Path(__file__).parents[2] / "docs" / "verdicts.md"

FORGIVEN = [
    ("Lake - 10:15:30", "Lake - 10:16:02"),
    ("(3 new) Widget", "(12 new) Widget"),
]

COUNTED = [
    ("Lake 10:15:30", "Lake 10:16:02"),
    ("Lake - 10:15", "Lake - 10:16"),
    ("Poems | © 1999", "Poems | © 2001"),
    ("Widget | 1,204 visitors", "Widget | 1,300 visitors"),
    ("Widget - print view", "Widget"),
]


@pytest.mark.parametrize(("first", "second"), FORGIVEN)
def test_forgiven_behind_the_name_unless_the_heading_repeats_it(first: str, second: str) -> None:
    assert difference(name_of(TEXT, first), name_of(TEXT, second)) == ""
    headed = name_of(TEXT, first, first), name_of(TEXT, second, second)
    assert difference(*headed) == "heading"


@pytest.mark.parametrize(("first", "second"), COUNTED)
def test_counted_without_a_sign_that_parts_it_from_the_name(first: str, second: str) -> None:
    assert difference(name_of(TEXT, first), name_of(TEXT, second)) == "title"


@pytest.mark.parametrize("name", [first for first, _ in FORGIVEN + COUNTED])
def test_the_document_has_each_form(name: str) -> None:
    in_tables = DOCUMENT.read_text(encoding="utf-8").replace("\\|", "|")
    assert f"`{name}`" in in_tables
