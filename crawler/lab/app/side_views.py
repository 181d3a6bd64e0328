"""Two texts side by side: what stands in one alone, and long stretches of both folded."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, groupby, pairwise, repeat
from operator import itemgetter
from typing import TYPE_CHECKING

from nicegui import ui

from crawler.lab.app.elements import GrowingRows, plain
from neardup.comparison.diff import ADDED, EQUAL, REMOVED, WordRun, written_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

CONTEXT_WORDS = 14
"""The number of equal words that are shown before and behind a change."""

SHORTEST_FOLD_WORDS = 20
"""The least number of words in a fold: the row of a shorter one would save no room."""

MAX_PIECES = 40
"""The number of pieces in a row from which on the next equal words end it.

Texts that have little more than "the" and "of" in common are tens of thousands of pieces, and the
lab shows some rows at a time.
"""


@dataclass(frozen=True, slots=True)
class Piece:
    """Words in a row of one text: ``equal``, ``removed`` or ``added``, as in a diff.

    Attributes:
        kind: The fate of the words.
        text: The words, with white space between and behind them.
        is_boilerplate: Whether their host repeats them.
    """

    kind: str
    text: str
    is_boilerplate: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """Pieces of both texts that stand beside each other.

    Attributes:
        left: The pieces of the first text.
        right: The pieces of the second text.
        folded: The number of words of a row that both texts have and that is not shown at first;
            0 of any other row.
    """

    left: tuple[Piece, ...]
    right: tuple[Piece, ...]
    folded: int = 0


def side_by_side(
    runs: Sequence[WordRun],
    *,
    context: int = CONTEXT_WORDS,
    marks: tuple[Sequence[bool], Sequence[bool]] = ((), ()),
) -> list[Row]:
    """Set a diff as two columns, in rows that begin and end with words of both texts.

    Args:
        runs: The runs that ``neardup.comparison.diff.diff`` returns.
        context: Equal words shown on either side of a change.
        marks: Whether the host repeats each written word of the first text, and of the second;
            words behind the last one it does not.
    """
    return list(_rows(_cut_runs(runs, context), (_Marks(marks[0]), _Marks(marks[1]))))


def word_marks(text: str, spans: Sequence[tuple[int, int]]) -> list[bool]:
    """Return for each written word of a text whether it begins in one of some spans.

    Args:
        text: The text.
        spans: Bounds, ascending.
    """
    marks, place, span = [], 0, 0
    for word in written_words(text) if spans else ():
        shown = word.rstrip()
        place = text.index(shown, place)
        while span < len(spans) and spans[span][1] <= place:
            span += 1
        marks.append(span < len(spans) and spans[span][0] <= place)
        place += len(shown)
    return marks


class _Marks:
    """The marks of the words of one text, taken in their order."""

    def __init__(self, marks: Sequence[bool]) -> None:
        self._marks = chain(marks, repeat(False))

    def pieces(self, kind: str, words: Sequence[str]) -> tuple[Piece, ...]:
        """Return the next words as pieces; each piece is marked as a whole or not at all."""
        marked = zip(words, self._marks, strict=False)
        return tuple(
            Piece(kind, "".join(word for word, _ in group), is_boilerplate)
            for is_boilerplate, group in groupby(marked, key=itemgetter(1))
        )


def count_changes(runs: Iterable[WordRun]) -> int:
    """Count the places in which two texts differ; what was replaced is one."""
    kinds = [EQUAL, *(run.kind for run in runs)]
    return sum(kind != EQUAL and before == EQUAL for before, kind in pairwise(kinds))


_FOLDED = "folded"
"""The kind of a run of equal words that are to be folded."""


def _cut_runs(runs: Sequence[WordRun], context: int) -> Iterator[WordRun]:
    last = len(runs) - 1
    for place, run in enumerate(runs):
        if run.kind == EQUAL:
            yield from _cut(run.words, context if place else 0, context if place < last else 0)
        else:
            yield run


def _cut(words: tuple[str, ...], before: int, after: int) -> Iterator[WordRun]:
    """Cut equal words into what belongs to the change before, a fold, and to the one behind."""
    middle = words[before : len(words) - after]
    if len(middle) < SHORTEST_FOLD_WORDS:
        yield WordRun(EQUAL, words)
        return
    if before:
        yield WordRun(EQUAL, words[:before])
    yield WordRun(_FOLDED, middle)
    if after:
        yield WordRun(EQUAL, words[len(words) - after :])


def _rows(runs: Iterable[WordRun], marks: tuple[_Marks, _Marks]) -> Iterator[Row]:
    left: list[Piece] = []
    right: list[Piece] = []
    for run in runs:
        if run.kind == _FOLDED:
            yield from _aligned(left, right)
            left, right = [], []
            ours, theirs = (one.pieces(EQUAL, run.words) for one in marks)
            yield Row(ours, theirs, len(run.words))
            continue
        if run.kind != ADDED:
            left += marks[0].pieces(run.kind, run.words)
        if run.kind != REMOVED:
            right += marks[1].pieces(run.kind, run.words)
        if run.kind == EQUAL and len(left) + len(right) >= MAX_PIECES:
            yield from _aligned(left, right)
            left, right = [], []
    yield from _aligned(left, right)


def _aligned(left: list[Piece], right: list[Piece]) -> Iterator[Row]:
    if left or right:
        yield Row(tuple(left), tuple(right))


AT_ONCE = 60
"""The number of rows that are made before the reader asks for more."""


def side_rows() -> GrowingRows[Row]:
    """Return rows for texts as text: nothing of them is ever read as anything else."""
    return GrowingRows("side-rows", _show_row, AT_ONCE)


def _show_row(row: Row) -> None:
    if not row.folded:
        _show_sides(row)
        return

    def unfold() -> None:
        holder.clear()
        with holder:
            _show_sides(row)

    with ui.element().classes("fold-row") as holder:
        words = f"{row.folded:,} words that both have"
        button = ui.button(words, icon="unfold_more", on_click=unfold)
        button.props("flat dense color=none").classes("unfold")


def _show_sides(row: Row) -> None:
    with ui.element().classes("sides"):
        _side(row.left)
        _side(row.right)


def _looks(piece: Piece) -> str:
    return f"piece {piece.kind}" + (" repeated" if piece.is_boilerplate else "")


def _side(pieces: Sequence[Piece]) -> None:
    with ui.element().classes("side crawled text"):
        for piece in pieces:
            # The white space behind is no part of a mark.
            words = piece.text.rstrip() if piece.kind != EQUAL else piece.text
            ui.label(plain(words, keeps_lines=True)).classes(_looks(piece))
            if space := piece.text[len(words) :]:
                ui.label(space).classes("piece equal")
