"""What a terminal gets to see of the texts of strangers."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.plain_text import plain


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Größe 大小 ☃", "Größe 大小 ☃"),
        ("\x1b[31mred\x07", "␛[31mred␇"),
        ("a\tb\r\nc\xa0d", "a b  c d"),
        ("\x9b2J\x7f", "\\x9b2J␡"),
        ("user\u202egpj.exe\u2066", "user\\u202egpj.exe\\u2066"),
        ("\u200b\ufeff\U000e0041", "\\u200b\\ufeff\\U000e0041"),
        ("half \ud800", "half \\ud800"),
    ],
)
def test_what_a_terminal_would_obey_is_seen(text: str, shown: str) -> None:
    assert plain(text) == shown


def test_line_breaks_stay_where_they_are_wanted() -> None:
    assert plain("a\nb\x0bc", with_lines=True) == "a\nb␋c"


class TestPlainProperties:
    @given(st.text(st.characters()))
    def test_nothing_is_left_that_cannot_be_printed(self, text: str) -> None:
        shown = plain(text)
        assert shown.isprintable()
        assert not any(unicodedata.category(one).startswith("C") for one in shown)
        shown.encode()

    @given(st.text(st.characters()))
    def test_doing_it_twice_changes_nothing(self, text: str) -> None:
        assert plain(plain(text)) == plain(text)
