import re
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neardup import tokens
from neardup.features.folding import fold
from neardup.features.tokens import folded_bytes, unit_bytes


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


# What reaches across: marks that compose or not, of several classes; letters that they compose
# with or not; Hangul; what folds to more, to a mark, to a space and a mark, to nothing.
ODD = st.text(
    "aAeçéßİıΣΐᾳῼǰﬁÅ\u0301\u0307\u0316\u0345\u0308\u0327\u0334´¨ \n\x1c\u00a0\u2028"
    "\u00ad\u200b\u034f가각각ㅏﾡﾄｶﾞか\u3099जऩ\u093c\u094dকো\u09c7\u09beนำ\u0e48\u0e38שּׁ\u05b8\u05bc"
    "لآ\u0653\u0651\u064eﷺ㍿½…™\ud800\U0001d15e\U0001d165\U0002f800\U000e0100\U0010fffd",
    max_size=12,
)

EIGHTS = st.text("azAZ@[`{09_~  \t\x1c\x7fé\u00a0", max_size=40)
"""Texts of ASCII, eight of whose characters fold at once, or one of them not."""


def folded(text: str) -> bytes:
    return fold(text).encode("utf-8", "surrogatepass")


def test_every_character_folds_as_in_fold() -> None:
    texts = (f"{chr(code)}a{chr(code)}" for code in [*range(0x20000), *range(0x2F800, 0x2FA20)])
    assert [text for text in texts if folded_bytes(text) != folded(text)] == []


@pytest.mark.parametrize("mark", ["\u0301", "\u0327", "\u0334", "\u093c", "\u09be", "\u3099", "ᆨ"])
def test_every_character_folds_as_in_fold_before_a_mark(mark: str) -> None:
    texts = (chr(code) + mark for code in range(0x3400))
    assert [text for text in texts if folded_bytes(text) != folded(text)] == []


@pytest.mark.parametrize("text", [b"bytes", None, 7])
def test_what_is_no_text_is_refused(text: object) -> None:
    with pytest.raises(TypeError, match="text must be str, got"):
        folded_bytes(text)  # type: ignore[arg-type]


def test_a_long_run_of_marks_ends() -> None:
    text = "a " + "\u0301\u0316" * 200_000
    assert folded_bytes(text) == folded(text)


class TestFoldedBytesProperties:
    @settings(deadline=None, max_examples=400)
    @given(ODD | EIGHTS | st.text())
    def test_they_are_the_folded_text(self, text: str) -> None:
        for form in ("NFC", "NFD"):
            assert folded_bytes(unicodedata.normalize(form, text)) == folded(text)

    @settings(deadline=None)
    @given(st.text(st.characters(codec="ascii")) | ODD)
    def test_words_are_tokens(self, text: str) -> None:
        packed = unit_bytes(text, "word")
        if not text.isascii():
            assert packed.decode().split() == tokens(text) or packed.isascii()
        assert tokens(packed.decode()) == tokens(text)
