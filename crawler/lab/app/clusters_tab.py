"""The tab Clusters: what would be one page, the largest first, and what was learned from it."""

from __future__ import annotations

from contextlib import closing, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from nicegui import ui

from crawler.lab.app.elements import GrowingRows, button, inert_link, plain
from crawler.lab.app.pair_view import open_pair
from crawler.lab.app.parameter_trial import Answers
from crawler.lab.app.tables import SearchField
from crawler.lab.words import measures_of
from crawler.storage.database import open_for_reading
from crawler.storage.errors import JobError
from crawler.url_rules.learned_rule import LearnedRule
from crawler.url_rules.learning.address import Address
from crawler.url_rules.rule_report import StoredRule, rule_report
from crawler.url_rules.rule_store import rule_rows
from crawler.urls.canonical import Canonicalizer, MalformedUrl
from neardup.evaluation.near_arrays import LAYERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from crawler.lab.app.lab_state import Lab
    from crawler.lab.app.parameter_trial import Trial
    from crawler.lab.judgement import Judgement
    from crawler.lab.near_pairs import ListFilter
    from crawler.url_rules.learning.proposals import Proposal
    from neardup import Parameters

_FIRST_MEMBERS = 5
_MORE_MEMBERS = 50
"""The number of members shown at first, and added whenever the reader asks for more."""

_MAX_TITLE = 200

AT_ONCE = 10
"""The number of clusters on a page."""

MAX_COUNT = 200
"""The largest number of clusters that can be paged through."""


class _ClusterCard:
    """A kept page and its members, some at a time.

    Args:
        lab: The lab whose pages they are.
        cluster: The cluster to show.
        judgement: The judgement whose cluster it is.
        rules: The rules that it taught.
        parameters: The parameters by which two of its pages are compared.
    """

    def __init__(
        self,
        lab: Lab,
        cluster: LabCluster,
        judgement: Judgement,
        rules: Sequence[StoredRule],
        parameters: Parameters,
    ) -> None:
        self._lab = lab
        self._cluster = cluster
        self._judgement = judgement
        self._parameters = parameters
        page = lab.session.pages[cluster.representative]
        has_rules = "with-rules" if rules else ""
        with ui.element().classes(f"card whole cluster {has_rules}"):
            with ui.element().classes("stack-tight"):
                with ui.element().classes("line cluster-head"):
                    ui.label(f"{self._cluster.size:,} pages").classes("cluster-size")
                    title = plain(page.title, _MAX_TITLE) or "(no title)"
                    ui.label(title).classes("crawled one-line")
                inert_link(page.url).classes("mono")
                self._rows = GrowingRows("members", self._row, _MORE_MEMBERS, _FIRST_MEMBERS)
                self._rows.show(cluster.members)
                if beyond := cluster.size - 1 - len(cluster.members):
                    ui.label(f"{beyond:,} more are not listed").classes("note")
            if rules:
                _show_rules(rules)

    def _row(self, place: int) -> None:
        why = why_member(self._judgement, place, self._parameters.min_similarity)

        async def compare() -> None:
            first = self._cluster.representative
            with self._rows.body:
                await open_pair(self._lab, why, first, place, self._parameters)

        with ui.element().classes("member"):
            inert_link(self._lab.session.pages[place].url).classes("mono")
            ui.label(why).classes("soft")
            button("Compare", compare, "small")


def _show_rules(rules: Sequence[StoredRule]) -> None:
    with ui.element().classes("rules"):
        ui.label("Learned from such addresses").classes("title")
        for rule in rules:
            with ui.element().classes("rule"):
                ui.label(plain(rule.what, 300)).classes("crawled")
                ui.label(plain(rule.where, 300)).classes("crawled soft mono")
                saved = f"{rule.saved:,} requests saved" if rule.state == "holds" else rule.state
                ui.label(f"{rule.texts:,} texts for it, {saved}").classes("soft")


