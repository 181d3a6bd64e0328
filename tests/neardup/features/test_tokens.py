import re
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neardup import tokens
from neardup.features.folding import fold


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n\t", []),
        ("... !? — “”", []),
        ("The CAT, sat_on 2 mats.", ["the", "cat", "sat_on", "2", "mats"]),
        ("don't stop", ["don", "t", "stop"]),
        ("café naïve Ωmega", ["café", "naïve", "ωmega"]),
        ("при́вет, мир", ["при́вет", "мир"]),
        ("नमस्ते दुनिया", ["नमस्ते", "दुनिया"]),
        ("বাংলা தமிழ் తెలుగు", ["বাংলা", "தமிழ்", "తెలుగు"]),
        ("שָׁלוֹם עולם", [fold("שָׁלוֹם"), "עולם"]),
        ("مُحَمَّد می‌خواهم", [fold("مُحَمَّد"), "میخواهم"]),
        ("한국어 문장", ["한국어", "문장"]),
        ("漢字かな交じり文。", ["漢", "字", "か", "な", "交", "じ", "り", "文"]),
        ("カタカナー・ｶﾞ", ["カ", "タ", "カ", "ナ", "ー", "ガ"]),
        ("人々は〇〇", ["人", "々", "は", "〇", "〇"]),
        ("𠀀𠮷野家", ["𠀀", "𠮷", "野", "家"]),
        ("ㄅㄆㄇ", ["ㄅ", "ㄆ", "ㄇ"]),
        ("สวัสดี", ["ส", "วั", "ส", "ดี"]),
        ("ที่นี่", ["ที่", "นี่"]),
        ("ສະບາຍດີ", ["ສ", "ະ", "ບ", "າ", "ຍ", "ດີ"]),
        ("ខ្មែរ", ["ខ្", "មែ", "រ"]),
        ("မြန်မာ", ["မြ", "န်", "မာ"]),
        ("བོད་སྐད།", ["བོ", "ད", "སྐ", "ད"]),
        ("Python入門2024年版ebook", ["python", "入", "門", "2024", "年", "版", "ebook"]),
        ("abc漢def", ["abc", "漢", "def"]),
        ("が e\u0301x", ["が", "éx"]),
        ("ดีok漢\u0301x字", ["ดี", "ok", "漢\u0301", "x", "字"]),
        ("\u0301 \u0301a \u0e31ก", ["a", "ก"]),
        ("漢\u0301字a\u0301b", ["漢\u0301", "字", "áb"]),
        ("👍🏽 ok 👨‍👩‍👧", ["ok"]),
        ("a\0b \ud800c d\udfff", ["a", "b", "c", "d"]),
        ("x² ½", ["x2", "1", "2"]),
    ],
)
def test_tokens_are_words_in_every_script(text: str, expected: list[str]) -> None:
    assert tokens(text) == expected


@pytest.mark.parametrize("text", ["abc def", "ÀÉ ÎÕ", "漢字 abc", "สวัสดี", "नमस्ते"])
def test_tokens_are_the_same_of_raw_and_folded_text(text: str) -> None:
    assert tokens(text) == tokens(fold(text)) == tokens(text.upper())
    assert tokens(unicodedata.normalize("NFD", text)) == tokens(text)


class TestTokensProperties:
    @settings(deadline=None)
    @given(st.text(st.characters(codec="ascii")) | st.text("aB é\u00df_1,.-\u2014Ωяж\n"))
    def test_tokens_of_spaced_scripts_are_what_the_regular_expression_finds(
        self, text: str
    ) -> None:
        assert tokens(text) == re.findall(r"\w+", fold(text))

    @settings(deadline=None)
    @given(st.text())
    def test_no_letter_is_lost_and_none_appears(self, text: str) -> None:
        kept = "".join(letter for letter in "".join(tokens(text)) if letter.isalnum())
        assert kept == "".join(letter for letter in fold(text) if letter.isalnum())

    @settings(deadline=None)
    @given(st.text())
    def test_tokens_joined_by_spaces_are_the_same_tokens(self, text: str) -> None:
        assert tokens(" ".join(tokens(text))) == tokens(text)

    @settings(deadline=None)
    @given(st.text("漢字かナ水火"))
    def test_unspaced_scripts_give_a_token_a_character(self, text: str) -> None:
        assert tokens(text) == list(text)
