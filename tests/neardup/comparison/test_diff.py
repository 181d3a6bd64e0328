import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.comparison import diff as alignment
from neardup.comparison.diff import (
    ADDED,
    EQUAL,
    MAX_CHARACTERS,
    REMOVED,
    WordRun,
    diff,
    edit_ratio,
    folded_word,
    written_words,
)
from neardup.errors import DocumentError
from neardup.features.folding import fold

TEXTS = st.lists(st.sampled_from(["a", "B", "c,", "漢字", "é"]), max_size=12).map(" ".join)


def length_of_lcs(first: list[str], second: list[str]) -> int:
    row = [0] * (len(second) + 1)
    for word in first:
        before, row = row, [0]
        for place, other in enumerate(second):
            longer = before[place] + 1 if word == other else 0
            row.append(max(longer, row[place], before[place + 1]))
    return row[-1]


def words_of(runs: list[WordRun], *kinds: str) -> list[str]:
    return [folded_word(word) for run in runs if run.kind in kinds for word in run.words]


def folded(text: str) -> list[str]:
    return [folded_word(word) for word in written_words(text)]


def check(first: str, second: str) -> list[WordRun]:
    runs = diff(first, second)
    assert words_of(runs, EQUAL, REMOVED) == folded(first)
    assert words_of(runs, EQUAL, ADDED) == folded(second)
    return runs


def test_a_changed_word_is_removed_and_then_added() -> None:
    assert diff("the quick  fox", "The slow fox") == [
        WordRun(EQUAL, ("the ",)),
        WordRun(REMOVED, ("quick ",)),
        WordRun(ADDED, ("slow ",)),
        WordRun(EQUAL, ("fox",)),
    ]


@pytest.mark.parametrize(
    ("first", "second", "kinds"),
    [
        ("", "", []),
        ("", "a b", [ADDED]),
        ("a b", " \n", [REMOVED]),
        ("a b", "a\tB", [EQUAL]),
        ("e\u0301t", "\u00c9t", [EQUAL]),
        ("a", "a,", [REMOVED, ADDED]),
        ("漢字", "漢子", [EQUAL, REMOVED, ADDED]),
        ("x \ud800 y", "x y", [EQUAL, REMOVED, EQUAL]),
    ],
)
def test_what_counts_as_a_difference(first: str, second: str, kinds: list[str]) -> None:
    assert [run.kind for run in check(first, second)] == kinds


def test_words_keep_their_marks_and_line_breaks() -> None:
    text = "One,  two\n \nวันนี้x 漢字kana"
    words = ["One, ", "two\n", "วั", "น", "นี้", "x ", "漢", "字", "kana"]
    assert written_words(text) == words


def test_long_texts_that_differ_everywhere_are_compared_whole() -> None:
    source = random.Random(0)
    kept = [f"k{source.randrange(5_000)}" for _ in range(30_000)]

    def mixed(name: str) -> str:
        words = list(kept)
        for place in range(0, len(words), 3):
            words[place] = f"{name}{place}"
        return " ".join(words)

    runs = check(mixed("a"), mixed("b"))
    assert len(words_of(runs, EQUAL)) >= 20_000


def test_texts_too_long_for_an_exact_answer_are_tied_by_their_common_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(alignment, "_EXACT", 100)
    words = [f"w{number}" for number in range(1_000)]
    other = [f"x{number}" if number % 50 == 3 else word for number, word in enumerate(words)]
    runs = check(" ".join(words), " ".join(["new", *other[100:], *other[:100]]))
    # A moved part counts once, the longer way; but for three words before the first common run.
    assert len(words_of(runs, EQUAL)) == 900 - 18 - 3


def test_long_texts_with_nothing_in_common_end_as_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alignment, "_EXACT", 100)
    runs = check("a " * 50 + "b", "c " * 60 + "d")
    assert [run.kind for run in runs] == [REMOVED, ADDED]


class TestDiffProperties:
    @given(TEXTS, TEXTS)
    def test_what_is_equal_is_a_longest_common_subsequence(self, first: str, second: str) -> None:
        runs = check(first, second)
        assert len(words_of(runs, EQUAL)) == length_of_lcs(folded(first), folded(second))

    @given(st.text(), st.text())
    def test_any_texts_are_put_together_again(self, first: str, second: str) -> None:
        runs = check(first, second)
        assert all(run.words for run in runs)
        kinds = [run.kind for run in runs]
        assert all(kind != following for kind, following in pairwise(kinds))

    @given(st.text())
    def test_a_text_equals_itself(self, text: str) -> None:
        assert {run.kind for run in diff(text, text)} <= {EQUAL}


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
