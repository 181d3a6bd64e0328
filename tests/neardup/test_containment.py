import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup import jaccard, tokens
from neardup.errors import ParameterError
from neardup.verification import containment
from tests.neardup.texts import prose

WORDS = st.lists(st.sampled_from(["a", "b", "漢", "É"]), max_size=15).map(" ".join)


@pytest.mark.parametrize(
    ("first", "second", "share"),
    [
        ("", "", 1.0),
        ("", "a", 0.0),
        ("a b c d e", "x A, b c d e f", 1.0),
        ("x a b c d e f", "a b c d e", 1 / 3),
        ("a b", "a b c d e", 0.0),
        ("a b", "A b", 1.0),
    ],
)
def test_containment_of_known_texts(first: str, second: str, share: float) -> None:
    assert containment(first, second) == share


def test_a_quoted_text_is_contained_whole_and_jaccard_hardly_sees_it() -> None:
    quoted, page = prose(1, 50), prose(2, 2_000)
    assert containment(quoted, f"{page} {quoted} {page}") == 1
    assert jaccard(quoted, f"{page} {quoted} {page}") < 0.05


@pytest.mark.parametrize("size", [0, -1])
def test_a_shingle_has_at_least_a_word(size: int) -> None:
    with pytest.raises(ParameterError, match="at least 1"):
        containment("a", "b", shingle_size=size)


@given(WORDS, WORDS, st.integers(1, 4))
def test_it_equals_the_definition_and_agrees_with_jaccard(
    first: str, second: str, size: int
) -> None:
    def shingles(text: str) -> set[str]:
        words = tokens(text)
        return {" ".join(words[at : at + size]) for at in range(max(len(words) - size, 0) + 1)}

    ours, theirs = shingles(first), shingles(second)
    assert containment(first, second, shingle_size=size) == len(ours & theirs) / len(ours)
    assert (containment(first, second, shingle_size=size) == 0) == (
        jaccard(first, second, shingle_size=size) == 0
    )
