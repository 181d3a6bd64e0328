"""The tab Threshold: what other parameters would keep and drop, while a slider moves."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

import numpy as np
from nicegui import ui
from rich.filesize import decimal

from crawler.lab.app.charts import (
    ChartWords,
    ExplainedChart,
    distance_histogram,
    similarity_scatter,
    size_bars,
)
from crawler.lab.app.controls import Controls
from crawler.lab.app.elements import GrowingRows, button, inert_link, plain
from crawler.lab.app.pair_view import open_pair
from crawler.lab.app.parameter_trial import Answers, choice_key
from crawler.lab.app.tables import (
    DownloadButtons,
    FigureRow,
    FigureTable,
    SearchField,
    changed_pages,
)
from crawler.lab.judgement import Choice
from crawler.lab.words import NOTHING, count, measures_of
from neardup.evaluation.near_arrays import KEEPING
from neardup.plurals import many

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from nicegui.events import EChartPointClickEventArguments
    from numpy.typing import NDArray

    from crawler.lab.app.lab_state import Lab
    from crawler.lab.app.parameter_trial import Trial
    from crawler.lab.app.tables import Fields
    from crawler.lab.judgement import Judgement, VerdictChanges
    from crawler.lab.near_pairs import NearestCounts, Scatter
    from neardup import Parameters

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

    def take(self, nearest: NearestCounts, scatter: Scatter) -> None:
        """Take what the pages and their fingerprints say, whatever the bounds are."""
        self._nearest, self._scatter = nearest, scatter

    def draw(self, parameters: Parameters) -> None:
        """Draw it with the bounds where they are now."""
        nearest, scatter = self._nearest, self._scatter
        if nearest is None or scatter is None:
            return
        bars = distance_histogram(nearest.counts.tolist(), parameters)
        self._bars.show(bars, is_empty=not nearest.asked, counted=_nearest_words(nearest))
        pairs = scatter.shown
        distances, similarities = pairs.distance.tolist(), pairs.similarity.tolist()
        points = similarity_scatter(distances, similarities, parameters)
        self._points.show(points, is_empty=not distances, counted=_words_of(scatter))

    def draw_sizes(self, judgement: Judgement) -> None:
        sizes = judgement.cluster_sizes()
        bars = size_bars(sizes.tolist())
        self._sizes.show(bars, is_empty=not len(sizes), counted=_size_words(sizes))

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


LAYER_WORDS = {
    "new": "New text",
    "too_short": "Too short to be near another",
    "changed": "Changed since the visit before",
    "same_template": "Near a page of another name or content",
    "payload": "Same bytes",
    "text": "Same text",
    "simhash": "Near: a match",
    "candidate": "Near: a candidate, confirmed",
    "contained": "Part of a kept page",
}
_KEEPING = frozenset(LAYER_WORDS[layer] for layer in KEEPING)

_FIGURES = {
    "kept": "Kept",
    "dropped": "Dropped",
    "now-kept": "Kept that the crawl dropped",
    "now-dropped": "Dropped that the crawl kept",
    "saved": "Bytes of what is dropped",
}

_LAYERS_NOTE = (
    "What decided each page: in the crawl (stored), by the parameters that hold (rules now), and "
    "by those of the sliders (tried). The change is tried less stored."
)

_AT_ONCE = 20
_MAX_TITLE = 160


class OutcomeFigures:
    """Large figures where it is made, and a table of layers where ``build_table`` is called."""

    def __init__(self) -> None:
        self._figures = FigureRow(_FIGURES)

    def build_table(self) -> None:
        ui.label("Pages by layer").classes("title")
        heads = ("Layer", "#Stored", "#Rules now", "#Tried", "#Change")
        self._layers = FigureTable(heads, "layers")
        ui.label(_LAYERS_NOTE).classes("note")
        self._stale = ui.label().classes("note stale")

    def show(self, choice: Choice, tried: Judgement, stored: Judgement, now: Judgement) -> None:
        """Show the outcome of a choice beside the stored verdicts and the rules that hold now."""
        changes = tried.changes_from(stored)
        self._figures.show(
            {
                "kept": f"{tried.kept_count:,}",
                "dropped": f"{tried.dropped_count:,}",
                "now-kept": f"{len(changes.now_kept):,}",
                "now-dropped": f"{len(changes.now_dropped):,}",
                "saved": decimal(tried.saved_bytes),
            }
        )
        rows = layer_rows(tried.counts(), stored.counts(), now.counts())
        self._stale.text = stale_words(now.changes_from(stored))
        self._stale.set_visibility(bool(self._stale.text))
        self._layers.show(rows, lambda words: "kept" if words in _KEEPING else "dropped")
        key = choice_key(choice)
        self._figures.element.props(f'data-choice="{key}" data-pages={len(tried)}')


def layer_rows(
    tried: dict[str, int], stored: dict[str, int], now: dict[str, int]
) -> list[tuple[str, ...]]:
    """Return the cells of each layer that a page came to; ``new`` is always there."""
    return [
        (
            words,
            f"{stored[layer]:,}",
            f"{now[layer]:,}",
            f"{tried[layer]:,}",
            signed(tried[layer] - stored[layer]),
        )
        for layer, words in LAYER_WORDS.items()
        if stored[layer] or now[layer] or tried[layer] or layer == "new"
    ]


def stale_words(changes: VerdictChanges) -> str:
    """Say how many stored verdicts are not those of the rules that hold; empty if all are."""
    count = len(changes.now_kept) + len(changes.now_dropped)
    if not count:
        return ""
    verdicts = "1 stored verdict is" if count == 1 else f"{count:,} stored verdicts are"
    return (
        f"{verdicts} older than the rules that hold now, which would keep "
        f"{len(changes.now_kept):,} of the dropped pages and drop {len(changes.now_dropped):,} of "
        "the kept ones. When the crawl is stopped, crawl-once rejudge DIR --dry-run lists them, "
        "and crawl-once rejudge DIR applies the rules."
    )


def signed(number: int) -> str:
    """Return a difference as people write it; nothing for none."""
    return f"{number:+,}".replace("-", "\u2212") if number else ""


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
        self._words = words
        self._repeats = repeats
        self._places: NDArray[np.int64] = np.empty(0, np.int64)
        self._judgement: Judgement | None = None
        self._reading = 0
        self._min_similarity = 0.0
        self._fold = ui.expansion(words, on_value_change=self._start).classes("fold")
        self._fold.props(f"dense data-list={name}")
        with self._fold:
            with ui.element().classes("line"):
                self._field = SearchField(self._start)
                self._found = ui.label().classes("soft")
            self._rows = GrowingRows("page-list", self._row, _AT_ONCE)

    def show(
        self, places: NDArray[np.int64] | None, judgement: Judgement, min_similarity: float
    ) -> None:
        """Take other pages; an open list goes on showing its beginning.

        Args:
            places: The places of the pages, in crawl order; None: they were not asked for.
            judgement: The judgement in which they repeat others, tried or running.
            min_similarity: The bound that is tried, which similarities are told apart from.
        """
        self._min_similarity = min_similarity
        known = np.empty(0, np.int64) if places is None else places
        is_same = np.array_equal(known, self._places) and self._reading == self._lab.reading
        self._reading = self._lab.reading
        self._places, self._judgement = known, judgement
        self._fold.text = f"{self._words}: {NOTHING if places is None else count(len(places))}"
        self._fold.set_enabled(bool(len(known)))
        if not is_same:
            self._start()

    def _start(self) -> None:
        search, pages, listed = self._field.search, self._lab.session.pages, self._places.tolist()
        if search:
            listed = [one for one in listed if search.takes(pages[one].url, pages[one].title)]
        self._found.text = f"{len(listed):,} found" if search else ""
        self._rows.show(listed if self._fold.value else [])

    def _row(self, place: int) -> None:
        pages, judgement = self._lab.session.pages, self._judgement
        assert judgement is not None
        near = int(judgement.distance[place]), float(judgement.similarity[place])
        if judgement.original[place] < 0:
            near = -1, math.nan  # of the page that it resembles
        containment = judgement.containment_of(place)
        measures = measures_of(*near, containment, min_similarity=self._min_similarity)
        original = judgement.named(place)
        relation = f"{self._repeats}, {measures}" if measures else self._repeats
        beyond = ":" if original >= 0 else ", of a page not read here"
        with ui.element().classes("page-row"):
            title = plain(pages[place].title, _MAX_TITLE) or "(no title)"
            ui.label(title).classes("crawled one-line")
            inert_link(pages[place].url).classes("mono")
            with ui.element().classes("line"):
                ui.label(f"{relation}{beyond}").classes("soft")
                if original >= 0:
                    inert_link(pages[original].url).classes("mono")


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
                self._answers = Answers(lab, trial, self._basis, self._answer)
                self._outcome = OutcomeFigures()
                with ui.element().classes("cards"):
                    with ui.element().classes("card"):
                        self._outcome.build_table()
                    self._figures = _FigureCharts(self._open_pair)
                words = "Pages that would be judged otherwise:"
                self._downloads = DownloadButtons(words, "changed-pages", self._changed)
                self._downloads.show(has_rows=False)
                dropped = "now-dropped", "Kept by the crawl, would be dropped", "would repeat"
                self._now_dropped = PageList(lab, *dropped)
                kept = "now-kept", "Dropped by the crawl, would be kept", "counts as a repetition"
                self._now_kept = PageList(lab, *kept)
                parts = "parts", "Kept, and a part of another kept page", "is a part"
                self._parts = PageList(lab, *parts)
                self._look = button("Look for parts", self._look_for_parts)

    async def refresh(self) -> None:
        self._controls.show()
        self._answers.wake()

    def _basis(self) -> tuple[object, ...]:
        return self._trial.holds, len(self._lab.session), self._wants_parts

    async def _look_for_parts(self) -> None:
        self._wants_parts = True
        await self.refresh()

    async def _changed(self) -> Iterator[Fields]:
        tried = await self._lab.judge(self._trial.choice)
        stored = await self._lab.stored()
        return changed_pages(tried, stored, self._lab.session.pages)

    async def _answer(self) -> None:
        choice, holds, basis = self._trial.choice, self._trial.holds, self._basis()
        drawing = self._drawing(choice)
        tried = await self._lab.judge(choice, with_parts=self._wants_parts)
        stored = await self._lab.stored()
        now = await self._lab.judge(Choice(holds))
        changes = tried.changes_from(stored)
        self._outcome.show(choice, tried, stored, now)
        is_other = len(changes.now_kept) + len(changes.now_dropped) > 0
        self._downloads.show(has_rows=is_other)
        least = choice.parameters.min_similarity
        self._now_dropped.show(changes.now_dropped, tried, least)
        self._now_kept.show(changes.now_kept, stored, least)
        self._parts.show(tried.parts, tried, least)
        self._look.set_visibility(tried.part_of is None)
        self._figures.draw_sizes(tried)
        is_asked_still = (choice, basis) == (self._trial.choice, self._basis())
        if not self._is_drawn(drawing, len(tried)) and is_asked_still:
            await self._look_anew(choice, (drawing, len(tried)))
        self._figures.draw(choice.parameters)

    def _drawing(self, choice: Choice) -> tuple[object, ...]:
        """Return the key of the charts of near texts: where it is the same, only bounds move."""
        tried = choice.parameters
        features = tried.fingerprint_features
        return self._lab.reading, features, tried.verify_shingle_size, tried.min_words

    def _is_drawn(self, drawing: object, pages: int) -> bool:
        """Whether the charts need no more than other bounds, for now."""
        if self._drawn is None or self._drawn[0] != drawing:
            return False
        return self._drawn[1] == pages or time.monotonic() < self._next_drawing

    async def _look_anew(self, choice: Choice, drawn: tuple[object, int]) -> None:
        start = time.monotonic()
        nearest, scatter = await self._lab.ask(
            choice, lambda session: (session.histogram(choice), session.scatter(choice))
        )
        self._figures.take(nearest, scatter)
        self._drawn = drawn
        now = time.monotonic()
        self._next_drawing = now + _PATIENCE * (now - start)

    async def _open_pair(self, first: int, second: int, distance: int, similarity: float) -> None:
        with self._whole:
            tried = self._trial.choice.parameters
            least = tried.min_similarity
            measures = measures_of(distance, similarity, min_similarity=least)
            await open_pair(self._lab, measures, first, second, tried)
