"""The tab Clusters: what would be one page, the largest first, and what was learned from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nicegui import ui

from crawler.lab.app.parts.answers import Answers
from crawler.lab.app.parts.cluster_card import ClusterCard
from crawler.lab.clusters import read_rules, rules_taught_by
from crawler.storage.errors import JobError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawler.lab.app.lab_state import Lab
    from crawler.lab.app.parameter_trial import Trial
    from crawler.lab.choice import Choice
    from crawler.lab.clusters import LabCluster, Teaching
    from crawler.lab.judgement import Judgement
    from crawler.url_rules.rule_report import StoredRule

AT_ONCE = 10
"""The number of clusters on a page."""

MAX_COUNT = 200
"""The largest number of clusters that can be paged through."""


class _Question(NamedTuple):
    choice: Choice
    reading: int
    pages: int


class ClustersTab:
    """Pages of clusters; who reads one is not disturbed by pages that come."""

    def __init__(self, lab: Lab, trial: Trial) -> None:
        self._lab = lab
        self._trial = trial
        self._answers = Answers(lab, trial, self._ask, self._answer)
        self._clusters: list[LabCluster] = []
        self._rules: Sequence[Teaching] = ()
        self._answered: _Question | None = None

    def build(self) -> None:
        """Put the tab's elements into the panel that is open."""
        with ui.element().classes("stack"):
            self._answers.build()
            with ui.element().classes("line"):
                self._words = ui.label("Looking.").classes("soft")
                ui.element().classes("spacer")
                self._again = ui.button("Show newer", on_click=self._renew, color=None)
                self._again.props("flat dense").classes("plain")
                self._again.set_visibility(False)
                self._pages = ui.pagination(1, 1, direction_links=True, on_change=self._show)
                self._pages.props("max-pages=7 dense flat color=none active-color=none")
            self._body = ui.element().classes("stack")

    async def refresh(self) -> None:
        """Show the current clusters; the answer comes when it is there."""
        answered = self._answered
        now = self._ask()
        if answered is not None and self._clusters and answered[:2] == now[:2]:
            self._again.set_visibility(answered.pages != now.pages)
            return
        self._answers.wake()

    async def _renew(self) -> None:
        self._answered = None
        await self.refresh()

    def _ask(self) -> _Question:
        return _Question(self._trial.choice, self._lab.reading, len(self._lab.session))

    async def _answer(self, asked: _Question) -> None:
        judgement = await self._lab.judge(asked.choice)
        self._clusters = await self._lab.run(self._lab.session.clusters, judgement, MAX_COUNT)
        self._rules = await self._lab.run(self._read_rules)
        self._answered = asked
        self._again.set_visibility(False)
        self._words.text = _words_of(judgement, len(self._clusters))
        last = max(1, -(-len(self._clusters) // AT_ONCE))
        self._pages.max = last
        self._pages.set_visibility(last > 1)
        if self._pages.value == 1:
            self._show()
        else:
            self._pages.value = 1

    def _read_rules(self) -> list[Teaching]:
        rules: list[Teaching] = []
        for source in self._lab.sources.parts:
            if source.folder is not None:
                try:
                    rules += read_rules(source.folder)
                except JobError:
                    continue  # the frame says that the crawl cannot be read any more
        return rules

    def _show(self) -> None:
        start = (int(self._pages.value or 1) - 1) * AT_ONCE
        size = self._trial.choice.parameters.verify_shingle_size
        self._body.clear()
        with self._body:
            for cluster in self._clusters[start : start + AT_ONCE]:
                ClusterCard(self._lab, cluster, self._taught(cluster), size).build()

    def _taught(self, cluster: LabCluster) -> list[StoredRule]:
        pages = self._lab.session.pages
        places = [cluster.representative, *(member.place for member in cluster.members)]
        return rules_taught_by(self._rules, (pages[place].url for place in places))


def _words_of(judgement: Judgement, shown: int) -> str:
    count = len(judgement.cluster_sizes())
    if not count:
        return "No page repeats another by these parameters."
    pages = f"{judgement.dropped_count:,} pages repeat one of {count:,}"
    return pages if shown == count else f"{pages}; the {shown:,} largest clusters are listed"
