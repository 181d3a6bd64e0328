"""The bar of parameters: what holds in the crawl, what is tried beside it, and Apply."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from nicegui import ui

from crawler.lab.app.crawled_text import plain
from crawler.lab.app.lab_state import StoppedError
from crawler.lab.app.tables import FigureTable
from crawler.lab.choice import SIMHASH, Choice
from crawler.lab.hints import HINTS
from crawler.lab.sources.source import SourceError
from crawler.lab.words import clock
from crawler.pages.live_parameters import SETTINGS, TUNABLE, tune
from crawler.storage.errors import JobError
from neardup.errors import ParameterError

if TYPE_CHECKING:
    from crawler.lab.app.lab_state import Lab
    from crawler.lab.app.parameter_trial import Trial
    from crawler.lab.judgement import VerdictChanges
    from crawler.lab.snapshot import Snapshot
    from neardup import Parameters

ORIGIN = "lab"
_RUNNING = "The crawl is running: it takes this over within a second."
_NOT_RUNNING = "No crawl is running: this holds from its next start on."


def obstacle(lab: Lab, trial: Trial) -> str | None:
    """Return why the tried parameters cannot be applied, in one line; None: they can."""
    if lab.sources.parts[0].is_temporary:
        return "Files have no crawl to apply this to: that which was made of them is temporary."
    if len(lab.sources.parts) > 1:
        return "Several sources are open: to apply this to a crawl, open its directory alone."
    if trial.choice.method != SIMHASH:
        return "A crawl compares by SimHash: another method can be tried, not applied."
    tried, holds = trial.choice.parameters, trial.holds
    if tried.fingerprint_features != holds.fingerprint_features:
        return (
            f"The fingerprints of this directory are of {holds.fingerprint_features}: other "
            "features can be tried, not applied. Crawl into a new JOBDIR with NEARDUP_FEATURES."
        )
    return None


def changes_between(holds: Parameters, tried: Parameters) -> dict[str, object]:
    return {
        name: getattr(tried, name)
        for name in TUNABLE
        if getattr(tried, name) != getattr(holds, name)
    }


class _ApplyDialog:
    def __init__(self, lab: Lab, trial: Trial) -> None:
        self._lab = lab
        self._holds = trial.holds
        self._choice = trial.choice
        self._crawl = lab.crawls[0]

    async def open(self) -> None:
        """Show the question as soon as it is known what would change."""
        changes = changes_between(self._holds, self._choice.parameters)
        try:
            stored = await self._lab.stored()
            tried = await self._lab.judge(self._choice)
        except (StoppedError, SourceError) as error:
            ui.notify(plain(str(error)) or "Stopped.", type="warning")
            return
        with ui.dialog(value=True) as dialog, ui.card():
            ui.label("Judge pages to come by other parameters").classes("title")
            FigureTable([""] * 4, "mono").show(
                (name, str(getattr(self._holds, name)), "→", str(value))
                for name, value in changes.items()
            )
            ui.label(_so_far(len(tried), tried.changes_from(stored))).classes("effect")
            folder = plain(str(self._crawl.folder), 300)
            ui.label(f"They keep their verdicts until: crawl-once rejudge {folder}").classes("note")
            ui.label(_RUNNING if self._lab.is_running else _NOT_RUNNING).classes("note")
            fault = ui.label().classes("fault").props("role=alert")
            with ui.element().classes("line"):
                ui.element().classes("spacer")
                ui.button("Cancel", on_click=dialog.close, color=None).props("flat").classes(
                    "plain"
                )
                apply = ui.button("Apply", color=None).props("flat").classes("main confirm")
        apply.on_click(lambda: self._apply(dialog, fault))
        dialog.on("hide", dialog.delete)

    async def _apply(self, dialog: ui.dialog, fault: ui.label) -> None:
        changes = changes_between(self._holds, self._choice.parameters)
        try:
            await self._lab.look(tune, self._crawl.folder, changes, ORIGIN)
        except (JobError, ParameterError, OSError, sqlite3.Error) as error:
            fault.text = plain(str(error), 500)
            return
        dialog.close()


def _so_far(pages: int, changes: VerdictChanges) -> str:
    kept, dropped = len(changes.now_kept), len(changes.now_dropped)
    if not kept and not dropped:
        return f"Of the {pages:,} pages so far none would be judged otherwise."
    return (
        f"Of the {pages:,} pages so far {kept + dropped:,} would be judged otherwise: "
        f"{kept:,} dropped ones kept, {dropped:,} kept ones dropped."
    )


class ParameterBar:
    """One row: name, what holds, what is tried where that is something else.

    It is filled by ``refresh``.
    """

    def __init__(self, lab: Lab, trial: Trial) -> None:
        self._lab = lab
        self._trial = trial

        self._cells = {}
        with ui.element().classes("bar"):
            for name in shown_values(self._trial.choice):
                with ui.element("span").classes("parameter") as cell:
                    ui.label(name).classes("name")
                    value = ui.label().classes("value")
                    tried = ui.label().classes("tried")
                cell.tooltip(HINTS[name])
                self._cells[name] = (cell, value, tried)
            ui.element().classes("spacer")
            with ui.element().classes("line bar-deeds") as self._deeds:
                self._reset = ui.button("Reset", on_click=self._trial.reset, color=None)
                self._reset.props("flat dense").classes("plain")
                self._apply = ui.button("Apply…", on_click=self._ask, color=None)
                self._apply.props("flat dense").classes("main apply")
            self._note = ui.label().classes("note bar-note")

    async def _ask(self) -> None:
        await _ApplyDialog(self._lab, self._trial).open()

    def refresh(self) -> None:
        holds = shown_values(Choice(self._trial.holds))
        for name, tried in shown_values(self._trial.choice).items():
            cell, shown, other = self._cells[name]
            shown.text, other.text = holds[name], tried
            is_other = holds[name] != tried
            cell.classes(add="other" if is_other else "", remove="" if is_other else "other")
        is_other = not self._trial.is_what_holds
        why_not = obstacle(self._lab, self._trial)
        self._deeds.set_visibility(is_other)
        self._reset.set_visibility(is_other)
        self._apply.set_visibility(is_other and why_not is None)
        told = _holding(self._lab.crawls[0].seen) if len(self._lab.crawls) == 1 else ""
        self._note.text = why_not or told if is_other else told


def _holding(seen: Snapshot) -> str:
    """Say since when other parameters hold than those at the start, and whether the crawl knows."""
    tuned = seen.tuned
    if tuned is None or tuned.origin == SETTINGS:
        return ""
    said = f"#{tuned.id} holds since {clock(tuned.since)}, set by {tuned.origin}"
    first = seen.first_with(tuned.id)
    if first is not None:
        return f"{said}; the crawl took it over at {clock(first.fetched_at)}."
    return f"{said}; no page was judged by it yet."


def shown_values(choice: Choice) -> dict[str, str]:
    """Return what the bar shows of a choice, by the names of the parameters."""
    values = {name: _words(getattr(choice.parameters, name)) for name in TUNABLE}
    features = str(choice.parameters.fingerprint_features)
    return {**values, "features": features, "method": choice.method}


def _words(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:g}" if isinstance(value, float) else str(value)
