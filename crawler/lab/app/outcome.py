"""Show the outcome of a choice: kept and dropped pages, by layer, and what changes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from nicegui import ui
from rich.filesize import decimal

from crawler.lab.app.crawled_text import inert_link, plain
from crawler.lab.app.parameter_trial import choice_key
from crawler.lab.app.tables import FigureRow, FigureTable, SearchField
from crawler.lab.words import measures_of
from neardup.evaluation.layers import KEEPING

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crawler.lab.app.lab_state import Lab
    from crawler.lab.judgement import Choice, Judgement, VerdictChanges

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

_COLUMNS = (
    "What decided each page: in the crawl (stored), by the parameters that hold (rules now), and "
    "by those of the sliders (tried). The change is tried less stored."
)

_AT_ONCE = 20
_MAX_TITLE = 160


class Beside(NamedTuple):
    """The outcome that a trial is shown beside.

    Attributes:
        stored: The verdicts that the crawl stored.
        now: Those that the rules which hold now would give.
    """

    stored: Judgement
    now: Judgement


class OutcomeFigures:
    """Large figures where it is made, and a table of layers where ``build_table`` is called."""

    def __init__(self) -> None:
        self._figures = FigureRow(_FIGURES)

    def build_table(self) -> None:
        ui.label("Pages by layer").classes("title")
        heads = ("Layer", "#Stored", "#Rules now", "#Tried", "#Change")
        self._layers = FigureTable(heads, "layers")
        ui.label(_COLUMNS).classes("note")
        self._stale = ui.label().classes("note stale")

    def show(
        self, choice: Choice, tried: Judgement, beside: Beside, changes: VerdictChanges
    ) -> None:
        """Show the outcome of a choice beside what is stored and what holds."""
        self._figures.show(
            {
                "kept": f"{tried.kept_count:,}",
                "dropped": f"{tried.dropped_count:,}",
                "now-kept": f"{len(changes.now_kept):,}",
                "now-dropped": f"{len(changes.now_dropped):,}",
                "saved": decimal(tried.saved_bytes),
            }
        )
        stored, now = beside
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
        self._listed = self._places
        self._judgement: Judgement | None = None
        self._shown = self._reading = 0
        self._min_similarity = 0.0
        self._fold = ui.expansion(words, on_value_change=self._start).classes("fold")
        self._fold.props(f"dense data-list={name}")
        with self._fold:
            with ui.element().classes("line"):
                self._field = SearchField(self._start)
                self._found = ui.label().classes("soft")
            self._rows = ui.element().classes("page-list")
            self._more = ui.button("Show more", on_click=self._show_more, color=None)
            self._more.props("flat dense").classes("plain")

    def show(self, places: NDArray[np.int64], judgement: Judgement, min_similarity: float) -> None:
        """Take other pages; an open list goes on showing its beginning.

        Args:
            places: The places of the pages, in crawl order.
            judgement: The judgement in which they repeat others, tried or running.
            min_similarity: The bound that is tried, which similarities are told apart from.
        """
        self._min_similarity = min_similarity
        is_same = np.array_equal(places, self._places) and self._reading == self._lab.reading
        self._reading = self._lab.reading
        self._places, self._judgement = places, judgement
        self._fold.text = f"{self._words}: {len(places):,}"
        self._fold.set_enabled(bool(len(places)))
        if not is_same:
            self._start()

    def show_unknown(self) -> None:
        """Show a dash in place of a number, where the pages were not asked for."""
        self._places, self._judgement = np.empty(0, np.int64), None
        self._fold.text = f"{self._words}: \u2013"
        self._fold.set_enabled(False)
        self._start()

    def _start(self) -> None:
        self._rows.clear()
        self._shown = 0
        self._listed = self._places
        if self._field.search:
            search, pages = self._field.search, self._lab.session.pages
            found = [
                place
                for place in self._places.tolist()
                if search.takes(pages[place].url, pages[place].title)
            ]
            self._listed = np.array(found, np.int64)
        self._found.text = f"{len(self._listed):,} found" if self._field.search else ""
        if self._fold.value:
            self._show_more()

    def _show_more(self) -> None:
        end = min(self._shown + _AT_ONCE, len(self._listed))
        with self._rows:
            for place in self._listed[self._shown : end].tolist():
                self._row(place)
        self._shown = end
        self._more.set_visibility(end < len(self._listed))

    def _row(self, place: int) -> None:
        pages, judgement = self._lab.session.pages, self._judgement
        assert judgement is not None
        near = int(judgement.distance[place]), float(judgement.similarity[place])
        if judgement.original[place] < 0:
            near = -1, math.nan  # of the page that it resembles
        containment = judgement.containment_of(place)
        measures = measures_of(*near, containment, min_similarity=self._min_similarity)
        original = judgement.named(place)
        told = f"{self._repeats}, {measures}" if measures else self._repeats
        beyond = ":" if original >= 0 else ", of a page not read here"
        with ui.element().classes("page-row"):
            title = plain(pages[place].title, _MAX_TITLE) or "(no title)"
            ui.label(title).classes("crawled one-line")
            inert_link(pages[place].url).classes("mono")
            with ui.element().classes("line"):
                ui.label(f"{told}{beyond}").classes("soft")
                if original >= 0:
                    inert_link(pages[original].url).classes("mono")
