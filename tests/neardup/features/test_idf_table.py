import math
import random
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neardup.errors import ParameterError
from neardup.features.folding import fold
from neardup.features.hashing import Hashes
from neardup.features.idf_table import IdfTable
from neardup.features.shingles import occurrences, shingle_set
from neardup.features.tokens import tokens

TEXTS = ["the cat sat on the mat", "The dog sat", "a cat", "", "the"]

words = st.sampled_from(["a", "b", "the", "Cat", "ünder", "of", "naïve", "猫", "42"])
texts = st.lists(words, max_size=12).map(" ".join)
corpora = st.lists(texts, max_size=12)


def shingles(text: str, size: int) -> set[tuple[str, ...]]:
    """The oracle: shingles as tuples of words."""
    found = tokens(text)
    size = min(size, len(found))
    return {tuple(found[n : n + size]) for n in range(len(found) - size + 1)} if found else set()


def counted(corpus: list[str], size: int) -> Counter[tuple[str, ...]]:
    """The oracle: in how many texts each shingle occurs."""
    return Counter(shingle for text in corpus for shingle in shingles(text, size))


def features(*named: str) -> Hashes:
    """The hashes that SimHash takes for words, in the order given."""
    return np.concatenate([shingle_set(word, "word", 1) for word in named])


def asked(table: IdfTable, shingle: tuple[str, ...]) -> int:
    """The frequency of a shingle, by the hash that SimHash takes for it."""
    hashes = shingle_set(" ".join(shingle), "word", len(shingle))
    return int(table.document_frequencies(hashes)[0])


def frequency(table: IdfTable, feature: str) -> int:
    """In how many texts a feature occurs, given as a text: "the", "of the"."""
    (hash_of_it,) = occurrences(feature, table.unit, table.size)
    return int(table.document_frequencies(np.array([hash_of_it], np.uint64))[0])


def contents(table: IdfTable) -> dict[int, int]:
    """Everything that a table holds."""
    hashes = table.hashes
    return dict(zip(hashes.tolist(), table.document_frequencies(hashes).tolist(), strict=True))


class TestLearned:
    def test_a_weight_is_smooth_and_an_unseen_word_has_the_max_weight(self) -> None:
        table = IdfTable.learned(TEXTS)
        weights = table.weights(features("the", "cat", "dog", "unseen"))
        wanted = [math.log(6 / (1 + frequency)) + 1 for frequency in (3, 2, 1, 0)]
        assert weights == pytest.approx(wanted)
        assert weights.dtype == np.float64

    @pytest.mark.parametrize("corpus", [[], [""], ["", "  "]])
    def test_a_corpus_without_words_makes_an_empty_table(self, corpus: list[str]) -> None:
        table = IdfTable.learned(corpus)
        assert len(table) == 0
        assert table.documents == len(corpus)
        assert table.weights(features("a", "b")) == pytest.approx(
            [math.log(1 + len(corpus)) + 1] * 2
        )

    def test_no_features_have_no_weights(self) -> None:
        assert len(IdfTable.learned(TEXTS).weights(np.empty(0, np.uint64))) == 0

    def test_texts_are_taken_one_by_one(self) -> None:
        stored: list[int] = []

        def stream() -> Iterator[str]:
            for number in range(50):
                stored.append(number)
                yield f"word{number}"

        assert IdfTable.learned(stream()).documents == len(stored) == 50

    @pytest.mark.parametrize(
        ("arguments", "complaint"),
        [
            ({"size": 0}, "size must be 1..16, got 0"),
            ({"min_documents": 0}, "min_documents must be at least 1, got 0"),
            ({"unit": "line"}, "unit must be one of word, character, got 'line'"),
        ],
    )
    def test_an_argument_out_of_range_is_named(
        self, arguments: dict[str, int], complaint: str
    ) -> None:
        with pytest.raises(ParameterError, match=complaint):
            IdfTable.learned(TEXTS, **arguments)  # type: ignore[arg-type]

    def test_one_text_is_not_taken_for_many_of_a_letter(self) -> None:
        with pytest.raises(ParameterError, match="texts must be several texts, got one str"):
            IdfTable.learned("a text")

    def test_what_is_no_text_is_refused(self) -> None:
        with pytest.raises(TypeError, match="text must be str, got bytes"):
            IdfTable.learned([b"bytes"])  # type: ignore[list-item]

    def test_it_shows_what_it_is(self) -> None:
        shown = repr(IdfTable.learned(TEXTS, size=2))
        assert shown == "<IdfTable: 9 features (2 x word) of 5 documents>"


class TestLearnedProperties:
    @given(corpora, st.integers(1, 4))
    def test_frequencies_are_those_of_a_counter(self, corpus: list[str], size: int) -> None:
        table, wanted = IdfTable.learned(corpus, size=size), counted(corpus, size)
        assert (table.documents, len(table)) == (len(corpus), len(wanted))
        assert {shingle: asked(table, shingle) for shingle in wanted} == wanted
        assert table.max_undercount == 0

    @given(st.lists(st.text("ab 猫Ü", max_size=9), max_size=6), st.integers(1, 4))
    def test_characters_are_counted_as_words_are(self, corpus: list[str], size: int) -> None:
        table = IdfTable.learned(corpus, unit="character", size=size)
        wanted: Counter[str] = Counter()
        for folded in map(fold, corpus):
            taken = min(size, len(folded))
            wanted.update({folded[n : n + taken] for n in range(len(folded) - taken + 1)} - {""})
        # A space at an end is folded away from what is asked.
        for gram in (gram for gram in wanted if gram == gram.strip()):
            assert frequency(table, gram) == wanted[gram]
        assert sorted(contents(table).values()) == sorted(wanted.values())

    @given(corpora, st.randoms(use_true_random=False))
    def test_the_order_of_the_texts_does_not_count(
        self, corpus: list[str], source: random.Random
    ) -> None:
        shuffled = list(corpus)
        source.shuffle(shuffled)
        assert contents(IdfTable.learned(shuffled)) == contents(IdfTable.learned(corpus))

    @given(corpora, st.integers(1, 3))
    def test_weights_fall_as_frequencies_rise(self, corpus: list[str], size: int) -> None:
        table = IdfTable.learned(corpus, size=size)
        hashes = table.hashes
        order = np.argsort(table.document_frequencies(hashes), kind="stable")
        weights = table.weights(hashes)[order]
        assert (np.diff(weights) <= 0).all()
        assert (weights >= 1).all()


class TestCounts:
    @pytest.fixture(autouse=True)
    def merge_often(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("neardup.features.idf_table._WAITING", 8)

    @settings(deadline=None)
    @given(st.lists(st.lists(st.integers(0, 60), max_size=9), max_size=60), st.integers(1, 3))
    def test_frequencies_are_those_of_a_plain_count(
        self, numbers: list[list[int]], min_documents: int
    ) -> None:
        corpus = [" ".join(map(str, row)) for row in numbers]
        table = IdfTable.learned(corpus, min_documents=min_documents)
        assert table.documents == len(corpus)
        assert table.max_undercount == min_documents - 1
        for shingle, true in counted(corpus, 1).items():
            assert asked(table, shingle) == (true if true >= min_documents else 0)