class ClustersTab:
    """Pages of clusters; who reads one is not disturbed by pages that come."""

    def __init__(self, lab: Lab, trial: Trial) -> None:
        self._lab = lab
        self._trial = trial
        self._clusters: list[LabCluster] = []
        self._judgement: Judgement
        self._rules: Sequence[Teaching] = ()
        self._answered: tuple[object, ...] = ()
        self._count = 0
        with ui.element().classes("stack"):
            self._answers = Answers(lab, trial, self._basis, self._answer)
            with ui.element().classes("line"):
                self._field = SearchField(self.refresh)
                self._words = ui.label("Looking.").classes("soft")
                ui.element().classes("spacer")
                self._again = button("Show newer", self._renew)
                self._again.set_visibility(False)
                self._pages = ui.pagination(1, 1, direction_links=True, on_change=self._show)
                self._pages.props("max-pages=7 dense flat color=none active-color=none")
            self._body = ui.element().classes("stack")

    async def refresh(self) -> None:
        if self._clusters and self._answered == self._asked():
            self._again.set_visibility(self._count != len(self._lab.session))
            return
        self._answers.wake()

    async def _renew(self) -> None:
        self._answered = ()
        await self.refresh()

    def _asked(self) -> tuple[object, ...]:
        return self._trial.choice, self._lab.reading, self._field.search

    def _basis(self) -> tuple[object, ...]:
        return self._field.search, len(self._lab.session)

    async def _answer(self) -> None:
        asked, count = self._asked(), len(self._lab.session)
        choice, search = self._trial.choice, self._field.search
        judgement = await self._lab.judge(choice)
        self._judgement = judgement
        self._clusters = await self._lab.run(self._find, judgement, search)
        self._rules = await self._lab.run(self._read_rules)
        self._answered, self._count = asked, count
        self._again.set_visibility(False)
        self._words.text = _words_of(judgement, len(self._clusters), search)
        last = max(1, -(-len(self._clusters) // AT_ONCE))
        self._pages.max = last
        self._pages.set_visibility(last > 1)
        if self._pages.value == 1:
            self._show()
        else:
            self._pages.value = 1

    def _find(self, judgement: Judgement, search: ListFilter) -> list[LabCluster]:
        pages = self._lab.session.pages[: len(judgement)]
        searched = search.mask(pages) if search else None
        return largest_clusters(judgement, MAX_COUNT, searched)

    def _read_rules(self) -> list[Teaching]:
        rules: list[Teaching] = []
        for source in self._lab.sources.parts:
            try:
                rules += read_rules(source.folder)
            except JobError:
                continue  # the frame says that the crawl cannot be read any more
        return rules

    def _show(self) -> None:
        start = (int(self._pages.value or 1) - 1) * AT_ONCE
        judgement, parameters = self._judgement, self._trial.choice.parameters
        self._body.clear()
        with self._body:
            for cluster in self._clusters[start : start + AT_ONCE]:
                rules = self._taught(cluster)
                _ClusterCard(self._lab, cluster, judgement, rules, parameters)

    def _taught(self, cluster: LabCluster) -> list[StoredRule]:
        pages = self._lab.session.pages
        places = [cluster.representative, *cluster.members]
        return rules_taught_by(self._rules, (pages[place].url for place in places))


def _words_of(judgement: Judgement, shown: int, search: ListFilter) -> str:
    count = len(judgement.cluster_sizes())
    if not count:
        return "No page repeats another by these parameters."
    dropped = judgement.dropped_count
    repeat = "1 page repeats" if dropped == 1 else f"{dropped:,} pages repeat"
    pages = f"{repeat} {'1 kept page' if count == 1 else f'one of {count:,} kept pages'}"
    if search:
        return f"{pages}; {shown:,} found{' and more' if shown == MAX_COUNT else ''}"
    return pages if shown == count else f"{pages}; the {shown:,} largest clusters are listed"


MAX_ADDRESSES = 200
"""At most this many URLs of a cluster are looked at: further ones would teach nothing new."""

_canonical = Canonicalizer()

_MAX_MEMBERS = 1000


class Teaching(NamedTuple):
    """A rule with what can be tried on addresses."""

    stored: StoredRule
    proposal: Proposal


def read_rules(folder: Path) -> list[Teaching]:
    """Read the rules that a crawl learned, in the order of its report, beside the crawl.

    Raises:
        JobError: There is no crawl that can be read.
    """
    with closing(open_for_reading(folder)) as connection:
        rules = rule_report(connection).rules
        proposals = {rule.id: rule.proposal for rule in rule_rows(connection.execute)}
    return [Teaching(rule, proposals[rule.id]) for rule in rules if rule.id in proposals]


def rules_taught_by(rules: Sequence[Teaching], urls: Iterable[str]) -> list[StoredRule]:
    """Return the rules that make one address of two of these, whose pages say the same.

    Complexity: O(rules * addresses).
    """
    places = list(dict.fromkeys(_addresses(urls)))
    return [rule.stored for rule in rules if _joins(rule.proposal, places)]


def _joins(proposal: Proposal, places: Sequence[Address]) -> bool:
    rule = LearnedRule(0, *proposal)
    return len({rule.apply(place) for place in places}) < len(places)


def _addresses(urls: Iterable[str]) -> Iterator[Address]:
    for url, _ in zip(urls, range(MAX_ADDRESSES), strict=False):
        # A file may name its pages in any way.
        with suppress(MalformedUrl):
            yield Address.parse(_canonical(url))


@dataclass(frozen=True, slots=True)
class LabCluster:
    """A kept page with those that repeat it.

    Attributes:
        representative: The place of the kept page.
        size: The number of its pages, the representative among them.
        members: The places of the other pages in crawl order, at most of the first 1,000.
    """

    representative: int
    size: int
    members: tuple[int, ...]


def largest_clusters(
    judgement: Judgement,
    limit: int,
    searched: NDArray[np.bool_] | None = None,
) -> list[LabCluster]:
    """Return the kept pages that most others repeat, with these.

    Args:
        judgement: The judgement that drops pages.
        limit: The largest number of clusters.
        searched: Pages, one of them in each cluster: bool, (pages,); None: all.
    """
    dropped = np.flatnonzero(~judgement.kept)
    # Stable, so members stay in crawl order.
    order = dropped[np.argsort(judgement.original[dropped], kind="stable")]
    originals, starts, counts = np.unique(
        judgement.original[order], return_index=True, return_counts=True
    )
    largest = np.lexsort((originals, -counts))
    if searched is not None:
        is_found = searched[originals] | np.isin(
            originals, judgement.original[dropped[searched[dropped]]]
        )
        largest = largest[is_found[largest]]
    largest = largest[:limit]
    return [
        LabCluster(
            int(originals[row]),
            int(counts[row]) + 1,
            tuple(order[starts[row] : starts[row] + min(counts[row], _MAX_MEMBERS)].tolist()),
        )
        for row in largest
    ]


def why_member(judgement: Judgement, place: int, min_similarity: float | None = None) -> str:
    """Return why a page is in its cluster, in words.

    Args:
        judgement: The judgement that drops the page.
        place: The place of the page.
        min_similarity: The bound of the judgement, which similarities are told apart from.
    """
    layer = LAYERS[judgement.layer[place]]
    if layer == "payload":
        return "the same bytes"
    if layer == "text":
        return "the same words"
    if layer == "contained":
        share = measures_of(-1, None, judgement.containment_of(place))
        return f"a part of it, {share}" if share else "a part of it"
    bits, similarity = int(judgement.distance[place]), float(judgement.similarity[place])
    measures = measures_of(bits, similarity, min_similarity=min_similarity)
    return measures or "near, by what the crawl stored"
