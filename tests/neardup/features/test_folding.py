import string
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neardup.features.folding import fold

# All of Unicode but the ideographs, Hangul syllables and private use, which have no case.
LETTERS = [*range(0x3400), *range(0xA000, 0xAC00), *range(0xD7A4, 0xE000), *range(0xF900, 0x20000)]
ANY_TEXT = st.text(st.characters(), max_size=60)
# Marks, letters that change their length in folding, fillers and spaces, in unlikely company.
ODD_TEXT = st.text(
    "aAſßİıΣςΐᾳῼǰﬁ℡Å\u0301\u0307\u0316\u0345\u0308\u00ad\u200b\u3099かｶﾞ한\u1160 \n\u2028\u00a0"
)


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("", ""),
        ("  The\tCat \r\n sat. ", "the cat sat."),
        ("Straße STRASSE", "strasse strasse"),
        ("ﬁne ①", "fine 1"),
        ("ＡＢＣ　ｶﾞ", "abc ガ"),
        ("Cafe\u0301", "café"),
        ("no\u00a0break\u2009thin\u3000wide\x85next\u2029last", "no break thin wide next last"),
        ("soft\u00adhyphen zero\u200bwidth \ufeffmark", "softhyphen zerowidth mark"),
        ("\u200b \ufeff", ""),
        ("half \ud800 pair", "half \ud800 pair"),
        ("nul\0nul", "nul\0nul"),
        ("ΣΊΣΥΦΟΣ", "σίσυφοσ"),
    ],
)
def test_fold_removes_case_form_and_space(text: str, folded: str) -> None:
    assert fold(text) == folded


@pytest.mark.parametrize("text", [b"bytes", None, 7])
def test_fold_refuses_what_is_no_text(text: object) -> None:
    with pytest.raises(TypeError, match="text must be str, got"):
        fold(text)  # type: ignore[arg-type]


def test_fold_of_every_character_is_stable_in_both_forms() -> None:
    unstable = [
        hex(code)
        for code in LETTERS
        if fold(fold(chr(code))) != fold(chr(code))
        or fold(unicodedata.normalize("NFD", chr(code))) != fold(chr(code))
    ]
    assert unstable == []


@pytest.mark.parametrize("run", ["\u0301\u0316", "\u0316\u0301", "\u0345\u0316\u0301"])
def test_fold_of_a_million_marks_ends_and_keeps_their_order_canonical(run: str) -> None:
    marks = run * (1_000_000 // len(run))
    sorted_marks = "".join(sorted(marks, key=unicodedata.combining))
    assert fold(f"a {marks} b") == fold(f"a {sorted_marks} b")


@pytest.mark.parametrize("length", [127, 128, 129, 255, 300])
@pytest.mark.parametrize("before", [0, 1, 64, 127, 128, 200])
def test_fold_of_a_long_run_equals_the_plain_normal_form(length: int, before: int) -> None:
    text = "x" * before + ("\u0301\u0316" * length)[:length] + "y" * 70
    plain = unicodedata.normalize("NFKC", text)
    assert fold(text) == plain


class TestFoldProperties:
    @settings(deadline=None)
    @given(ANY_TEXT | ODD_TEXT)
    def test_folding_twice_is_folding_once(self, text: str) -> None:
        assert fold(fold(text)) == fold(text)

    @settings(deadline=None)
    @given(ANY_TEXT | ODD_TEXT)
    def test_encoding_forms_fold_alike(self, text: str) -> None:
        composed = fold(unicodedata.normalize("NFC", text))
        assert composed == fold(unicodedata.normalize("NFD", text)) == fold(text)

    @settings(deadline=None)
    @given(st.text(string.printable + "àéîõüçñ漢字かな"))
    def test_case_and_space_fold_away(self, text: str) -> None:
        spaced = "\n\t".join(text.upper().split(" "))
        assert fold(spaced) == fold(text)
