"""Pages by their places, some at a time, on demand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from nicegui import ui

from crawler.lab.app.deep_links import inert_link
from crawler.lab.app.plain_text import plain
from crawler.lab.distance_text import measures_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crawler.lab.app.lab_state import Lab
    from crawler.lab.judgement import Judgement

    Places = NDArray[np.int64]

AT_ONCE = 20

_MOST_TITLE = 160


class PageList:
    """Pages that a choice treats otherwise, folded at first.

    Args:
        lab: Whose pages they are.
        name: Of the list, for tests to find it by.
        words: Its heading.
        repeats: The verb that leads from a page to the one that is kept instead.
    """

    def __init__(self, lab: Lab, name: str, words: str, repeats: str) -> None:
        self._lab = lab
        self._name = name
        self._words = words
        self._repeats = repeats
        self._places: Places = np.empty(0, np.int64)
        self._judgement: Judgement | None = None
        self._shown = self._reading = 0

    def build(self) -> None:
        """Put it where the page is being made."""
        self._fold = ui.expansion(self._words, on_value_change=self._start).classes("fold")
        self._fold.props(f"dense data-list={self._name}")
        with self._fold:
            self._rows = ui.element().classes("page-list")
            self._more = ui.button("Show more", on_click=self._show_more, color=None)
            self._more.props("flat dense").classes("plain")

    def show(self, places: Places, judgement: Judgement) -> None:
        """Take other pages; who opened the list goes on seeing its beginning.

        Args:
            places: Of the pages, in crawl order.
            judgement: In which they repeat others: what is tried, or what holds.
        """
        is_same = np.array_equal(places, self._places) and self._reading == self._lab.reading
        self._reading = self._lab.reading
        self._places, self._judgement = places, judgement
        self._fold.text = f"{self._words}: {len(places):,}"
        self._fold.set_enabled(bool(len(places)))
        if not is_same:
            self._start()

    def _start(self) -> None:
        self._rows.clear()
        self._shown = 0
        if self._fold.value:
            self._show_more()

    def _show_more(self) -> None:
        end = min(self._shown + AT_ONCE, len(self._places))
        with self._rows:
            for place in self._places[self._shown : end].tolist():
                self._row(place)
        self._shown = end
        self._more.set_visibility(end < len(self._places))

    def _row(self, place: int) -> None:
        pages, judgement = self._lab.session.pages, self._judgement
        assert judgement is not None
        page = pages[place]
        with ui.element().classes("page-row"):
            ui.label(plain(page.title, _MOST_TITLE) or "(no title)").classes("crawled one-line")
            inert_link(page.url).classes("mono")
            with ui.element().classes("line"):
                distance, similarity = judgement.distance[place], judgement.similarity[place]
                measures = measures_of(int(distance), float(similarity))
                original = int(judgement.original[place])
                if original < 0:
                    ui.label(f"{self._repeats}, {measures}, of a page not read here").classes(
                        "soft"
                    )
                    return
                ui.label(f"{self._repeats}, {measures}:").classes("soft")
                inert_link(pages[original].url).classes("mono")
