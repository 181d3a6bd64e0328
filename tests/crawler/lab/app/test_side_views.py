from hypothesis import given
from hypothesis import strategies as st

from crawler.lab.app.side_views import (
    MAX_PIECES,
    Piece,
    Row,
    count_changes,
    side_by_side,
    word_marks,
)
from neardup.comparison.diff import ADDED, EQUAL, REMOVED, diff, folded_word, written_words

WORDS = st.sampled_from(["a", "b", "c", "d,", "é", "漢"])
TEXTS = st.lists(WORDS, max_size=80).map(" ".join)
LONG = " ".join(f"word{number}" for number in range(200))


def folded(text: str) -> list[str]:
    return [folded_word(word) for word in written_words(text)]


def test_changed_words_stand_beside_each_other_and_far_equal_ones_are_folded() -> None:
    rows = side_by_side(diff(f"one {LONG}", f"two {LONG}"), context=3)
    fold = (Piece(EQUAL, LONG[LONG.index("word3 ") :]),)
    assert rows == [
        Row(
            (Piece(REMOVED, "one "), Piece(EQUAL, "word0 word1 word2 ")),
            (Piece(ADDED, "two "), Piece(EQUAL, "word0 word1 word2 ")),
        ),
        Row(fold, fold, folded=197),
    ]


def test_equal_words_between_two_changes_stand_with_both() -> None:
    runs = diff(f"one {LONG} one", f"two {LONG} two")
    first, fold, second = side_by_side(runs, context=2)
    assert first.left[-1] == Piece(EQUAL, "word0 word1 ")
    assert second.left[0] == Piece(EQUAL, "word198 word199 ")
    assert [row.folded for row in (first, fold, second)] == [0, 196, 0]


def test_few_equal_words_are_not_folded() -> None:
    rows = side_by_side(diff("one a b c one", "two a b c two"), context=0)
    assert [row.folded for row in rows] == [0]


def test_texts_that_have_every_second_word_in_common_are_many_rows() -> None:
    first, second = (" ".join(f"{side}{n} and" for n in range(5_000)) for side in "ab")
    rows = side_by_side(diff(first, second))
    assert len(rows) > 100
    assert all(not row.folded and len(row.left) + len(row.right) < MAX_PIECES + 4 for row in rows)


def test_equal_texts_are_one_fold() -> None:
    assert side_by_side(diff(LONG, LONG)) == [
        Row((Piece(EQUAL, LONG),), (Piece(EQUAL, LONG),), folded=200)
    ]


def test_empty_texts_have_no_row() -> None:
    assert side_by_side(diff("", "")) == []


def test_changes_are_counted_by_their_places() -> None:
    assert count_changes(diff("a b c d", "a x c")) == 2
    assert count_changes(diff("b a", "a c")) == 2
    assert count_changes(diff(LONG, LONG)) == 0


class TestSidesProperties:
    @given(TEXTS, TEXTS, st.integers(0, 5))
    def test_no_word_is_lost_on_either_side(self, first: str, second: str, context: int) -> None:
        left = right = ""
        for row in side_by_side(diff(first, second), context=context):
            left += "".join(piece.text for piece in row.left)
            right += "".join(piece.text for piece in row.right)
        assert folded(left) == folded(first)
        assert folded(right) == folded(second)

    @given(TEXTS, TEXTS, st.integers(0, 5), st.data())
    def test_marked_words_are_those_of_the_spans(
        self, first: str, second: str, context: int, data: st.DataObject
    ) -> None:
        texts = first, second
        spans = [data.draw(spans_of(text)) for text in texts]
        marks = [word_marks(text, bounds) for text, bounds in zip(texts, spans, strict=True)]
        rows = side_by_side(diff(first, second), context=context, marks=(marks[0], marks[1]))
        sides = ([p for row in rows for p in row.left], [p for row in rows for p in row.right])
        for text, bounds, pieces in zip(texts, spans, sides, strict=True):
            within = "".join(text[start:end] for start, end in bounds)
            shown = "".join(piece.text for piece in pieces if piece.is_boilerplate)
            assert folded(shown) == folded(within)


@st.composite
def spans_of(draw: st.DrawFn, text: str) -> list[tuple[int, int]]:
    """Spans that begin and end with words, in order and apart."""
    places = [place + 1 for place, one in enumerate(text) if one == " "]
    bounds = sorted(draw(st.sets(st.sampled_from(places), max_size=6))) if places else []
    return list(zip(bounds[::2], bounds[1::2], strict=False))
