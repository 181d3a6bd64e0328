"""What a worker tells all others, and hears of them."""

from __future__ import annotations

import secrets
import time
from typing import TYPE_CHECKING

from crawler.fleet.board import Board, Notices
from crawler.fleet.moved_seeds import MovedSeeds
from crawler.fleet.shared_parameters import SharedParameters
from crawler.fleet.shared_rules import SharedRules

if TYPE_CHECKING:
    from crawler.frontier.redis.counts import Counts
    from crawler.job import Job
    from neardup.storage.redis.server import Server

INTERVAL_SECS = 0.5
"""So often is told what is not urgent."""


class News:
    """Everything that is shared beside requests and texts.

    Args:
        job: That of the worker.
        server: The fleet's Redis.

    Attributes:
        counts: What the fleet has, as it was last asked; None before that.
        is_lost: Whether Redis does not know the fleet any more.
    """

    def __init__(self, job: Job, server: Server) -> None:
        self._job = job
        self.board = Board(server)
        self._parameters = SharedParameters(job.database, job.archivist, self.board)
        self._rules = SharedRules(job.database, job.url_rules, self.board)
        self._moved = MovedSeeds(job, self.board)
        self._process = secrets.token_hex(8)
        self._told_pages = 0
        self._told_at = 0.0
        self._notices = Notices()
        self.id = ""
        self.counts: Counts | None = None
        self.is_lost = False

    async def begin(self) -> None:
        """Join the fleet that the board is of, or begin it; judge as it does."""
        self.id = await self.board.begin()
        await self._parameters.offer()
        await self.hear()

    @property
    def pages(self) -> int:
        """Pages that the fleet fetched so far, with those of this worker that it was not told."""
        return self._notices.pages - self._notices.own_pages + self._job.pages

    async def tell(self, *, is_last: bool = False) -> None:
        """Tell what is new here."""
        await self._moved.tell()
        # Before their requests are through: where the fleet is finished, all pages are counted.
        if self._job.pages != self._told_pages:
            await self.count_pages()
        now = time.monotonic()
        if not is_last and now - self._told_at < INTERVAL_SECS:
            return
        self._told_at = now
        await self._parameters.tell()
        await self._rules.tell()

    async def count_pages(self) -> None:
        """Tell how many pages this process fetched."""
        pages = self._job.pages
        await self.board.count_pages(self._process, pages)
        self._told_pages = pages

    async def hear(self) -> None:
        """Take over what is new at the others."""
        notices = await self.board.read(self._process)
        if notices.id != self.id:
            self.is_lost = True
            return
        self._parameters.hear(notices)
        await self._rules.hear(notices)
        await self._moved.hear(notices)
        self._notices = notices
