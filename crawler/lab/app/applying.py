"""Apply: what is tried becomes what holds in the crawl, for pages to come."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from nicegui import ui

from crawler.lab.app.lab_state import StoppedError
from crawler.lab.app.plain_text import plain
from crawler.lab.choice import SIMHASH
from crawler.lab.sources.source import SourceError
from crawler.pages.live_parameters import TUNABLE, tune
from crawler.storage.errors import JobError
from neardup import ParameterError

if TYPE_CHECKING:
    from crawler.lab.app.lab_state import Lab
    from crawler.lab.app.parameter_trial import Trial
    from crawler.lab.judgement import Changes
    from neardup import Parameters

ORIGIN = "lab"


def obstacle(lab: Lab, trial: Trial) -> str | None:
    """Why what is tried cannot be applied, in one line; None: it can."""
    if not lab.crawls:
        return "Files have no crawl to apply this to."
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
    """What a crawl is to be told: names and new values, of those that differ."""
    return {
        name: getattr(tried, name)
        for name in TUNABLE
        if getattr(tried, name) != getattr(holds, name)
    }


class ApplyDialog:
    """Says what would follow, and asks."""

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
            with ui.element("table").classes("grid-table"):
                for name, value in changes.items():
                    with ui.element("tr"):
                        for text in (name, str(getattr(self._holds, name)), "→", str(value)):
                            with ui.element("td"):
                                ui.label(text).classes("mono")
            ui.label(_so_far(len(tried), tried.changes_from(stored))).classes("effect")
            folder = plain(str(self._crawl.folder), 300)
            ui.label(f"They keep their verdicts until: scrapy rejudge {folder}").classes("note")
            ui.label(self._when()).classes("note")
            fault = ui.label().classes("fault").props("role=alert")
            with ui.element().classes("line"):
                ui.element().classes("spacer")
                ui.button("Cancel", on_click=dialog.close, color=None).props("flat").classes(
                    "plain"
                )
                apply = ui.button("Apply", color=None).props("flat").classes("main confirm")
        apply.on_click(lambda: self._apply(dialog, fault))
        dialog.on("hide", dialog.delete)

    def _when(self) -> str:
        if self._lab.is_running:
            return "The crawl is running: it takes this over within a second."
        return "No crawl is running: this holds from its next start on."

    async def _apply(self, dialog: ui.dialog, fault: ui.label) -> None:
        changes = changes_between(self._holds, self._choice.parameters)
        try:
            await self._lab.look(tune, self._crawl.folder, changes, ORIGIN)
        except (JobError, ParameterError, OSError, sqlite3.Error) as error:
            fault.text = plain(str(error), 500)
            return
        dialog.close()


def _so_far(pages: int, changes: Changes) -> str:
    kept, dropped = len(changes.now_kept), len(changes.now_dropped)
    if not kept and not dropped:
        return f"Of the {pages:,} pages so far none would be judged otherwise."
    return (
        f"Of the {pages:,} pages so far {kept + dropped:,} would be judged otherwise: "
        f"{kept:,} dropped ones kept, {dropped:,} kept ones dropped."
    )
