import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neardup import tokens
from neardup.features.folding import fold
from neardup.features.texts import folded_bytes, unit_bytes

# What reaches across: marks that compose or not, of several classes; letters that they compose
# with or not; Hangul; what folds to more, to a mark, to a space and a mark, to nothing.
ODD = st.text(
    "aAeçéßİıΣΐᾳῼǰﬁÅ\u0301\u0307\u0316\u0345\u0308\u0327\u0334´¨ \n\x1c\u00a0\u2028"
    "\u00ad\u200b\u034f가각각ㅏﾡﾄｶﾞか\u3099जऩ\u093c\u094dকো\u09c7\u09beนำ\u0e48\u0e38שּׁ\u05b8\u05bc"
    "لآ\u0653\u0651\u064eﷺ㍿½…™\ud800\U0001d15e\U0001d165\U0002f800\U000e0100\U0010fffd",
    max_size=12,
)


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
    @given(ODD | st.text())
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
