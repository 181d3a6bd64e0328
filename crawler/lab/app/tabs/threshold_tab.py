"""The tab Threshold: what other parameters would keep and drop, while a slider moves."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

from nicegui import ui

from crawler.lab.app.answers import Answers
from crawler.lab.app.charts import chart, move, redraw
from crawler.lab.app.controls import Controls
from crawler.lab.app.near_charts import (
    distance_histogram,
    moved_area,
    moved_bounds,
    similarity_scatter,
    size_bars,
)
from crawler.lab.app.outcome import Beside, OutcomeFigures, PageList
from crawler.lab.app.pair_view import open_pair
from crawler.lab.choice import Choice
from crawler.lab.words import measures_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from nicegui.events import EChartPointClickEventArguments

    from crawler.lab.app.lab_state import Lab
    from crawler.lab.app.parameter_trial import Trial
    from crawler.lab.figures import Scatter
    from crawler.lab.judgement import Judgement
    from neardup import Parameters
    from neardup.evaluation.distinct_pairs import NearestCounts

_PATIENCE = 10
"""Charts of a growing crawl take one part in this many of the time; the slider has the rest."""

_LEGEND = {
    "dropped": "match",
    "looked-at": "a candidate where similarity confirms",
    "kept": "too far to be compared",
}


class _FigureCharts:
    """The three charts of a choice.

    Args:
        open_pair: Called with the places of two pages whose point was clicked on, and their
            measures.
    """

    def __init__(self, open_pair: Callable[[int, int, str], Awaitable[None]]) -> None:
        self._open_pair = open_pair
        self._nearest: NearestCounts | None = None
        self._scatter: Scatter | None = None
        with ui.element().classes("card"):
            ui.label("Cluster sizes").classes("title")
            self._sizes = chart({}, 200)
            self._sizes_note = ui.label().classes("note")
        with ui.element().classes("card"):
            ui.label("Distance to the nearest other text").classes("title")
            self._bars = chart({}, 250)
            with ui.element().classes("line legend") as self._legend:
                for fate, words in _LEGEND.items():
                    ui.label(words).classes(f"fate {fate}")
            self._bars_note = ui.label().classes("note")
        with ui.element().classes("card"):
            ui.label("Similarity of near pairs").classes("title")
            self._points = chart({}, 250)
            self._points.on_point_click(self._clicked)
            self._points_note = ui.label().classes("note")

    def draw(self, nearest: NearestCounts, scatter: Scatter, parameters: Parameters) -> None:
        """Draw what the pages and their fingerprints say, whatever the bounds are."""
        self._nearest, self._scatter = nearest, scatter
        for element in (self._bars, self._legend):
            element.set_visibility(bool(nearest.asked))
        redraw(self._bars, distance_histogram(nearest.counts.tolist(), parameters))
        sampled = ", a sample of all" if nearest.is_sampled else ""
        self._bars_note.text = (
            f"{nearest.asked:,} distinct texts{sampled}"
            if nearest.asked
            else "No text is compared by its fingerprint."
        )
        pairs = scatter.shown
        self._points.set_visibility(len(pairs.distance) > 0)
        distances, similarities = pairs.distance.tolist(), pairs.similarity.tolist()
        redraw(self._points, similarity_scatter(distances, similarities, parameters))
        self._points_note.text = _words_of(scatter)

    def move(self, parameters: Parameters) -> None:
        """Draw bounds where they are now."""
        if self._nearest is not None:
            move(self._bars, moved_bounds(self._nearest.counts.tolist(), parameters))
            move(self._points, moved_area(parameters))

    def draw_sizes(self, judgement: Judgement) -> None:
        sizes = judgement.cluster_sizes()
        self._sizes.set_visibility(len(sizes) > 0)
        redraw(self._sizes, size_bars(sizes.tolist()))
        self._sizes_note.text = (
            f"{len(sizes):,} clusters, the largest of {int(sizes[0]):,} pages"
            if len(sizes)
            else "No page repeats another."
        )

    def _clicked(self, event: EChartPointClickEventArguments) -> Awaitable[None] | None:
        place = event.data_index
        if self._scatter is None or not 0 <= place < len(self._scatter.shown.earlier):
            return None
        pairs = self._scatter.shown
        measures = measures_of(int(pairs.distance[place]), float(pairs.similarity[place]))
        return self._open_pair(int(pairs.earlier[place]), int(pairs.later[place]), measures)


def _words_of(scatter: Scatter) -> str:
    shown = len(scatter.shown.distance)
    if not shown:
        return "No two texts lie within 8 bits of each other."
    if shown < scatter.pairs:
        return f"{shown:,} of {scatter.pairs:,} pairs, of each distance its share; click one"
    return f"{shown:,} pairs within 8 bits; click one to read it"


class _Question(NamedTuple):
    choice: Choice
    holds: Parameters
    reading: int
    pages: int
    with_parts: bool

    @property
    def drawing(self) -> tuple[object, ...]:
        """The key of the charts of near texts: while it stays the same, only bounds move."""
        tried = self.choice.parameters
        features = tried.fingerprint_features
        return self.reading, features, tried.verify_shingle_size, tried.min_words


class ThresholdTab:
    """The tab Threshold: counts come first, then the charts, where usually only the bounds move."""

    def __init__(self, lab: Lab, trial: Trial) -> None:
        self._lab = lab
        self._trial = trial
        self._drawn: tuple[object, int] | None = None
        self._next_drawing = 0.0
        self._wants_parts = False
        with ui.element().classes("bench") as self._whole:
            with ui.element().classes("card controls"):
                self._controls = Controls(trial)
            with ui.element().classes("stack"):
                self._answers = Answers(lab, trial, self._ask, self._answer)
                self._outcome = OutcomeFigures()
                with ui.element().classes("cards"):
                    with ui.element().classes("card"):
                        self._outcome.build_table()
                    self._figures = _FigureCharts(self._open_pair)
                dropped = "now-dropped", "Kept by the crawl, would be dropped", "would repeat"
                self._now_dropped = PageList(lab, *dropped)
                kept = "now-kept", "Dropped by the crawl, would be kept", "counts as a repetition"
                self._now_kept = PageList(lab, *kept)
                parts = "parts", "Kept, and a part of another kept page", "is a part"
                self._parts = PageList(lab, *parts)
                self._look = ui.button("Look for parts", on_click=self._look_for_parts, color=None)
                self._look.props("flat dense").classes("plain")

    async def refresh(self) -> None:
        self._controls.show()
        self._answers.wake()

    def _ask(self) -> _Question:
        lab, trial = self._lab, self._trial
        pages = len(lab.session)
        return _Question(trial.choice, trial.holds, lab.reading, pages, self._wants_parts)

    async def _look_for_parts(self) -> None:
        self._wants_parts = True
        await self.refresh()

    async def _answer(self, asked: _Question) -> None:
        tried = await self._lab.judge(asked.choice, with_parts=asked.with_parts)
        stored = await self._lab.stored()
        now = await self._lab.judge(Choice(asked.holds))
        changes = tried.changes_from(stored)
        self._outcome.show(asked.choice, tried, Beside(stored, now), changes)
        self._now_dropped.show(changes.now_dropped, tried)
        self._now_kept.show(changes.now_kept, stored)
        if tried.part_of is None:
            self._parts.show_unknown()
        else:
            self._parts.show(tried.parts, tried)
        self._look.set_visibility(tried.part_of is None)
        self._figures.draw_sizes(tried)
        if self._is_drawn(asked):
            self._figures.move(asked.choice.parameters)
        elif asked == self._ask():
            await self._draw(asked)

    def _is_drawn(self, asked: _Question) -> bool:
        """Whether the charts need no more than other bounds, for now."""
        if self._drawn is None or self._drawn[0] != asked.drawing:
            return False
        return self._drawn[1] == asked.pages or time.monotonic() < self._next_drawing

    async def _draw(self, asked: _Question) -> None:
        start = time.monotonic()
        choice = asked.choice
        nearest, scatter = await self._lab.ask(
            choice, lambda session: (session.histogram(choice), session.scatter(choice))
        )
        self._figures.draw(nearest, scatter, choice.parameters)
        self._drawn = (asked.drawing, asked.pages)
        now = time.monotonic()
        self._next_drawing = now + _PATIENCE * (now - start)

    async def _open_pair(self, first: int, second: int, measures: str) -> None:
        with self._whole:
            tried = self._trial.choice.parameters
            await open_pair(self._lab, measures, first, second, tried)
