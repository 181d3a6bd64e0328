"""The tab Compare: two texts under every measure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nicegui import ui

from crawler.lab.app.figure_rows import FigureTable
from crawler.lab.app.lookup import Found, NotFoundError, find
from crawler.lab.app.measures import bit_cells, pair_lines, side_lines, verdict_lines
from crawler.lab.app.pair_texts import MOST_CHARACTERS, PairTexts, pair_texts
from crawler.lab.app.parts.side_rows import SideRows
from crawler.lab.app.plain_text import plain
from crawler.lab.app.words import spaced
from crawler.lab.comparison import Comparison, compare
from crawler.lab.distance_text import in_bits
from crawler.lab.sources.source import SourceError

if TYPE_CHECKING:
    from crawler.lab.app.lab_state import Lab
    from crawler.lab.app.parameter_trial import Trial
    from neardup import Parameters

_HINT = "the URL of a page of this crawl, or a text"


class CompareTab:
    """What is compared is a text that was put in, or a page that is held: nothing is fetched."""

    def __init__(self, lab: Lab, trial: Trial) -> None:
        self._lab = lab
        self._trial = trial
        self._given: tuple[str, str] | None = None
        self._shown: tuple[object, ...] | None = None

    def build(self) -> None:
        """Put the tab's elements into the panel that is open."""
        with ui.element().classes("stack"):
            ui.label(
                "URLs are looked up among the pages that were crawled; the lab fetches nothing."
            ).classes("note")
            with ui.element().classes("sides-in"):
                self._first, self._second = (self._field(name) for name in ("first", "second"))
            with ui.element().classes("line"):
                button = ui.button("Compare", on_click=self._compare, color=None)
                button.props("flat dense").classes("main")
                self._fault = ui.label().classes("fault").props("role=alert")
            self._result = ui.element().classes("stack")
            self._result.set_visibility(False)
            with self._result:
                self._build_result()

    def _field(self, name: str) -> ui.textarea:
        field = ui.textarea(placeholder=f"{name}: {_HINT}")
        field.props(f"dense outlined rows=5 maxlength={MOST_CHARACTERS} aria-label='{name}'")
        return field.classes(f"given given-{name}")

    def _build_result(self) -> None:
        self._verdict = ui.label().classes("suggestion")
        self._notes = ui.label().classes("note")
        with ui.element().classes("cards"):
            with ui.element().classes("card measures-card"):
                ui.label("Both texts").classes("title")
                self._pair = FigureTable(["", "#"])
            with ui.element().classes("card bits-card"):
                ui.label("Bits of both fingerprints, highest first").classes("title")
                self._bits = ui.element().classes("bits-grid")
                ui.label("Filled: 1, empty: 0; coloured where they differ.").classes("note")
            with ui.element().classes("card verdicts-card"):
                ui.label("Verdict on the second, had the first been kept").classes("title")
                self._verdicts = FigureTable(["max_distance", "confirmed", "distance alone"])
            with ui.element().classes("card whole sides-card"):
                self._sides = FigureTable(["", "#first", "#second"])
        self._changes = ui.label().classes("title")
        self._texts = SideRows()
        self._texts.build()

    async def _compare(self) -> None:
        self._given = str(self._first.value or ""), str(self._second.value or "")
        await self.refresh()

    async def refresh(self) -> None:
        """Compare again where parameters changed; nothing is asked for until there are texts."""
        parameters = self._trial.choice.parameters
        if self._given is None or self._shown == (self._given, parameters):
            return
        try:
            first, second = [await self._find(given) for given in self._given]
        except (NotFoundError, SourceError) as fault:
            self._fault.text = str(fault)
            self._result.set_visibility(False)
            self._shown = None
            return
        self._fault.text = ""
        self._shown = (self._given, parameters)
        found, texts = await self._lab.run(_measure, first, second, parameters)
        self._show(found, texts, first, second)

    async def _find(self, given: str) -> Found:
        return await self._lab.run(find, given, self._lab.session, self._lab.sources)

    def _show(self, found: Comparison, texts: PairTexts, first: Found, second: Found) -> None:
        self._verdict.text = _sentence(found, self._trial.choice.parameters)
        self._notes.text = " ".join(_notes(first, second, texts))
        self._pair.show(pair_lines(found))
        self._sides.show(side_lines(found))
        self._verdicts.show(verdict_lines(found))
        self._bits.clear()
        with self._bits:
            for kind, words in bit_cells(found):
                cell = ui.element("span").classes(kind)
                cell.props["title"] = words
        places = "place" if texts.changes == 1 else "places"
        self._changes.text = f"The texts differ in {texts.changes:,} {places}"
        self._texts.show(texts.rows)
        self._result.set_visibility(True)


def _measure(first: Found, second: Found, parameters: Parameters) -> tuple[Comparison, PairTexts]:
    ours, theirs = first.text[:MOST_CHARACTERS], second.text[:MOST_CHARACTERS]
    are_main = first.is_main and second.is_main
    found = compare(ours, theirs, parameters, are_main=are_main)
    return found, pair_texts(ours, theirs, parameters.verify_shingle_size)


def _sentence(found: Comparison, parameters: Parameters) -> str:
    confirmed = (
        f", similarity {found.jaccard:.3f} where {parameters.min_similarity:g} is asked for"
        if parameters.verify
        else ""
    )
    near = "no distance" if found.distance is None else in_bits(found.distance)
    reach = f"{near} where {parameters.radius} are looked at"
    return f"{spaced(found.verdict).capitalize()}: {reach}{confirmed}"


def _notes(first: Found, second: Found, texts: PairTexts) -> list[str]:
    notes = []
    for name, one in (("First", first), ("Second", second)):
        if one.page is not None:
            notes.append(f"{name}: {plain(one.page.title, 120) or 'a page without a title'}.")
            if not one.is_main:
                notes.append("Its main text may not stand for it, so only equality counts.")
    if texts.is_cut or max(len(first.text), len(second.text)) > MOST_CHARACTERS:
        notes.append(f"Compared up to {MOST_CHARACTERS:,} characters of each.")
    return notes
