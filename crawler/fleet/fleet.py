"""A crawl's part in a fleet: everything that it has beside what a crawl has that is alone."""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from crawler.fleet.board import Board
from crawler.fleet.buffer import Buffer
from crawler.fleet.connecting import connect_again
from crawler.fleet.deduplication import FleetVerdicts
from crawler.fleet.membership import Membership
from crawler.fleet.names import prefix_of, shown_url
from crawler.fleet.news import News
from crawler.fleet.outbox import Outbox
from crawler.fleet.shared_seen import RecentKeys, RecentSpellings
from crawler.fleet.worker import Worker
from crawler.frontier.queue import RequestQueue
from crawler.frontier.redis.errors import FleetError
from crawler.frontier.redis.shared_frontier import RedisFrontier
from crawler.storage.errors import CrawlStorageError
from neardup import ServerError
from neardup.storage.redis.connecting import connect
from neardup.storage.redis.shared_deduplicator import SharedDeduplicator

if TYPE_CHECKING:
    from crawler.fleet.worker_crawl import Crawl, FleetOptions
    from crawler.frontier.redis.counts import Counts
    from crawler.job import Job
    from neardup.storage.redis.server import Server

logger = logging.getLogger(__name__)

CLOSE_SECS = 4.0
"""A worker that ends waits so long for Redis, to give back what it holds."""


@dataclass(frozen=True, slots=True)
class Welcome:
    """What is to be said when a worker joins.

    Attributes:
        counts: What the fleet has.
        others: Workers beside this one.
        warnings: What is to be known of the Redis.
    """

    counts: Counts
    others: int
    warnings: tuple[str, ...]


