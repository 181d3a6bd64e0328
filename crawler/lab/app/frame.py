"""The page: what is looked at, six tabs, and between them the bar of parameters."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlencode

from nicegui import app, ui

from crawler.lab.app.clusters_tab import ClustersTab
from crawler.lab.app.compare_tab import CompareTab
from crawler.lab.app.controls import HINTS
from crawler.lab.app.elements import button, plain
from crawler.lab.app.evidence_tab import EvidenceTab
from crawler.lab.app.lab_state import StoppedError
from crawler.lab.app.live_tab import LiveTab, held_words, is_in_bar
from crawler.lab.app.pairs_tab import PairsTab
from crawler.lab.app.parameter_trial import Trial, choice_key, parsed_choice, shown_values
from crawler.lab.app.tables import FigureTable
from crawler.lab.app.threshold_tab import ThresholdTab
from crawler.lab.crawl_source import SourceError
from crawler.lab.judgement import SIMHASH, Choice
from crawler.pages.live_parameters import changes_between, tune
from crawler.storage.errors import JobError
from neardup.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawler.lab.app.lab_state import Lab
    from crawler.lab.judgement import VerdictChanges
    from neardup import Parameters

_BEFORE_IT_IS_DRAWN = """<script>
if (localStorage.labTheme) document.documentElement.dataset.theme = localStorage.labTheme;
</script>"""

_AFTER_NICEGUI_CHOSE = """
        setDark({dark: true, light: false}[localStorage.labTheme] ?? null);
"""

_SWITCH = """() => {
  const chosen = {undefined: "dark", dark: "light", light: undefined}[localStorage.labTheme];
  if (chosen) localStorage.labTheme = document.documentElement.dataset.theme = chosen;
  else { delete localStorage.labTheme; delete document.documentElement.dataset.theme; }
  setDark({dark: true, light: false}[chosen] ?? null);
}"""

TICK_SECS = 1.0

TABS: dict[str, Callable[[Lab, Trial], Tab]] = {
    "Live": LiveTab,
    "Threshold": ThresholdTab,
    "Pairs": PairsTab,
    "Evidence": EvidenceTab,
    "Clusters": ClustersTab,
    "Compare": CompareTab,
}


def use_themes() -> None:
    """Let every page of the application come in the theme that was chosen in its browser."""
    ui.add_head_html(_BEFORE_IT_IS_DRAWN, shared=True)
    app.config.vue_config_script += _AFTER_NICEGUI_CHOSE


def theme_switch() -> None:
    """Make a button that goes from the system's to dark to light and round again."""
    with (
        ui.button(color=None)
        .props("flat dense aria-label='light or dark'")
        .classes("icon theme") as switch
    ):
        ui.icon("brightness_auto").classes("auto")
        ui.icon("dark_mode").classes("dark")
        ui.icon("light_mode").classes("light")
    switch.on("click", js_handler=_SWITCH)


def address_of(tab: str, choice: Choice, holds: Parameters) -> str:
    """Return the query of the URL: the tab shown, and what is tried where it is not what holds."""
    shown = {"tab": tab}
    if choice != Choice(holds):
        shown["tried"] = choice_key(choice)
    return f"?{urlencode(shown, safe='/:')}"


class Tab(Protocol):
    """One tab in one window; it is made where the page is being made."""

    async def refresh(self) -> None:
        """Show the current state; called when the tab is shown, after changes, while pages come."""


