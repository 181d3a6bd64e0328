"""The three charts of a choice: distances, similarities, sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nicegui import ui

from crawler.lab.app.charts import chart, move, redraw
from crawler.lab.app.drawings.histogram import distance_histogram, moved_bounds, size_bars
from crawler.lab.app.drawings.scatter import moved_area, similarity_scatter
from crawler.lab.distance_text import measures_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from nicegui.events import EChartPointClickEventArguments

    from crawler.lab.app.parts.outcome import OutcomeFigures
    from crawler.lab.figures import Histogram, Scatter
    from crawler.lab.judgement import Judgement
    from neardup import Parameters

    Open = Callable[[int, int, str], Awaitable[None]]


_LEGEND = {
    "dropped": "match",
    "looked-at": "candidate",
    "kept": "too far to be compared",
}


class FigureCharts:
    """Charts of one window.

    Args:
        open_pair: Called with the places of two pages whose point was clicked on, and their
            measures.
    """

    def __init__(self, open_pair: Open) -> None:
        self._open_pair = open_pair
        self._histogram: Histogram | None = None
        self._scatter: Scatter | None = None

    def build(self, outcome: OutcomeFigures) -> None:
        """Put them where the page is being made, beside the table of layers."""
        with ui.element().classes("cards"):
            with ui.element().classes("card"):
                outcome.build_table()
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

    def draw(self, histogram: Histogram, scatter: Scatter, parameters: Parameters) -> None:
        """Draw what the pages and their fingerprints say, whatever the bounds are."""
        self._histogram, self._scatter = histogram, scatter
        for element in (self._bars, self._legend):
            element.set_visibility(bool(histogram.texts))
        redraw(self._bars, distance_histogram(histogram.counts.tolist(), parameters))
        sampled = ", a sample of all" if histogram.sampled else ""
        self._bars_note.text = (
            f"{histogram.texts:,} distinct texts{sampled}"
            if histogram.texts
            else "No text is compared by its fingerprint."
        )
        self._points.set_visibility(len(scatter.distance) > 0)
        distances, similarities = scatter.distance.tolist(), scatter.similarity.tolist()
        redraw(self._points, similarity_scatter(distances, similarities, parameters))
        self._points_note.text = _words_of(scatter)

    def move(self, parameters: Parameters) -> None:
        """Draw bounds where they are now."""
        if self._histogram is None:
            return
        move(self._bars, moved_bounds(self._histogram.counts.tolist(), parameters))
        move(self._points, moved_area(parameters))

    def draw_sizes(self, judgement: Judgement) -> None:
        """Draw how large the clusters of a judgement are."""
        sizes = judgement.cluster_sizes()
        self._sizes.set_visibility(len(sizes) > 0)
        redraw(self._sizes, size_bars(sizes.tolist()))
        self._sizes_note.text = (
            f"{len(sizes):,} clusters, the largest of {int(sizes[0]):,} pages"
            if len(sizes)
            else "No page repeats another."
        )

    def _clicked(self, event: EChartPointClickEventArguments) -> Awaitable[None] | None:
        scatter, place = self._scatter, event.data_index
        if scatter is None or not 0 <= place < len(scatter.earlier):
            return None
        measures = measures_of(int(scatter.distance[place]), float(scatter.similarity[place]))
        return self._open_pair(int(scatter.earlier[place]), int(scatter.later[place]), measures)


def _words_of(scatter: Scatter) -> str:
    shown = len(scatter.distance)
    if not shown:
        return "No two texts lie within 8 bits of each other."
    if shown < scatter.pairs:
        return f"{shown:,} of {scatter.pairs:,} pairs, of each distance its share; click one"
    return f"{shown:,} pairs within 8 bits; click one to read it"
