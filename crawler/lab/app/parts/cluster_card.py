"""One cluster: what is kept of it, what repeats that and why, and the rules that it taught."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nicegui import ui

from crawler.lab.app.deep_links import inert_link
from crawler.lab.app.parts.pair_view import open_pair
from crawler.lab.app.plain_text import plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawler.lab.app.lab_state import Lab
    from crawler.lab.clusters import ClusterMember, LabCluster
    from crawler.url_rules.rule_report import StoredRule

FIRST = 5
AT_ONCE = 50
"""The number of members shown at first, and added whenever the reader asks for more."""

_MAX_TITLE = 200


class ClusterCard:
    """A kept page and its members, some at a time.

    Args:
        lab: The lab whose pages they are.
        cluster: The cluster to show.
        rules: The rules that it taught.
        shingle_size: The words of a shingle when two of its pages are compared.
    """

    def __init__(
        self, lab: Lab, cluster: LabCluster, rules: Sequence[StoredRule], shingle_size: int
    ) -> None:
        self._lab = lab
        self._cluster = cluster
        self._rules = rules
        self._shingle_size = shingle_size
        self._shown = 0

    def build(self) -> None:
        """Put it where the page is being made."""
        page = self._lab.session.pages[self._cluster.representative]
        has_rules = "with-rules" if self._rules else ""
        with ui.element().classes(f"card whole cluster {has_rules}"):
            with ui.element().classes("stack-tight"):
                with ui.element().classes("line cluster-head"):
                    ui.label(f"{self._cluster.size:,} pages").classes("cluster-size")
                    title = plain(page.title, _MAX_TITLE) or "(no title)"
                    ui.label(title).classes("crawled one-line")
                inert_link(page.url).classes("mono")
                self._rows = ui.element().classes("members")
                self._more = ui.button(on_click=lambda: self._show(AT_ONCE), color=None)
                self._more.props("flat dense").classes("plain")
                self._beyond = ui.label().classes("note")
            if self._rules:
                with ui.element().classes("rules"):
                    ui.label("Learned from such addresses").classes("title")
                    for rule in self._rules:
                        _rule(rule)
        self._show(FIRST)

    def _show(self, count: int) -> None:
        members = self._cluster.members
        end = min(self._shown + count, len(members))
        with self._rows:
            for member in members[self._shown : end]:
                self._row(member)
        self._shown = end
        self._more.text = f"Show {min(AT_ONCE, len(members) - end):,} more"
        self._more.set_visibility(end < len(members))
        beyond = self._cluster.size - 1 - len(members)
        is_whole = end == len(members)
        self._beyond.text = f"and {beyond:,} more, not listed" if beyond and is_whole else ""

    def _row(self, member: ClusterMember) -> None:
        page = self._lab.session.pages[member.place]

        async def compare() -> None:
            first = self._cluster.representative
            with self._rows:
                await open_pair(self._lab, member.why, first, member.place, self._shingle_size)

        with ui.element().classes("member"):
            inert_link(page.url).classes("mono")
            ui.label(member.why).classes("soft")
            button = ui.button("Compare", on_click=compare, color=None)
            button.props("flat dense").classes("small")


def _rule(rule: StoredRule) -> None:
    with ui.element().classes("rule"):
        ui.label(plain(rule.what, 300)).classes("crawled")
        ui.label(plain(rule.where, 300)).classes("crawled soft mono")
        saved = f"{rule.saved:,} requests saved" if rule.state == "holds" else rule.state
        ui.label(f"{rule.texts:,} texts for it, {saved}").classes("soft")
