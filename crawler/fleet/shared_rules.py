"""Share learned URL rules among all workers: a rule holds everywhere or nowhere."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING

from crawler.fleet.board import SharedRule
from crawler.storage.states import COVERED, RuleStatus
from crawler.url_rules.engine import UrlRules
from crawler.url_rules.rule_store import restored

if TYPE_CHECKING:
    from crawler.fleet.board import Board, Notices
    from crawler.storage.database import Database
    from crawler.url_rules.disabled import NoUrlRules

logger = logging.getLogger(__name__)

ORIGIN = "another worker"
_ALL = "SELECT id, state, rule, reason FROM url_rules"
_NARROWED = "covered by itself, for fewer pages"


class SharedRules:
    """Carries rules between ``crawl.db`` and the fleet's board.

    A rule that ended anywhere ends everywhere, and holds nowhere again.

    Args:
        database: Database of the worker.
        url_rules: Rules of the worker; nothing is shared if it learns none.
        board: Board of the fleet.
    """

    def __init__(self, database: Database, url_rules: UrlRules | NoUrlRules, board: Board) -> None:
        self._database = database
        self._rules = url_rules if isinstance(url_rules, UrlRules) else None
        self._board = board
        self._version = 0
        self._texts: dict[int, str] = {}
        self._told: dict[str, bool] = {}

    async def tell(self) -> None:
        """Publish the rules that this worker learned, narrowed or revoked."""
        rows = [] if self._rules is None else self._database.read(_ALL).fetchall()
        news = self._news(rows)
        if news:
            await self._board.write_rules(news)
            self._told.update((shared.rule, shared.holds) for shared in news)
        self._texts = {number: rule for number, _, rule, _ in rows}

    def _news(self, rows: list[tuple[int, int, str, str | None]]) -> list[SharedRule]:
        news = {}
        for number, state, rule, reason in rows:
            before = self._texts.get(number)
            if before is not None and before != rule:
                news[before] = SharedRule(before, COVERED, _NARROWED)
            news[rule] = SharedRule(rule, RuleStatus(state), reason or "")
        return [one for one in news.values() if self._told.get(one.rule) != one.holds]

    async def hear(self, notices: Notices) -> None:
        """Adopt the rules that hold at the others, and drop those that ended there."""
        if self._rules is None or notices.rules_version == self._version:
            return
        for shared in await self._board.rules():
            if self._told.get(shared.rule) != shared.holds:
                self._take(self._rules, shared)
                self._told[shared.rule] = shared.holds
        self._version = notices.rules_version

    def _take(self, rules: UrlRules, shared: SharedRule) -> None:
        try:
            proposal = restored(json.loads(shared.rule))
        except ValueError as error:
            logger.warning("a URL rule of another worker is left out: %s", error)
            return
        if shared.holds:
            rules.take([proposal], ORIGIN)
        else:
            rules.let_go(proposal, shared.status, shared.reason)
