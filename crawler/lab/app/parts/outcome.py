"""The numbers of pages that a choice would keep and drop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nicegui import ui

from crawler.lab.app.outcome_rows import (
    KEEPING,
    WORDS,
    bytes_in_words,
    choice_key,
    outcome_rows,
    signed,
)
from crawler.lab.judgement import LAYERS

if TYPE_CHECKING:
    from crawler.lab.choice import Choice
    from crawler.lab.judgement import Judgement, VerdictChanges

_HEADS = ("Layer", "Crawl", "Tried", "Change")
_FIGURES = {
    "kept": "Kept",
    "dropped": "Dropped",
    "now-kept": "Kept that the crawl dropped",
    "now-dropped": "Dropped that the crawl kept",
    "saved": "Bytes of what is dropped",
}


class OutcomeFigures:
    """Large figures, and a table of layers."""

    def build(self) -> None:
        """Put the figures where the page is being made."""
        with ui.element().classes("figures") as self._whole:
            self._figures = {name: self._figure(name, words) for name, words in _FIGURES.items()}

    def _figure(self, name: str, words: str) -> ui.label:
        with ui.element().classes("figure"):
            value = ui.label("\u2013").classes("figure-value").props(f"data-figure={name}")
            ui.label(words).classes("figure-words")
        return value

    def build_table(self) -> None:
        """Put the table of layers where the page is being made."""
        self._cells: dict[str, tuple[ui.element, list[ui.label]]] = {}
        ui.label("Pages by layer").classes("title")
        with ui.element("table").classes("grid-table layers"):
            with ui.element("thead"), ui.element("tr"):
                for place, head in enumerate(_HEADS):
                    with ui.element("th").classes("number" if place else ""):
                        ui.label(head)
            with ui.element("tbody"):
                for layer in LAYERS:
                    self._cells[layer] = self._row(layer, is_kept=layer in KEEPING)
                    self._cells[layer][0].set_visibility(False)

    def _row(self, layer: str, *, is_kept: bool) -> tuple[ui.element, list[ui.label]]:
        with ui.element("tr").props(f"data-layer={layer}") as row:
            with ui.element("td"):
                ui.label(WORDS[layer]).classes("fate kept" if is_kept else "fate dropped")
            cells = []
            for _ in _HEADS[1:]:
                with ui.element("td").classes("number"):
                    cells.append(ui.label())
        return row, cells

    def show(
        self, choice: Choice, tried: Judgement, holds: Judgement, changes: VerdictChanges
    ) -> None:
        """Show the outcome of a choice beside that of the crawl."""
        figures = self._figures
        figures["kept"].text = f"{tried.kept_count:,}"
        figures["dropped"].text = f"{tried.dropped_count:,}"
        figures["now-kept"].text = f"{len(changes.now_kept):,}"
        figures["now-dropped"].text = f"{len(changes.now_dropped):,}"
        figures["saved"].text = bytes_in_words(tried.saved_bytes)
        for row in outcome_rows(tried, holds):
            element, (first, second, change) = self._cells[row.layer]
            first.text, second.text = f"{row.holds:,}", f"{row.tried:,}"
            change.text = signed(row.change)
            # What no page ever comes to would only be in the way; "new" is never in it.
            element.set_visibility(bool(row.holds or row.tried or row.layer == "new"))
        self._whole.props(f'data-choice="{choice_key(choice)}" data-pages={len(tried)}')
