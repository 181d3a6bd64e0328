from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.fingerprints.digest import EMPTY_DIGEST, payload_digest, text_digest, words_digest


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("The cat", "  the\nCAT "),
        ("café", "cafe\u0301"),
        ("", " \u200b\ufeff\n"),
        ("\ud800", "\ud800 "),
    ],
)
def test_texts_that_fold_alike_have_one_digest(first: str, second: str) -> None:
    assert text_digest(first) == text_digest(second)


@pytest.mark.parametrize(
    ("first", "second"), [("a b", "ab"), ("cat.", "cat"), ("", "\0"), ("\ud800", "\udfff")]
)
def test_texts_that_fold_apart_have_two_digests(first: str, second: str) -> None:
    assert text_digest(first) != text_digest(second)


def test_digests_are_pinned() -> None:
    assert EMPTY_DIGEST == text_digest("") == payload_digest(b"")
    assert payload_digest(b"").hex() == "99aa06d3014798d86001c324468d497f"
    assert payload_digest(b"abc").hex() == "06b05ab6733a618578af5f94892f3950"
    assert text_digest("Straße №5 — café").hex() == "7eeaa0265e8ce3ec9008a7e9f4143084"


class TestWordsDigest:
    @given(st.lists(st.text("abcé", min_size=1, max_size=6), max_size=30), st.randoms())
    def test_the_order_of_words_does_not_matter(self, words: list[str], random: Random) -> None:
        shuffled = list(words)
        random.shuffle(shuffled)
        assert words_digest(" ".join(words)) == words_digest(" \n".join(shuffled))

    @pytest.mark.parametrize("text", ["", " ", "\n"])
    def test_texts_without_words_have_the_digest_of_none(self, text: str) -> None:
        assert words_digest(text) == EMPTY_DIGEST

    def test_how_often_a_word_occurs_does(self) -> None:
        digests = {words_digest(text) for text in ("", "a", "a a", "a b", "a b b", "a a b")}
        assert len(digests) == 6

    def test_case_and_space_do_not(self) -> None:
        assert words_digest("The  Cat\n") == words_digest("cat the")
