import asyncio

from nicegui import Client, ui

from crawler.lab.app.pair_view import MAX_CHARACTERS, PageText, pair_texts
from crawler.lab.sides import TextSide
from neardup.parameters import DEFAULTS
from tests.neardup.texts import NEAR, PAGE


def side(text: str) -> TextSide:
    return TextSide("", "", text)


def test_changed_word_is_one_place_and_changes_its_shingles() -> None:
    found = pair_texts(side(PAGE), side(NEAR), DEFAULTS)
    assert found.changes == 1
    assert found.own_of_first.count == found.own_of_second.count == 5
    assert any(row.folded for row in found.rows)
    assert not found.is_cut


def test_what_is_beyond_reading_is_not_compared() -> None:
    long = "a " * MAX_CHARACTERS
    found = pair_texts(side(long), side(long + "b"), DEFAULTS)
    assert found.is_cut
    assert found.changes == 0


def test_of_a_long_page_the_beginning_is_shown_and_how_much_is_left() -> None:
    with Client(ui.page("/"), request=None) as window:
        asyncio.run(PageText(side("a " * 10_100)).show())
    labels = [one.text for one in window.elements.values() if isinstance(one, ui.label)]
    assert max(map(len, labels)) == 20_000
    assert "and 200 characters more" in labels
