"""The tab Site: links, broken pages, duplicates by template of the URL, and learned rules."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, NamedTuple

from nicegui import run, ui

from crawler.lab.app.answers import Answers
from crawler.lab.app.crawled_text import inert_link, plain
from crawler.lab.app.lab_state import StoppedError
from crawler.lab.app.tables import FigureTable, SearchField, crawl_choice
from crawler.lab.site_links import read_site, templates_of
from crawler.storage.errors import JobError
from crawler.url_rules.rule_report import evidence_lines
from crawler.url_rules.rule_store import forget_rule
from neardup.plurals import many

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from crawler.lab.app.lab_state import Lab
    from crawler.lab.app.parameter_trial import Trial
    from crawler.lab.choice import Choice
    from crawler.lab.judgement import Judgement
    from crawler.lab.site_links import CrawledSite, TemplatePages
    from crawler.maintenance.broken_links import BrokenLink
    from crawler.url_rules.rule_report import RuleReport, StoredRule

_MAX_TEMPLATES = 50
_MAX_BROKEN = 100

_LINKS_SHOW = (
    "A URL counts once on each page that links to it: internal on the same host, nofollow where "
    "the link or its page asks not to be followed, broken where the crawl got no page."
)
_TEMPLATES_SHOW = (
    "Which kind of URL repeats what is known, by the parameters tried? * varies, # holds a "
    "digit; originals are the kept pages that the dropped ones repeat. A kind of which nearly all "
    "is dropped, such as print views or sessions, can be left out of the next crawl."
)
_BROKEN_SHOW = "URLs that gave no page in this visit, and the page on which each was met first."
_BROKEN_EMPTY = "No URL of this visit failed. What robots.txt forbids is not counted."


class _Question(NamedTuple):
    choice: Choice
    reading: int
    crawl: int
    times: int
    pages: int


class SiteTab:
    """A site as its owner sees it; who reads it is not disturbed by pages that come."""

    def __init__(self, lab: Lab, trial: Trial) -> None:
        self._lab = lab
        self._trial = trial
        self._place = self._times = self._pages = 0
        with ui.element().classes("stack"):
            self._answers = Answers(lab, trial, self._ask, self._answer)
            with ui.element().classes("line"):
                crawl_choice(lab, self._choose)
                self._words = ui.label("Counting links and pages.").classes("soft counted-pages")
                ui.element().classes("spacer")
                again = ui.button("Count again", on_click=self._count_again, color=None)
                self._again = again.props("flat dense").classes("plain")
                self._again.set_visibility(False)
            with ui.element().classes("cards") as self._cards:
                self._build_links()
                with ui.element().classes("card"):
                    ui.label("Duplicates by template of the URL").classes("title")
                    heads = ("Template", "#Pages", "#Dropped", "#Originals")
                    self._templates = FigureTable(heads, "templates")
                    ui.label(_TEMPLATES_SHOW).classes("note")
                    self._templates_note = ui.label().classes("note")
                with ui.element().classes("card whole"):
                    self._broken = _BrokenPages()
                with ui.element().classes("card whole"):
                    self._rules = RuleCards(lab, self._count_again)
            self._cards.set_visibility(False)

    def _build_links(self) -> None:
        with ui.element().classes("card"):
            ui.label("Links by kind").classes("title")
            heads = ("Kind", "#Links", "#Internal", "#External", "#Nofollow", "#Broken")
            self._links = FigureTable(heads, "links")
            ui.label(_LINKS_SHOW).classes("note")
            self._links_note = ui.label().classes("note")

    async def refresh(self) -> None:
        pages = len(self._lab.session)
        self._again.set_visibility(0 < self._pages < pages)
        self._answers.wake()

    async def _count_again(self) -> None:
        self._times += 1
        self._pages = 0
        await self.refresh()

    async def _choose(self, place: int) -> None:
        self._place = place
        await self.refresh()

    def _ask(self) -> _Question:
        lab = self._lab
        pages = self._pages or len(lab.session)
        return _Question(self._trial.choice, lab.reading, self._place, self._times, pages)

    async def _answer(self, asked: _Question) -> None:
        folder = self._lab.crawls[asked.crawl].folder
        site = await run.io_bound(read_site, folder)
        if site is None:  # the lab is being closed
            return
        self._show(site)
        self._rules.show(folder, site.rules)
        self._cards.set_visibility(True)
        judgement = await self._lab.judge(asked.choice)
        self._show_templates(await self._lab.run(self._count_templates, judgement), len(judgement))
        self._pages = len(judgement)
        self._cards.set_visibility(True)
        self._again.set_visibility(False)

    def _count_templates(self, judgement: Judgement) -> list[TemplatePages]:
        return templates_of(self._lab.session.pages[: len(judgement)], judgement)

    def _show(self, site: CrawledSite) -> None:
        self._links.show((one.kind, *(f"{number:,}" for number in one[1:])) for one in site.links)
        self._links_note.text = _links_words(site)
        self._broken.show(site.broken)

    def _show_templates(self, found: list[TemplatePages], pages: int) -> None:
        self._words.text = f"{many(pages, 'page')} with a text"
        shown = [one for one in found if one.dropped][:_MAX_TEMPLATES]
        self._templates.show(
            (plain(one.template, 300), f"{one.pages:,}", f"{one.dropped:,}", f"{one.clusters:,}")
            for one in shown
        )
        repeating = sum(one.dropped > 0 for one in found)
        self._templates_note.text = _template_words(len(shown), repeating, len(found))


def _links_words(site: CrawledSite) -> str:
    if not site.links:
        return "It fills with the first page that has links."
    if site.counted < site.pages:
        return f"The first {site.counted:,} of {site.pages:,} pages with links are counted."
    return f"{many(site.pages, 'page')} with links"


def _template_words(shown: int, repeating: int, count: int) -> str:
    templates = many(count, "template")
    if not repeating:
        return f"Of {templates} none has a page that repeats another: it fills when one does."
    of = f"{repeating:,} of {templates} with duplicates"
    return of if shown == repeating else f"{of}, the first {shown:,} are listed"


class _BrokenPages:
    """URLs that gave no page, with those that link to them; some are shown."""

    def __init__(self) -> None:
        self._all: tuple[BrokenLink, ...] = ()
        with ui.element().classes("line"):
            ui.label("Broken pages").classes("title")
            ui.element().classes("spacer")
            self._field = SearchField(self._list, "both URLs")
        ui.label(_BROKEN_SHOW).classes("note")
        self._rows = ui.element().classes("broken-list")
        self._note = ui.label().classes("note")

    def show(self, broken: tuple[BrokenLink, ...]) -> None:
        if broken != self._all or not self._note.text:
            self._all = broken
            self._list()

    def _list(self) -> None:
        search = self._field.search
        found = [one for one in self._all if search.takes(one.url, one.linked_from)]
        self._rows.clear()
        with self._rows:
            for one in found[:_MAX_BROKEN]:
                with ui.element().classes("broken-row"):
                    inert_link(one.url).classes("mono")
                    ui.label(plain(one.reason or "no answer", 300)).classes("soft crawled")
                    with ui.element().classes("line"):
                        ui.label(_linked_words(one)).classes("soft crawled")
                        inert_link(one.linked_from).classes("mono")
        self._note.text = _broken_words(len(found), len(self._all))


def _linked_words(one: BrokenLink) -> str:
    return f"\u201c{plain(one.text, 60)}\u201d on" if one.text else "linked from"


def _broken_words(found: int, count: int) -> str:
    if not count:
        return _BROKEN_EMPTY
    urls = many(count, "URL")
    told = urls if found == count else f"{found:,} found of {urls}"
    return told if found <= _MAX_BROKEN else f"{told}, the first {_MAX_BROKEN} are shown"


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
