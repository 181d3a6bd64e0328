"""Exchange parameters, rules, moved seeds and page counts between a worker and its fleet."""

from __future__ import annotations

import json
import logging
import secrets
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from crawler.fleet.board import Board, Notices, SharedRule, at, names
from crawler.frontier.redis import FleetError
from crawler.pages.live_parameters import (
    add,
    check_for_fleet,
    check_name,
    from_json,
    in_words,
    to_json,
)
from crawler.storage.states import COVERED, RuleStatus
from crawler.url_rules.rule_files import restored
from crawler.url_rules.rule_store import RuleRow, rule_rows
from neardup.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crawler.fleet.worker_crawl import WorkerJob
    from crawler.frontier.redis.counts import Counts
    from crawler.pages.capture import PageProcessor
    from crawler.pages.visits import VisitNotes
    from crawler.storage.database import Database
    from crawler.url_rules.engine import UrlRules
    from neardup.storage.redis.server import Server

ORIGIN = "another worker"
_NARROWED = "covered by itself, for fewer pages"

logger = logging.getLogger(__name__)

INTERVAL_SECS = 0.5
"""Publish news that is not urgent at most once in this many seconds."""


class SharedRules:
    """Carries rules between ``crawl.db`` and the fleet's board.

    A rule that ended anywhere ends everywhere, and holds nowhere again.

    Args:
        url_rules: Rules of the worker; nothing is shared if it learns none.
    """

    def __init__(self, database: Database, url_rules: UrlRules, board: Board) -> None:
        self._database = database
        self._rules = url_rules if url_rules.is_on else None
        self._board = board
        self._version = 0
        self._texts: dict[int, str] = {}
        self._told: dict[str, bool] = {}

    async def tell(self) -> None:
        rules = [] if self._rules is None else rule_rows(self._database.read)
        news = self._news(rules)
        if news:
            await self._board.write_rules(news)
            self._told.update((shared.rule, shared.holds) for shared in news)
        self._texts = {rule.id: rule.text for rule in rules}

    def _news(self, rows: list[RuleRow]) -> list[SharedRule]:
        news = {}
        for row in rows:
            before = self._texts.get(row.id)
            if before is not None and before != row.text:
                news[before] = SharedRule(before, COVERED, _NARROWED)
            news[row.text] = SharedRule(row.text, RuleStatus(row.state), row.reason or "")
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
            rules.trial.let_go(proposal, shared.status, shared.reason)


def tune_fleet(
    url: str, name: str | None, changes: Mapping[str, object], origin: str
) -> dict[str, Any]:
    """Change parameters; running workers adopt them within a second.

    Args:
        url: URL of the Redis.
        name: Name of the fleet, or None if there is only one.
        changes: New values by name; an empty mapping writes nothing.
        origin: Source of the change.

    Returns:
        The parameters that hold afterwards, by name.

    Raises:
        FleetError: There is no such fleet.
        ParameterError: A name or a value is wrong, or two do not go together.
        ServerError: The Redis cannot be used.
    """
    for parameter in changes:
        check_name(parameter)
    check_for_fleet(changes)

    async def tune(server: Server, name: str) -> dict[str, Any]:
        board = Board(server)
        held = (await board.read()).parameters
        if not held:
            known = ", ".join(await names(server)) or "none"
            raise FleetError(f"no fleet {name} at {server.name}; there are: {known}")
        wanted = to_json(replace(from_json(held), **changes))  # type: ignore[arg-type]  # it checks
        if changes:
            await board.write_parameters(wanted, origin)
        chosen: dict[str, Any] = json.loads(wanted)
        return chosen

    found: dict[str, Any] = at(url, name, tune)
    return found