class Frame:
    """One window. Its timer ends with it: NiceGUI deletes what belonged to a window that left.

    Args:
        lab: The lab that all windows share.
        tab: The tab that is shown at first, as the URL names it.
        tried: The choice that is tried at first, as the URL names it.
    """

    def __init__(self, lab: Lab, tab: str, tried: str) -> None:
        self._lab = lab
        self._trial = Trial(lab.running, self._refresh)
        self._trial.choice = parsed_choice(tried, lab.running) or self._trial.choice
        self._tabs: dict[str, Tab] = {}
        self._address = ""
        self._seen = -1
        self._is_refreshing = False
        self._build_header()
        tabs = ui.tabs().classes("tabs")
        tabs.props("dense align=left no-caps outside-arrows mobile-arrows")
        with tabs:
            for name in TABS:
                ui.tab(name)
        self._bar = ParameterBar(lab, self._trial)
        with ui.element("main").classes("page"):
            self._fault = ui.label().classes("fault").props("role=alert")
            shown = tab if tab in TABS else "Live"
            self._panels = ui.tab_panels(tabs, value=shown, animated=False, on_change=self._refresh)
            with self._panels:
                for name, kind in TABS.items():
                    with ui.tab_panel(name):
                        self._tabs[name] = kind(lab, self._trial)
        self._bar.refresh()
        ui.timer(TICK_SECS, self._tick)

    def _build_header(self) -> None:
        with ui.element("header").classes("top"):
            ui.label("crawl lab").classes("name")
            ui.label(plain(self._lab.sources.name, 200)).classes("crawled one-line source mono")
            self._state = ui.label().classes("state")
            ui.element().classes("spacer")
            with ui.element().classes("progress") as self._progress:
                ui.spinner(size="14px")
                self._progress_words = ui.label()
            theme_switch()

    async def _tick(self) -> None:
        """Show the current state of the lab; where pages came, refresh the tab that is shown."""
        progress = self._lab.progress
        self._progress.set_visibility(progress is not None)
        if progress is not None:
            self._progress_words.text = f"{progress.words} ({progress.share:.0%})"
        self._state.text = _state(self._lab)
        self._state.classes(add="runs" if self._lab.is_running else "", remove="runs")
        self._fault.text = plain(self._lab.fault)
        await self._trial.hold(self._lab.running)
        if self._seen != self._lab.growth and not self._is_refreshing:
            self._seen = self._lab.growth
            await self._refresh()

    async def _refresh(self) -> None:
        """Refresh the tab that is shown, one time after the other."""
        if self._is_refreshing:
            self._seen = -1
            return
        self._is_refreshing = True
        try:
            self._note_address()
            self._bar.refresh()
            await self._tabs[str(self._panels.value)].refresh()
        except StoppedError:  # by who asked for it, or the lab is being closed
            pass
        except SourceError as error:
            self._fault.text = plain(str(error), 500)
        finally:
            self._is_refreshing = False

    def _note_address(self) -> None:
        """Let the address say what is shown, so that a reload shows it again."""
        address = address_of(str(self._panels.value), self._trial.choice, self._trial.holds)
        if address != self._address:
            self._address = address
            ui.navigate.history.replace(address)


def _state(lab: Lab) -> str:
    state = "running" if lab.is_running else "not running"
    return f"{state}; replaced pages are read again soon" if lab.is_outdated else state


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


async def ask_to_apply(lab: Lab, trial: Trial) -> None:
    """Show the question as soon as it is known what would change."""
    crawl, choice = lab.crawls[0], trial.choice
    changes = changes_between(trial.holds, choice.parameters)
    held = [str(getattr(trial.holds, name)) for name in changes]
    try:
        stored = await lab.stored()
        tried = await lab.judge(choice)
    except (StoppedError, SourceError) as error:
        ui.notify(plain(str(error)) or "Stopped.", type="warning")
        return

    async def apply() -> None:
        try:
            await lab.look(tune, crawl.folder, changes, ORIGIN)
        except (JobError, ParameterError, OSError, sqlite3.Error) as error:
            fault.text = plain(str(error), 500)
            return
        dialog.close()

    with ui.dialog(value=True) as dialog, ui.card():
        ui.label("Judge pages to come by other parameters").classes("title")
        FigureTable([""] * 4, "mono").show(
            (name, one, "→", str(value))
            for (name, value), one in zip(changes.items(), held, strict=True)
        )
        ui.label(_so_far(len(tried), tried.changes_from(stored))).classes("effect")
        folder = plain(str(crawl.folder), 300)
        ui.label(f"They keep their verdicts until: crawl-once rejudge {folder}").classes("note")
        ui.label(_RUNNING if lab.is_running else _NOT_RUNNING).classes("note")
        fault = ui.label().classes("fault").props("role=alert")
        with ui.element().classes("line"):
            ui.element().classes("spacer")
            button("Cancel", dialog.close)
            button("Apply", apply, "main confirm")
    dialog.on("hide", dialog.delete)


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
                button("Reset", self._trial.reset)
                self._apply = button("Apply…", self._ask, "main apply")
            self._note = ui.label().classes("note bar-note")

    async def _ask(self) -> None:
        await ask_to_apply(self._lab, self._trial)

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
        self._apply.set_visibility(is_other and why_not is None)
        note = held_words(self._lab.crawls[0].seen) if is_in_bar(self._lab) else ""
        self._note.text = why_not or note if is_other else note
