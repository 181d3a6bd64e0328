import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.features.idf_table import IdfTable
from neardup.features.tokens import tokens
from neardup.semantic.tf_idf import TfIdfVerifier
from neardup.verifier import Verifier

CORPUS = [
    "the menu the search the home page tells of whales",
    "the menu the search the home page tells of volcanoes",
    "the menu the search the home page tells of spoons",
    "the menu the search the home page tells of whales and of volcanoes",
]

texts = st.lists(st.sampled_from("a b c d the naïve 猫".split()), max_size=15).map(" ".join)


def compared(verifier: Verifier, first: str, second: str) -> float:
    return verifier.compared_with(first)(second)


def cosine(table: IdfTable, first: str, second: str) -> float:
    """The oracle: dictionaries of words, one word at a time."""

    def vector(text: str) -> dict[str, float]:
        n = 1 + table.documents
        return {
            word: (1 + math.log(count)) * (math.log(n / (1 + table.document_frequency(word))) + 1)
            for word, count in Counter(tokens(text)).items()
        }

    ours, theirs = vector(first), vector(second)
    if not (ours and theirs):
        return float(not ours and not theirs)
    shared = sum(ours[word] * theirs[word] for word in ours.keys() & theirs.keys())
    squares = [sum(weight**2 for weight in one.values()) for one in (ours, theirs)]
    return shared / math.sqrt(squares[0] * squares[1])


class TestTfIdfVerifier:
    def test_it_says_what_it_measures(self) -> None:
        assert TfIdfVerifier(IdfTable.learned([])).measure == "tf-idf cosine"

    @pytest.mark.parametrize("text", ["a", "whales and volcanoes", "the " * 900, "猫が好き"])
    def test_a_text_is_at_one_with_itself_exactly(self, text: str) -> None:
        assert compared(TfIdfVerifier(IdfTable.learned(CORPUS)), text, text) == 1.0

    def test_texts_without_a_word_in_common_are_at_zero(self) -> None:
        verifier = TfIdfVerifier(IdfTable.learned(CORPUS))
        assert compared(verifier, "whales and", "spoons of") == 0.0

    @pytest.mark.parametrize(("other", "wanted"), [("", 1.0), (" . ", 1.0), ("a", 0.0)])
    def test_a_text_without_words_resembles_only_its_like(self, other: str, wanted: float) -> None:
        verifier = TfIdfVerifier(IdfTable.learned(CORPUS))
        assert compared(verifier, "", other) == compared(verifier, other, "") == wanted

    def test_case_and_encoding_form_do_not_count(self) -> None:
        verifier = TfIdfVerifier(IdfTable.learned(CORPUS))
        assert compared(verifier, "ÉCOLE of whales", "e\u0301cole OF  Whales") == 1.0

    def test_what_every_page_holds_counts_less_than_what_one_page_holds(self) -> None:
        learned = TfIdfVerifier(IdfTable.learned(CORPUS))
        ignorant = TfIdfVerifier(IdfTable.learned([]))
        assert compared(learned, *CORPUS[:2]) < compared(ignorant, *CORPUS[:2]) - 0.05

    def test_the_order_of_single_words_does_not_count_and_that_of_pairs_does(self) -> None:
        text, turned = "whales swim and spoons do not", "spoons swim and whales do not"
        single = TfIdfVerifier(IdfTable.learned(CORPUS))
        pairs = TfIdfVerifier(IdfTable.learned(CORPUS, size=2))
        assert compared(single, text, turned) == pytest.approx(1.0)
        assert compared(pairs, text, turned) < 0.5

    def test_a_repeated_word_counts_by_the_logarithm(self) -> None:
        verifier = TfIdfVerifier(IdfTable.learned([]))
        # (1 + ln 3, 1) and (1, 1).
        wanted = (2 + math.log(3)) / math.sqrt(2 * ((1 + math.log(3)) ** 2 + 1))
        assert compared(verifier, "a a a b", "a b") == pytest.approx(wanted)

    def test_what_is_no_text_is_refused(self) -> None:
        verifier = TfIdfVerifier(IdfTable.learned(CORPUS))
        with pytest.raises(TypeError, match="text must be str, got bytes"):
            verifier.compared_with(b"bytes")  # type: ignore[arg-type]


class TestTfIdfProperties:
    @given(st.lists(texts, max_size=6), texts, texts)
    def test_it_is_the_cosine_of_dictionaries(
        self, corpus: list[str], first: str, second: str
    ) -> None:
        table = IdfTable.learned(corpus)
        found = compared(TfIdfVerifier(table), first, second)
        assert found == pytest.approx(cosine(table, first, second))
        assert 0.0 <= found <= 1.0

    @given(st.lists(texts, max_size=4), texts, texts, st.integers(1, 3))
    def test_both_directions_are_the_same(
        self, corpus: list[str], first: str, second: str, size: int
    ) -> None:
        verifier = TfIdfVerifier(IdfTable.learned(corpus, size=size))
        there, back = compared(verifier, first, second), compared(verifier, second, first)
        assert there == pytest.approx(back)
