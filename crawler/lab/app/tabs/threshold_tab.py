"""The tab Threshold: what other parameters would keep and drop, while a slider moves."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from nicegui import ui

from crawler.lab.app.choices import drawing
from crawler.lab.app.deep_links import inert_link
from crawler.lab.app.parts.answers import Answers
from crawler.lab.app.parts.controls import Controls
from crawler.lab.app.parts.figure_charts import FigureCharts
from crawler.lab.app.parts.outcome import OutcomeFigures
from crawler.lab.app.parts.pair_view import open_pair
from crawler.lab.app.plain_text import plain
from crawler.lab.distance_text import measures_of

if TYPE_CHECKING:
    from crawler.lab.app.lab_state import Lab
    from crawler.lab.app.parameter_trial import Trial
    from crawler.lab.choice import Choice
    from crawler.lab.figures import Histogram, Scatter
    from neardup import Parameters

_PATIENCE = 10
"""Charts of a growing crawl take one part in this many of the time; the slider has the rest."""

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crawler.lab.app.lab_state import Lab
    from crawler.lab.judgement import Judgement

    Places = NDArray[np.int64]

AT_ONCE = 20

_MAX_TITLE = 160


class PageList:
    """Pages that a choice treats otherwise, folded at first.

    Args:
        lab: The lab whose pages they are.
        name: The name of the list, by which tests find it.
        words: The heading of the list.
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
        """Take other pages; an open list goes on showing its beginning.

        Args:
            places: The places of the pages, in crawl order.
            judgement: The judgement in which they repeat others, tried or running.
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
            ui.label(plain(page.title, _MAX_TITLE) or "(no title)").classes("crawled one-line")
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


class _Question(NamedTuple):
    choice: Choice
    holds: Parameters
    reading: int
    pages: int


class ThresholdTab:
    """The tab Threshold: counts come first, then the charts, where usually only the bounds move."""

    def __init__(self, lab: Lab, trial: Trial) -> None:
        self._lab = lab
        self._trial = trial
        self._controls = Controls(trial)
        self._outcome = OutcomeFigures()
        self._figures = FigureCharts(self._open_pair)
        self._now_dropped = PageList(
            lab, "now-dropped", "Kept by the crawl, would be dropped", "would repeat"
        )
        self._now_kept = PageList(
            lab, "now-kept", "Dropped by the crawl, would be kept", "counts as a repetition"
        )
        self._answers = Answers(lab, trial, self._ask, self._answer)
        self._drawn: tuple[object, int] | None = None
        self._next_drawing = 0.0

    def build(self) -> None:
        """Put the tab's elements into the panel that is open."""
        with ui.element().classes("bench") as self._whole:
            with ui.element().classes("card controls"):
                self._controls.build()
            with ui.element().classes("stack"):
                self._answers.build()
                self._outcome.build()
                self._figures.build(self._outcome)
                self._now_dropped.build()
                self._now_kept.build()

    async def refresh(self) -> None:
        """Show the current outcome; the answer comes when it is there."""
        self._controls.show()
        self._answers.wake()

    def _ask(self) -> _Question:
        lab, trial = self._lab, self._trial
        return _Question(trial.choice, trial.holds, lab.reading, len(lab.session))

    async def _answer(self, asked: _Question) -> None:
        tried = await self._lab.judge(asked.choice)
        stored = await self._lab.stored()
        changes = tried.changes_from(stored)
        self._outcome.show(asked.choice, tried, stored, changes)
        self._now_dropped.show(changes.now_dropped, tried)
        self._now_kept.show(changes.now_kept, stored)
        self._figures.draw_sizes(tried)
        if self._is_drawn(asked):
            self._figures.move(asked.choice.parameters)
        elif asked == self._ask():
            await self._draw(asked)

    def _is_drawn(self, asked: _Question) -> bool:
        """Whether the charts need no more than other bounds, for now."""
        if self._drawn is None or self._drawn[0] != _drawing(asked):
            return False
        return self._drawn[1] == asked.pages or time.monotonic() < self._next_drawing

    async def _draw(self, asked: _Question) -> None:
        start = time.monotonic()
        histogram, scatter = await self._lab.run(self._compute, asked.choice)
        self._figures.draw(histogram, scatter, asked.choice.parameters)
        self._drawn = (_drawing(asked), asked.pages)
        now = time.monotonic()
        self._next_drawing = now + _PATIENCE * (now - start)

    def _compute(self, choice: Choice) -> tuple[Histogram, Scatter]:
        return self._lab.session.histogram(choice), self._lab.session.scatter(choice)

    async def _open_pair(self, first: int, second: int, measures: str) -> None:
        with self._whole:
            size = self._trial.choice.parameters.verify_shingle_size
            await open_pair(self._lab, measures, first, second, size)


def _drawing(asked: _Question) -> tuple[object, ...]:
    return asked.reading, *drawing(asked.choice)