class SharedParameters:
    """Carries parameters between ``crawl.db``, where they are tuned, and the fleet's board.

    Args:
        processor: PageProcessor that judges by the parameters of the opened crawl.
    """

    def __init__(self, database: Database, processor: PageProcessor, board: Board) -> None:
        self._database = database
        self._processor = processor
        self._board = board
        self._heard = ""
        self._told = processor.tuned.id

    async def offer(self) -> None:
        """Make this worker's parameters those of the fleet, unless it has some already."""
        tuned = self._processor.tuned
        chosen = to_json(tuned.parameters)
        await self._board.write_parameters(chosen, tuned.origin, is_first=True)

    async def tell(self) -> None:
        tuned = self._processor.tuned
        if tuned.id != self._told:
            self._heard = to_json(tuned.parameters)
            await self._board.write_parameters(self._heard, tuned.origin)
            self._told = tuned.id

    def hear(self, notices: Notices) -> None:
        held = self._processor.tuned
        # Parameters tuned here and not published yet are newer than those of the board.
        if notices.parameters == self._heard or held.id != self._told:
            return
        self._heard = notices.parameters
        try:
            wanted = from_json(notices.parameters)
            if wanted == held.parameters:
                return
            tuned = add(self._database.write, wanted, notices.origin)
            self._processor.tune(tuned)
        except (AttributeError, KeyError, ParameterError, TypeError, ValueError) as error:
            logger.warning("pages are judged as before: %s", error)
            return
        self._told = tuned.id
        changes = in_words(held.parameters, wanted)
        logger.warning("pages from now on are judged as the fleet does: %s", changes)


class MovedSeeds:
    """Carries redirected seeds between ``crawl.db`` and the fleet's board.

    They are published before the links of their pages, and read after a lease and before its pages
    are fetched: no worker takes a link for one that is out of scope.
    """

    def __init__(self, notes: VisitNotes, board: Board) -> None:
        self._notes = notes
        self._board = board
        self._count = 0
        self._known: dict[str, str] = {}

    async def tell(self) -> None:
        for seed, target in self._notes.moved_seeds().items():
            if seed not in self._known:
                await self._board.write_moved(seed, target)
                self._known[seed] = target

    async def hear(self, notices: Notices) -> None:
        if notices.moved_seeds == self._count:
            return
        for seed, target in (await self._board.moved()).items():
            if self._known.get(seed) != target:
                self._known[seed] = target
                self._notes.take_moved_seed(seed, target)
        self._count = notices.moved_seeds


class News:
    """Exchanges the facts that workers share beside requests and texts.

    Attributes:
        counts: Counts of the fleet at the last query; None before the first one.
        is_lost: Whether Redis has lost the fleet.

    Args:
        job: Crawl of the worker.
        server: Redis of the fleet.
        worker: Name of the worker.
        stops: Number of times that it had been told to end when it began; None if it begins now.
    """

    def __init__(
        self, job: WorkerJob, server: Server, worker: str, *, stops: int | None = None
    ) -> None:
        self._result = job.result
        self.board = Board(server)
        self._parameters = SharedParameters(job.database, job.processor, self.board)
        self._rules = SharedRules(job.database, job.url_rules, self.board)
        self._moved = MovedSeeds(job.visits.notes, self.board)
        self._process = f"{worker}:{secrets.token_hex(8)}"
        self._told_pages = 0
        self._told_at = 0.0
        self._notices = Notices()
        self._stops = stops
        self.id = ""
        self.counts: Counts | None = None
        self.is_lost = False

    async def begin(self) -> None:
        """Join the fleet of the board, or begin it, and adopt its parameters."""
        self.id = await self.board.begin()
        await self._parameters.offer()
        await self.hear()
        if self._stops is None:
            self._stops = self._notices.stops

    @property
    def is_paused(self) -> bool:
        """Whether nothing is to be requested for now."""
        return self._notices.is_paused

    @property
    def is_stopped(self) -> bool:
        """Whether this worker was told to end since it began."""
        return self._stops is not None and self._notices.stops > self._stops

    @property
    def pages(self) -> int:
        """Pages that the fleet fetched so far, with those that this worker has not reported yet."""
        return self._notices.pages - self._notices.own_pages + self._result.pages

    async def tell(self, *, is_last: bool = False) -> None:
        await self._moved.tell()
        # Before their requests are through: where the fleet is finished, all pages are counted.
        if self._result.pages != self._told_pages:
            await self.count_pages()
        now = time.monotonic()
        if not is_last and now - self._told_at < INTERVAL_SECS:
            return
        self._told_at = now
        await self._parameters.tell()
        await self._rules.tell()

    async def count_pages(self) -> None:
        pages = self._result.pages
        await self.board.count_pages(self._process, pages)
        self._told_pages = pages

    async def hear(self) -> None:
        notices = await self.board.read(self._process)
        if notices.id != self.id:
            self.is_lost = True
            return
        if notices.is_paused != self.is_paused:
            went = "is paused: nothing is requested" if notices.is_paused else "goes on"
            logger.warning("the fleet %s", went)
        self._parameters.hear(notices)
        await self._rules.hear(notices)
        await self._moved.hear(notices)
        self._notices = notices