class Fleet:
    """Wires a job so that it takes part in a fleet.

    Args:
        job: The crawl of this process, with a directory of its own.
        options: What the worker is told.

    Raises:
        FleetError: The directory holds something else.
    """

    def __init__(self, job: Job, options: FleetOptions) -> None:
        if job.folder is None or not isinstance(job.queue, RequestQueue):
            raise FleetError("a worker of a fleet needs a JOBDIR of its own")
        self._job = job
        self.options = options
        self.membership = Membership(job.database, job.folder)
        self.membership.check(options.name)
        self.recent = job.seen = RecentKeys()
        self.recent_spellings = job.spellings = RecentSpellings()
        self.outbox: Outbox[Any] = Outbox()
        self.buffer = Buffer(job.database, job.queue, job.url_rules)
        self.worker: Worker | None = None
        self.news: News | None = None
        self._joining: asyncio.Task[None] | None = None
        self._server: Server | None = None
        self._verdicts: FleetVerdicts | None = None
        self.where = shown_url(options.url)
        self.has_left = False

    def introduce(self) -> Welcome:
        """Look, before the crawl begins, whether this worker can take part.

        Raises:
            FleetError: The fleet is another one than this worker's.
            ServerError: The Redis cannot be used.
        """
        loop = asyncio.new_event_loop()
        try:
            return loop.run_until_complete(self._introduce())
        finally:
            loop.close()

    async def _introduce(self) -> Welcome:
        server = await self._connect()
        try:
            self.membership.join(self.options.name, await Board(server).begin())
            frontier = self._frontier_of(server)
            await frontier.open(self._plan, self._identity)
            await self._deduplicator_of(server).open()
            beat = await frontier.beat()
            counts = await frontier.counts()
            await frontier.close()
            return Welcome(counts, beat.alive - 1, server.warnings)
        finally:
            await server.close()

    def join(self, crawl: Crawl) -> None:
        """Take part from now on; where Redis is away again, as soon as it is back."""
        self._joining = asyncio.create_task(self._join(crawl))

    async def _join(self, crawl: Crawl) -> None:
        try:
            server = self._server = await connect_again(self.options.url, self._prefix)
            frontier = self._frontier_of(server)
            await frontier.open(self._plan, self._identity)
            shared = self._deduplicator_of(server)
            await shared.open()
            self._verdicts = FleetVerdicts(shared)
            self._job.archivist.share(self._verdicts)
            news = News(self._job, server)
            await news.begin()
            self.membership.join(self.options.name, news.id)
        except (FleetError, ServerError, CrawlStorageError) as error:
            crawl.fail(str(error))
            return
        except Exception as error:  # as in a worker: loudly, instead of a crawl that hangs
            logger.exception("this worker cannot join the fleet")
            crawl.fail(f"this worker cannot join the fleet: {error!r}")
            return
        # Redis may have lost links with what this worker held: they are sent again where met again.
        frontier.before_return.append(self.recent.clear)
        frontier.before_return.append(self.recent_spellings.clear)
        self.news = news
        self.worker = Worker(frontier, self.buffer, self.outbox, news, self.options, crawl)
        self.worker.start()

    async def _connect(self) -> Server:
        return await connect(self.options.url, self._prefix)

    @property
    def _prefix(self) -> str:
        return prefix_of(self.options.name)

    def _frontier_of(self, server: Server) -> RedisFrontier:
        return RedisFrontier(
            server,
            self.membership.worker,
            lease_secs=self.options.lease_secs,
            shards=self.options.shards,
            rest_secs=self.options.rest_secs,
        )

    def _deduplicator_of(self, server: Server) -> SharedDeduplicator:
        return SharedDeduplicator(server, self._job.archivist.tuned.parameters)

    @property
    def _plan(self) -> str:
        return self._job.plan or "requests of a spider of its own"

    @property
    def _identity(self) -> dict[str, str]:
        """What all workers of a fleet must have in common."""
        features = self._job.archivist.tuned.parameters.fingerprint_features
        return {
            "URLS_DISABLED_RULES": self._job.canonicalizer.version,
            "NEARDUP_FEATURES": str(features),
            "FLEET_LEASE_SECS": f"{self.options.lease_secs:g}",
        }

    @property
    def is_away(self) -> bool:
        """Whether Redis has been waited for so long that a worker that ends waits no longer."""
        since = None if self._server is None else self._server.waited_since
        return since is not None and time.time() - since > CLOSE_SECS

    @property
    def progress(self) -> str:
        """What a line of progress says of the fleet."""
        counts = None if self.news is None else self.news.counts
        if counts is None:
            return "joining the fleet"
        queued = counts.waiting + counts.leased
        return f"fleet: {counts.workers:,} workers, {self.pages:,} pages, {queued:,} queued"

    def give_up(self) -> None:
        """Let no page wait for Redis any more; those that do are fetched again."""
        if self._verdicts is not None:
            self._verdicts.give_up()

    async def leave(self) -> None:
        """Take part no more; ``has_left`` says whether the fleet was told in time.

        Where it was not, what this worker holds goes back after ``lease_secs``.
        """
        if self._joining is not None:
            self._joining.cancel()
            await asyncio.wait([self._joining], timeout=CLOSE_SECS)
        self.give_up()
        try:
            if self.worker is not None:
                await self.worker.stop()
                async with asyncio.timeout(CLOSE_SECS):
                    await self.worker.leave()
                self.has_left = True
        except (TimeoutError, ServerError, CrawlStorageError) as error:
            logger.debug("left without a word: %r", error)
        finally:
            if self._server is not None:
                await self._server.close()
            with suppress(CrawlStorageError):
                self.buffer.clear()

    @property
    def is_open(self) -> bool:
        """Whether requests may be made: it has joined, and the others know that it lives."""
        return self.worker is not None and not self.worker.is_overdue

    @property
    def is_finished(self) -> bool:
        """Whether nothing is left to do, here or anywhere."""
        return self.worker is not None and self.worker.is_finished

    @property
    def is_dry(self) -> bool:
        """Whether the frontier had nothing for this worker when it was last asked."""
        return self.worker is not None and self.worker.is_dry

    @property
    def pages(self) -> int:
        """Pages that all workers fetched."""
        return self._job.pages if self.news is None else self.news.pages
