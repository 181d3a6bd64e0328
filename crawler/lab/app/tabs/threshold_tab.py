"""The tab Threshold: what other parameters would keep and drop, while a slider moves."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

from nicegui import ui

from crawler.lab.app.answers import Answers
from crawler.lab.app.charts import (
    ChartWords,
    ExplainedChart,
    distance_histogram,
    move,
    moved_area,
    moved_bounds,
    redraw,
    similarity_scatter,
    size_bars,
)
from crawler.lab.app.controls import Controls
from crawler.lab.app.outcome import Beside, OutcomeFigures, PageList
from crawler.lab.app.pair_view import open_pair
from crawler.lab.app.tables import Downloads, TriedBeside, changed_pages
from crawler.lab.judgement import Choice
from crawler.lab.words import measures_of
from neardup.plurals import many

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    import numpy as np
    from nicegui.events import EChartPointClickEventArguments
    from numpy.typing import NDArray

    from crawler.lab.app.lab_state import Lab
    from crawler.lab.app.parameter_trial import Trial
    from crawler.lab.app.tables import Fields
    from crawler.lab.judgement import Judgement, Scatter
    from neardup import Parameters
    from neardup.evaluation.distinct_pairs import NearestCounts

_PATIENCE = 10
"""Charts of a growing crawl take one part in this many of the time; the slider has the rest."""

_SIZES = ChartWords(
    "Cluster sizes",
    "A cluster is a kept page with all that repeat it. One bar far to the right is often a "
    "template, a calendar or an error page: the tab Clusters names it.",
    "It fills as soon as a page repeats another by the parameters tried; lower min_similarity to "
    "see what would.",
)
_NEAREST = ChartWords(
    "Distance to the nearest other text",
    "Each distinct text counts once, at the distance of the one that is nearest to it. The "
    "hill at the left holds copies, the one at the right texts of their own; max_distance belongs "
    "in the valley between them.",
    "It fills when two texts of min_words words or more were read.",
)
_SIMILAR = ChartWords(
    "Similarity of near pairs",
    "Each point is a pair of texts: the farther up, the more shingles they share. Pairs in the "
    "shaded area are duplicates. A click on a point shows both texts.",
    "It fills when two texts lie within 8 bits of each other.",
)
_LEGEND = {
    "dropped": "match",
    "looked-at": "a candidate where similarity confirms",
    "kept": "too far to be compared",
}


class _FigureCharts:
    """The three charts of a choice.

    Args:
        open_pair: Called with the places of two pages whose point was clicked on, their distance
            and their similarity.
    """

    def __init__(self, open_pair: Callable[[int, int, int, float], Awaitable[None]]) -> None:
        self._open_pair = open_pair
        self._nearest: NearestCounts | None = None
        self._scatter: Scatter | None = None
        with ui.element().classes("card"):
            self._sizes = ExplainedChart(_SIZES, 200)
        with ui.element().classes("card"):
            self._bars = ExplainedChart(_NEAREST, 250, legend=_LEGEND)
        with ui.element().classes("card"):
            self._points = ExplainedChart(_SIMILAR, 250)
            self._points.drawn.on_point_click(self._clicked)

    def draw(self, nearest: NearestCounts, scatter: Scatter, parameters: Parameters) -> None:
        """Draw what the pages and their fingerprints say, whatever the bounds are."""
        self._nearest, self._scatter = nearest, scatter
        redraw(self._bars.drawn, distance_histogram(nearest.counts.tolist(), parameters))
        self._bars.show(is_empty=not nearest.asked, counted=_nearest_words(nearest))
        pairs = scatter.shown
        distances, similarities = pairs.distance.tolist(), pairs.similarity.tolist()
        redraw(self._points.drawn, similarity_scatter(distances, similarities, parameters))
        self._points.show(is_empty=not distances, counted=_words_of(scatter))

    def move(self, parameters: Parameters) -> None:
        """Draw bounds where they are now."""
        if self._nearest is not None:
            move(self._bars.drawn, moved_bounds(self._nearest.counts.tolist(), parameters))
            move(self._points.drawn, moved_area(parameters))

    def draw_sizes(self, judgement: Judgement) -> None:
        sizes = judgement.cluster_sizes()
        redraw(self._sizes.drawn, size_bars(sizes.tolist()))
        self._sizes.show(is_empty=not len(sizes), counted=_size_words(sizes))

    def _clicked(self, event: EChartPointClickEventArguments) -> Awaitable[None] | None:
        place = event.data_index
        if self._scatter is None or not 0 <= place < len(self._scatter.shown.earlier):
            return None
        pairs = self._scatter.shown
        near = int(pairs.distance[place]), float(pairs.similarity[place])
        return self._open_pair(int(pairs.earlier[place]), int(pairs.later[place]), *near)


def _size_words(sizes: NDArray[np.int64]) -> str:
    if not len(sizes):
        return "No page repeats another."
    clusters = "1 cluster" if len(sizes) == 1 else f"{len(sizes):,} clusters, the largest"
    return f"{clusters} of {int(sizes[0]):,} pages"


def _nearest_words(nearest: NearestCounts) -> str:
    if not nearest.asked:
        return "No text is compared by its fingerprint."
    texts = "1 distinct text" if nearest.asked == 1 else f"{nearest.asked:,} distinct texts"
    return f"{texts}, a sample of all" if nearest.is_sampled else texts


def _words_of(scatter: Scatter) -> str:
    shown = len(scatter.shown.distance)
    if not shown:
        return "No two texts lie within 8 bits of each other."
    if shown < scatter.pairs:
        return f"{shown:,} of {scatter.pairs:,} pairs within 8 bits, of each distance its share"
    return f"{many(shown, 'pair')} within 8 bits"


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
                words = "Pages that would be judged otherwise:"
                self._downloads = Downloads(words, "changed-pages", self._changed)
                self._downloads.show(has_rows=False)
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

    async def _changed(self) -> Iterator[Fields]:
        tried = await self._lab.judge(self._trial.choice)
        stored = await self._lab.stored()
        return changed_pages(TriedBeside(tried, stored), self._lab.session.pages)

    async def _answer(self, asked: _Question) -> None:
        tried = await self._lab.judge(asked.choice, with_parts=asked.with_parts)
        stored = await self._lab.stored()
        now = await self._lab.judge(Choice(asked.holds))
        changes = tried.changes_from(stored)
        self._outcome.show(asked.choice, tried, Beside(stored, now), changes)
        is_other = len(changes.now_kept) + len(changes.now_dropped) > 0
        self._downloads.show(has_rows=is_other)
        least = asked.choice.parameters.min_similarity
        self._now_dropped.show(changes.now_dropped, tried, least)
        self._now_kept.show(changes.now_kept, stored, least)
        if tried.part_of is None:
            self._parts.show_unknown()
        else:
            self._parts.show(tried.parts, tried, least)
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

    async def _open_pair(self, first: int, second: int, distance: int, similarity: float) -> None:
        with self._whole:
            tried = self._trial.choice.parameters
            least = tried.min_similarity
            measures = measures_of(distance, similarity, min_similarity=least)
            await open_pair(self._lab, measures, first, second, tried)
