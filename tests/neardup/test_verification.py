import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neardup import jaccard, tokens
from neardup.errors import ParameterError
from neardup.verification import JaccardComparison, containment, shared_size
from tests.neardup.texts import changed, prose

WORDS = st.lists(st.sampled_from(["a", "b", "cc", "漢", "é", "x" * 80]), max_size=30)


def shingles(text: str, size: int) -> set[tuple[str, ...]]:
    """The definition, with tuples."""
    words = tokens(text)
    return {tuple(words[place : place + size]) for place in range(max(len(words) - size, 0) + 1)}


def plain_jaccard(first: str, second: str, size: int) -> float:
    ours, theirs = shingles(first, size), shingles(second, size)
    return len(ours & theirs) / len(ours | theirs)


@pytest.mark.parametrize(
    ("first", "second", "similarity"),
    [
        ("", "", 1.0),
        ("", "a", 0.0),
        ("a b", "a b", 1.0),
        ("a b", "a c", 0.0),
        ("a b c d e", "A, b; C d E!", 1.0),
        ("a b c d", "a b c d e", 0.0),
        ("a b c d e", "a b c d e f", 0.5),
        ("a a a a a a a", "a a a a a", 1.0),
    ],
)
def test_jaccard_of_known_texts(first: str, second: str, similarity: float) -> None:
    assert jaccard(first, second) == similarity


@pytest.mark.parametrize("size", [0, -1])
def test_a_shingle_has_at_least_a_word(size: int) -> None:
    for measure in (jaccard, containment):
        with pytest.raises(ParameterError, match="at least 1"):
            measure("a", "b", shingle_size=size)


@pytest.mark.parametrize("size", [2, 5, 16])
def test_it_stays_exact_when_the_vocabulary_outgrows_64_bits(size: int) -> None:
    source = random.Random(size)
    words = [f"w{source.randrange(40_000)}" for _ in range(20_000)]
    first = " ".join(words)
    second = changed(" ".join(words[5_000:] + words[:4_000]), 1, count=300)
    assert jaccard(first, second, shingle_size=size) == plain_jaccard(first, second, size)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 7, 16])
def test_large_texts_of_few_and_of_many_words_have_the_similarity_of_the_definition(
    size: int,
) -> None:
    source = random.Random(size)
    for vocabulary in (3, 1_000, 10**6):
        words = [f"w{source.randrange(vocabulary):x}" for _ in range(20_000)]
        other = " ".join(words[500:] + words[:700])
        first, second = " ".join(words), changed(other, 1, count=100) + " 漢字 É"
        assert jaccard(first, second, shingle_size=size) == plain_jaccard(first, second, size)


def test_words_that_a_sum_modulo_64_bits_would_lose_count() -> None:
    # With 4,096 words, the first of a run of 16 is multiplied by 4,096 ** 15, a multiple of 2**64.
    others = " ".join(f"w{number}" for number in range(4096 - 17))
    tail = " ".join("abcdefghijklmno")
    first, second = f"{others} p {tail} q", f"{others} q {tail} p"
    assert jaccard(first, second, shingle_size=16) == plain_jaccard(first, second, 16) < 1


def test_half_of_a_text_is_half_alike() -> None:
    text = prose(1, 4_000)
    assert jaccard(text, text[: len(text) // 2]) == pytest.approx(0.5, abs=0.02)


def test_a_quoted_text_is_contained_whole_and_jaccard_hardly_sees_it() -> None:
    quoted, page = prose(1, 50), prose(2, 2_000)
    assert containment(quoted, f"{page} {quoted} {page}") == 1
    assert jaccard(quoted, f"{page} {quoted} {page}") < 0.05


@given(WORDS, WORDS, st.integers(1, 4))
def test_containment_equals_the_definition_and_agrees_with_jaccard(
    first: list[str], second: list[str], size: int
) -> None:
    texts = " ".join(first), " ".join(second)
    ours, theirs = (shingles(text, size) for text in texts)
    found = containment(*texts, shingle_size=size)
    assert found == len(ours & theirs) / len(ours)
    assert (found == 0) == (jaccard(*texts, shingle_size=size) == 0)


class TestJaccardProperties:
    @settings(deadline=None)
    @given(WORDS, WORDS, st.integers(1, 6))
    def test_it_equals_the_definition(self, first: list[str], second: list[str], size: int) -> None:
        texts = " ".join(first), " ".join(second)
        assert jaccard(*texts, shingle_size=size) == plain_jaccard(*texts, size)

    @settings(deadline=None)
    @given(st.text(), st.text())
    def test_it_is_symmetric_and_whole_for_a_text_and_itself(self, first: str, second: str) -> None:
        assert 0 <= jaccard(first, second) == jaccard(second, first) <= 1
        assert jaccard(first, first) == 1

    @settings(deadline=None)
    @given(WORDS, WORDS)
    def test_two_sets_share_what_sets_of_python_share(
        self, first: list[str], second: list[str]
    ) -> None:
        of_first = JaccardComparison(" ".join(first), 2)
        ours, theirs = of_first.shingles, of_first.shingles_of(" ".join(second))
        before = ours.copy()
        assert shared_size(ours, theirs) == len(set(ours.tolist()) & set(theirs.tolist()))
        assert (ours == before).all()
