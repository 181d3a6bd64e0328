import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.comparison.edit_distance import MAX_CHARACTERS, edit_ratio
from neardup.errors import DocumentError
from neardup.features.folding import fold

SHORT = st.text("abÉ \ud800", max_size=8)


@pytest.mark.parametrize(
    ("first", "second", "ratio"),
    [
        ("", "", 1.0),
        ("", "a", 0.0),
        ("abc", "ABC  ", 1.0),
        ("E\u0301", "\u00e9", 1.0),
        ("the quick brown fox jumps", "the quick brown fax jumps", 0.96),
        ("a\ud800", "a\ud801", 0.5),
    ],
)
def test_ratio_of_known_texts(first: str, second: str, ratio: float) -> None:
    assert edit_ratio(first, second) == pytest.approx(ratio)


def test_a_long_text_is_refused_by_name_of_what_is_for_it() -> None:
    with pytest.raises(DocumentError, match="got 100001; use jaccard"):
        edit_ratio("a", "b" * (MAX_CHARACTERS + 1))


@given(SHORT, SHORT)
def test_it_equals_the_definition(first: str, second: str) -> None:
    ours, theirs = fold(first), fold(second)
    row = [0] * (len(theirs) + 1)
    for character in ours:
        before, row = row, [0]
        for place, other in enumerate(theirs):
            longer = before[place] + 1 if character == other else 0
            row.append(max(longer, row[place], before[place + 1]))
    both = len(ours) + len(theirs)
    assert edit_ratio(first, second) == pytest.approx(2 * row[-1] / both if both else 1)
