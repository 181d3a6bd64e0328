"""Tests of what the texts of blocks are made of."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.reading.content.block_features import PageWords
from crawler.reading.content.kernels import TEXT_COLUMNS, read_texts

if TYPE_CHECKING:
    from numpy.typing import NDArray

_WORDS = st.text(
    st.sampled_from("aZé9٣𝟗.,!?。、$€©ſK\udcff") | st.characters(exclude_characters="\0"),
    min_size=1,
    max_size=12,
)
_PARTS = st.sampled_from(
    "copyright (c) Cookie Terms of 12 kr EUR ago 2019 3:15 read more next cancel".split(" ")
)
_TEXTS = st.lists(
    st.lists(_WORDS | _PARTS, min_size=1, max_size=9)
    .map(lambda words: " ".join(" ".join(words).split()))
    .filter(bool)
)


def text_columns(texts: list[str], title: str) -> dict[str, NDArray[np.float64]]:
    columns, _ = read_texts(texts, PageWords(title, []))
    return dict(zip(TEXT_COLUMNS, columns, strict=True))


def column(name: str, *texts: str, title: str = "") -> list[float]:
    found: list[float] = text_columns(list(texts), title)[name].tolist()
    return found


def counted(text: str) -> tuple[float, float, float]:
    """Return digits, upper and commas, counted one after the other."""
    start = text[:600]
    return (
        len(re.findall(r"\d", start)) / len(start),
        len(re.findall("[A-Z]", start)) / len(start),
        len(re.findall(r"[,;，、。！？،؛؟।۔]|[.!?]\s", start)) * len(text) / len(start),
    )


def letters(character: str) -> tuple[int, int]:
    """Return the letters and fifths of a word that a character counts for."""
    code = ord(character)
    if 0x2E80 <= code < 0xA000 or 0xF900 <= code < 0xFB00 or 0x20000 <= code < 0x40000:
        return 3, 3
    if 0xAC00 <= code < 0xD7B0:
        return 2, 0
    unspaced = ((0x0E00, 0x0F00), (0x1000, 0x10A0), (0x1780, 0x1800))
    return 1, int(any(first <= code < end for first, end in unspaced))


def kinds(text: str, title: str) -> tuple[bool, ...]:
    """Return what a short text names, looked for in it alone."""
    low, says = text.lower(), sum(letters(character)[0] for character in text)
    legal = "©|(c)|copyright|all rights reserved|cookie|privacy policy|terms of|newsletter"
    date = re.search(r"\b(?:19|20)\d\d\b|\d\d?[:/.]\d\d|\bago\b", text)
    price = re.search(r"[$€£¥₹]\s?\d|\d\s?(?:[€£₹]|kr|zł|USD|EUR)", text)
    return (
        text[-1] in ".!?:;…。！？」』”»؟۔।\"')",
        price is not None and len(text) < 200,
        any(word in low for word in legal.split("|")),
        date is not None and len(text) < 60,
        says > 10 and len(text) < 300 and len(text) <= len(title) and low in title,
    )


class TestTextColumns:
    def test_page_without_blocks_has_empty_columns(self) -> None:
        assert all(len(found) == 0 for found in text_columns([], "").values())

    @pytest.mark.parametrize(
        ("name", "text"),
        [
            ("price", "now $ 20"),
            ("price", "199 kr"),
            ("legal", "All Rights Reserved"),
            ("legal", "COPYRIGHT 2020"),
            ("action", "Read More »"),
            ("action", "ADD TO basket"),
            ("date", "3 days ago"),
            ("date", "March 2019"),
            ("ends", "It is so."),
            ("in_title", "The Whole Title"),
        ],
    )
    def test_kind_is_told_by_the_words_of_one_text_alone(self, name: str, text: str) -> None:
        plain = "plain words"
        title = "the whole title | site"
        assert column(name, plain, text, plain, title=title) == [0, 1, 0]

    def test_words_at_the_seam_of_two_texts_are_no_words(self) -> None:
        assert column("price", "costs $", "5 of them") == [0, 0]
        assert column("legal", "privacy", "policy") == [0, 0]
        assert column("commas", "Yes.", "No, never.") == [0, 1]

    def test_long_texts_are_counted_at_their_start(self) -> None:
        assert column("digits", "a" * 600 + "1" * 600) == [0]
        assert column("commas", "a," * 600) == [600]

    @pytest.mark.parametrize(
        ("text", "chars", "words"),
        [
            ("The ferry", 9, 2),
            ("渡轮每天出发。", 21, 5.2),
            ("フェリーが出る", 21, 5.2),
            ("여객선이 떠난다", 15, 2),
            ("เรือข้ามฟาก", 11, 3.2),
            ("العبّارة تغادر", 14, 2),
            ("渡轮 North", 12, 3.2),
        ],
    )
    def test_characters_count_for_what_they_say(
        self, text: str, chars: float, words: float
    ) -> None:
        assert column("chars", "a text", text, "and more")[1] == chars
        assert column("words", "a text", text, "and more")[1] == pytest.approx(words)
        assert column("density", text) == [pytest.approx(chars / len(text))]

    def test_sentences_end_in_every_script(self) -> None:
        texts = ("海は忘れない。", "«Море»", "समुद्र नहीं भूलता।", "هل ينسى البحر؟", "「海」")
        assert column("ends", *texts) == [1] * len(texts)

    def test_many_texts_are_counted_as_few(self) -> None:
        texts = [f"Text {at}, and {at * at}." for at in range(5000)]
        digits = column("digits", *texts)
        assert digits == [counted(text)[0] for text in texts]


class TestTextColumnsProperties:
    @given(_TEXTS)
    def test_counts_equal_those_of_each_text_by_itself(self, texts: list[str]) -> None:
        columns = text_columns(texts, "")
        found = np.array([columns[name] for name in ("digits", "upper", "commas")]).T
        assert [tuple(row) for row in found.tolist()] == [counted(text) for text in texts]

    @given(_TEXTS, _TEXTS)
    def test_columns_of_a_text_do_not_depend_on_the_others(
        self, texts: list[str], others: list[str]
    ) -> None:
        alone, together = text_columns(texts, ""), text_columns(texts + others, "")
        for name, values in alone.items():
            assert together[name][: len(texts)].tolist() == values.tolist()

    @given(_TEXTS, st.booleans())
    def test_kinds_equal_those_of_each_text_by_itself(
        self, texts: list[str], is_title: bool
    ) -> None:
        title = " | ".join(texts).lower() if is_title else "read more of copyright 2019"
        columns = text_columns(texts, title)
        names = ("ends", "price", "legal", "date", "in_title")
        found = np.array([columns[name] for name in names]).T.astype(bool)
        assert [tuple(row) for row in found.tolist()] == [kinds(text, title) for text in texts]

    @given(_TEXTS)
    def test_letters_equal_those_of_each_character_by_itself(self, texts: list[str]) -> None:
        columns = text_columns(texts, "")
        for at, text in enumerate(texts):
            counts = [letters(character) for character in text]
            assert columns["chars"][at] == sum(one for one, _ in counts)
            words = text.count(" ") + 1 + sum(fifths for _, fifths in counts) / 5
            assert columns["words"][at] == pytest.approx(words)
