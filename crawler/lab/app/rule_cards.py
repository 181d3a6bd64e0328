"""The URL rules that a crawl learned, what speaks for each, and a button that forgets one."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from nicegui import ui

from crawler.lab.app.crawled_text import plain
from crawler.lab.app.lab_state import StoppedError
from crawler.storage.errors import JobError
from crawler.url_rules.rule_report import evidence_lines
from crawler.url_rules.rule_store import forget_rule
from neardup.plurals import many

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from crawler.lab.app.lab_state import Lab
    from crawler.url_rules.rule_report import RuleReport, StoredRule

_SHOW = (
    "Which parts of URLs do not matter on this site? By these rules the crawl does not request "
    "what it holds already. A rule that is wrong here can be forgotten."
)
_EMPTY = (
    "No rule was learned. One comes when enough texts were met under two URLs each that differ in "
    "the same part, and none speaks against it."
)
_HOLDS = "holds"


class RuleCards:
    """The rules of one crawl directory.

    Args:
        lab: The lab that looks at the crawl.
        forgotten: Called after a rule was forgotten.
    """

    def __init__(self, lab: Lab, forgotten: Callable[[], Awaitable[None]]) -> None:
        self._lab = lab
        self._forgotten = forgotten
        self._shown: tuple[Path, tuple[StoredRule, ...]] | None = None
        ui.label("Learned URL rules").classes("title")
        ui.label(_SHOW).classes("note")
        self._rows = ui.element().classes("rule-list")
        self._note = ui.label().classes("note")

    def show(self, folder: Path, report: RuleReport) -> None:
        """Show the rules of a crawl directory, those that hold first."""
        shown = folder, report.rules
        if shown == self._shown:
            return
        self._shown = shown
        self._rows.clear()
        with self._rows:
            for rule in report.rules:
                self._row(folder, rule)
        count = len(report.rules)
        waiting = f"; {report.waiting:,} requests are skipped now" if report.waiting else ""
        self._note.text = f"{many(count, 'rule')}{waiting}" if count else _EMPTY

    def _row(self, folder: Path, rule: StoredRule) -> None:
        with ui.element().classes("rule-row").props(f"data-rule={rule.id}"):
            with ui.element().classes("line"):
                ui.label(f"#{rule.id}").classes("soft")
                ui.label(plain(rule.what, 300)).classes("crawled rule-what")
                ui.element().classes("spacer")
                if rule.state == _HOLDS:
                    button = ui.button("Forget…", color=None)
                    button.on_click(lambda: self._ask(folder, rule))
                    button.props("flat dense").classes("plain forget")
                else:
                    ui.label(rule.state).classes("badge")
            ui.label(plain(rule.where, 300)).classes("crawled soft mono")
            lines = evidence_lines(rule) if rule.state == _HOLDS else [rule.reason or ""]
            for line in lines:
                ui.label(plain(line, 300)).classes("crawled soft")

    def _ask(self, folder: Path, rule: StoredRule) -> None:
        """Ask before a rule is forgotten: the crawl does not learn it again."""
        is_running = self._lab.is_running
        with ui.dialog(value=True) as dialog, ui.card():
            ui.label(f"Forget rule #{rule.id}?").classes("title")
            ui.label(plain(rule.what, 300)).classes("crawled")
            ui.label(plain(rule.where, 300)).classes("crawled soft mono")
            ui.label(
                "The requests that it skips wait again, and the next run of the crawl makes them. "
                "The crawl does not learn this rule again."
            ).classes("effect")
            ui.label("The crawl is running: stop it first.").classes("note").set_visibility(
                is_running
            )
            fault = ui.label().classes("fault").props("role=alert")
            with ui.element().classes("line"):
                ui.element().classes("spacer")
                cancel = ui.button("Cancel", on_click=dialog.close, color=None)
                cancel.props("flat").classes("plain")
                forget = ui.button("Forget", color=None).props("flat").classes("main confirm")
                forget.set_enabled(not is_running)
        forget.on_click(lambda: self._forget(folder, rule, dialog, fault))
        dialog.on("hide", dialog.delete)

    async def _forget(
        self, folder: Path, rule: StoredRule, dialog: ui.dialog, fault: ui.label
    ) -> None:
        try:
            again = await self._lab.look(forget_rule, folder, rule.id)
        except (JobError, StoppedError, OSError, sqlite3.Error) as error:
            fault.text = plain(str(error), 500)
            return
        dialog.close()
        requests = "1 request waits" if again == 1 else f"{again:,} requests wait"
        ui.notify(f"Rule #{rule.id} is forgotten; {requests} again.")
        await self._forgotten()
