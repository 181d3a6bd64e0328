"""The rows of two texts side by side; folds open where they are clicked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nicegui import ui

from crawler.lab.app.plain_text import plain
from crawler.lab.app.side_views import Aligned, Folded, Piece
from neardup.comparison.diff import EQUAL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawler.lab.app.side_views import Row

AT_ONCE = 60
"""The number of rows that are made before the reader asks for more."""


class SideRows:
    """Texts as text: nothing of them is ever read as anything else."""

    def __init__(self) -> None:
        self._rows: Sequence[Row] = ()
        self._shown = 0

    def build(self) -> None:
        """Put it where the page is being made."""
        self._body = ui.element().classes("side-rows")
        self._more = ui.button("Show more", on_click=self._show_more, color=None)
        self._more.props("flat dense").classes("plain")
        self._more.set_visibility(False)

    def show(self, rows: Sequence[Row]) -> None:
        """Show other texts."""
        self._body.clear()
        self._rows, self._shown = rows, 0
        self._show_more()

    def _show_more(self) -> None:
        end = min(self._shown + AT_ONCE, len(self._rows))
        with self._body:
            for row in self._rows[self._shown : end]:
                _show_row(row)
        self._shown = end
        self._more.set_visibility(end < len(self._rows))


def _show_row(row: Row) -> None:
    if isinstance(row, Aligned):
        with ui.element().classes("sides"):
            _side(row.left)
            _side(row.right)
        return
    with ui.element().classes("fold-row") as holder:
        words = f"{row.words:,} words that both have"
        button = ui.button(words, icon="unfold_more", on_click=lambda: _open(holder, row))
        button.props("flat dense color=none").classes("unfold")


def _open(holder: ui.element, row: Folded) -> None:
    holder.clear()
    with holder, ui.element().classes("sides"):
        _side((Piece(EQUAL, row.text),))
        _side((Piece(EQUAL, row.text),))


def _side(pieces: Sequence[Piece]) -> None:
    with ui.element().classes("side crawled text"):
        for piece in pieces:
            # The white space behind is no part of a mark.
            words = piece.text.rstrip() if piece.kind != EQUAL else piece.text
            ui.label(plain(words, keeps_lines=True)).classes(f"piece {piece.kind}")
            if space := piece.text[len(words) :]:
                ui.label(space).classes("piece equal")
