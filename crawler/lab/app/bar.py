"""The bar of parameters: what holds in the crawl, what is tried beside it, and Apply."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nicegui import ui

from crawler.lab.app.applying import ApplyDialog, obstacle
from crawler.lab.app.words import clock
from crawler.pages.live_parameters import SETTINGS, TUNABLE

if TYPE_CHECKING:
    from crawler.lab.app.lab_state import Lab
    from crawler.lab.app.parameter_trial import Trial
    from crawler.lab.choice import Choice
    from crawler.lab.snapshot import Snapshot


class ParameterBar:
    """One row: name, what holds, what is tried where that is something else."""

    def __init__(self, lab: Lab, trial: Trial) -> None:
        self._lab = lab
        self._trial = trial

    def build(self) -> None:
        """Put the bar where the page is being made."""
        self._cells = {}
        with ui.element().classes("bar"):
            for name in _values(self._trial.choice):
                with ui.element("span").classes("parameter") as cell:
                    ui.label(name).classes("name")
                    value = ui.label().classes("value")
                    tried = ui.label().classes("tried")
                self._cells[name] = (cell, value, tried)
            ui.element().classes("spacer")
            with ui.element().classes("line bar-deeds"):
                self._reset = ui.button("Reset", on_click=self._trial.reset, color=None)
                self._reset.props("flat dense").classes("plain")
                self._apply = ui.button("Apply…", on_click=self._ask, color=None)
                self._apply.props("flat dense").classes("main apply")
            self._note = ui.label().classes("note bar-note")
        self.refresh()

    async def _ask(self) -> None:
        await ApplyDialog(self._lab, self._trial).open()

    def refresh(self) -> None:
        """Show what is so now."""
        holds = _of_holding(self._trial)
        for name, tried in _values(self._trial.choice).items():
            cell, shown, other = self._cells[name]
            shown.text, other.text = holds[name], tried
            is_other = holds[name] != tried
            cell.classes(add="other" if is_other else "", remove="" if is_other else "other")
        is_other = not self._trial.is_what_holds
        why_not = obstacle(self._lab, self._trial)
        self._reset.set_visibility(is_other)
        self._apply.set_visibility(is_other and why_not is None)
        told = _holding(self._lab.crawls[0].seen) if len(self._lab.crawls) == 1 else ""
        self._note.text = why_not or told if is_other else told


def _holding(seen: Snapshot) -> str:
    """Since when other parameters hold than the crawl began with, and whether it knows."""
    tuned = seen.tuned
    if tuned is None or tuned.origin == SETTINGS:
        return ""
    said = f"#{tuned.id} holds since {clock(tuned.since)}, set by {tuned.origin}"
    first = seen.first_with(tuned.id)
    if first is not None:
        return f"{said}; the crawl took it over at {clock(first.fetched_at)}."
    return f"{said}; no page was judged by it yet."


def _of_holding(trial: Trial) -> dict[str, str]:
    return _values(type(trial.choice)(trial.holds))


def _values(choice: Choice) -> dict[str, str]:
    """Every value as people read it."""
    values = {name: _words(getattr(choice.parameters, name)) for name in TUNABLE}
    features = str(choice.parameters.fingerprint_features)
    return {**values, "features": features, "method": choice.method}


def _words(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:g}" if isinstance(value, float) else str(value)
