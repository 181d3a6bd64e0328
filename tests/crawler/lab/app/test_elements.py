"""Crawled text as it is shown, in which nothing unseen is left, and rows that grow."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nicegui import Client, ui

from crawler.lab.app.elements import GrowingRows, plain

JOINERS = "\u200c\u200d"


class TestPlain:
    @pytest.mark.parametrize(
        ("crawled", "shown"),
        [
            (None, ""),
            ("A title", "A title"),
            ("<script>alert(1)</script>", "<script>alert(1)</script>"),
            ("a\x00b\x1b[31m", "a␀b␛[31m"),
            ("a\x7f\x85b", "a␡⟨U+0085⟩b"),
            ("gpj.\u202eexe", "gpj.⟨U+202E⟩exe"),
            ("one\u2028two", "one⟨U+2028⟩two"),
            ("zero\u200bwidth\ufeff", "zero⟨U+200B⟩width⟨U+FEFF⟩"),
            ("half \ud800", "half ⟨U+D800⟩"),
            ("灯塔 مینار e\u0301", "灯塔 مینار e\u0301"),
            ("می\u200cخواهم", "می\u200cخواهم"),
            ("a\nb\tc", "a␊b␉c"),
        ],
    )
    def test_what_is_not_seen_becomes_a_symbol(self, crawled: str | None, shown: str) -> None:
        assert plain(crawled) == shown

    def test_lines_stay_where_they_are_wanted(self) -> None:
        assert plain("a\nb\tc\r", keeps_lines=True) == "a\nb\tc␍"

    def test_a_long_text_is_cut(self) -> None:
        assert plain("x" * 11, 10) == "x" * 9 + "…"
        assert plain("x" * 10, 10) == "x" * 10


class TestPlainProperties:
    @given(st.text(st.characters(codec=None)))
    def test_every_character_shown_is_seen_and_can_be_sent(self, crawled: str) -> None:
        shown = plain(crawled)
        unseen = {
            one for one in shown if unicodedata.category(one)[0] == "C" or one in "\u2028\u2029"
        }
        assert unseen <= set(JOINERS)
        shown.encode()  # NiceGUI sends it as UTF-8, which has no halves of pairs

    @given(st.text(st.characters(codec=None)), st.integers(1, 30))
    def test_showing_again_changes_nothing(self, crawled: str, most: int) -> None:
        assert plain(plain(crawled)) == plain(crawled)
        if len(crawled) <= most:
            assert plain(crawled, most) == plain(crawled)


def test_rows_are_made_some_at_a_time_and_again_for_other_items() -> None:
    made: list[int] = []
    with Client(ui.page("/"), request=None) as window:
        rows = GrowingRows("rows", made.append, at_once=4, at_first=2)
        rows.show(range(7))
        (more,) = (one for one in window.elements.values() if isinstance(one, ui.button))
        for expected, words in ((2, "Show 4 more"), (6, "Show 1 more"), (7, None)):
            assert made == list(range(expected))
            assert more.visible == (words is not None)
            if words is not None:
                assert more.text == words
                rows._show_more(4)
        made.clear()
        rows.show(range(10, 13))
        assert made == [10, 11]
