"""The page: what is looked at, seven tabs, and between them the bar of parameters."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlencode

from nicegui import app, ui

from crawler.lab.app.bar import ParameterBar
from crawler.lab.app.crawled_text import plain
from crawler.lab.app.lab_state import StoppedError
from crawler.lab.app.parameter_trial import Trial, choice_key, parsed_choice
from crawler.lab.app.tabs.clusters_tab import ClustersTab
from crawler.lab.app.tabs.compare_tab import CompareTab
from crawler.lab.app.tabs.evidence_tab import EvidenceTab
from crawler.lab.app.tabs.live_tab import LiveTab
from crawler.lab.app.tabs.pairs_tab import PairsTab
from crawler.lab.app.tabs.site_tab import SiteTab
from crawler.lab.app.tabs.threshold_tab import ThresholdTab
from crawler.lab.choice import Choice
from crawler.lab.sources.source import SourceError

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawler.lab.app.lab_state import Lab
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
    "Site": SiteTab,
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
    return f"?{urlencode(shown, safe='/')}"


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
        self._shown = tab if tab in TABS else "Live"
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
            panels = ui.tab_panels(tabs, value=self._shown, animated=False)
            panels.on_value_change(lambda event: self._show(str(event.value)))
            with panels:
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

    async def _show(self, name: str) -> None:
        self._shown = name
        await self._refresh()

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
            await self._tabs[self._shown].refresh()
        except StoppedError:  # by who asked for it, or the lab is being closed
            pass
        except SourceError as error:
            self._fault.text = plain(str(error), 500)
        finally:
            self._is_refreshing = False

    def _note_address(self) -> None:
        """Let the address say what is shown, so that a reload shows it again."""
        address = address_of(self._shown, self._trial.choice, self._trial.holds)
        if address != self._address:
            self._address = address
            ui.run_javascript(f"history.replaceState(null, '', {json.dumps(address)})")


def _state(lab: Lab) -> str:
    state = "running" if lab.is_running else "not running"
    return f"{state}; replaced pages are read again soon" if lab.is_outdated else state
