"""Let a crawl take part in a fleet."""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from crawler.fleet.board import Board
from crawler.fleet.buffer import Buffer
from crawler.fleet.deduplication import FleetVerdicts
from crawler.fleet.membership import Membership, prefix_of
from crawler.fleet.news import News
from crawler.fleet.worker import Outbox, Worker
from crawler.frontier.frontier import Spellings
from crawler.frontier.redis import FleetError
from crawler.frontier.redis.shared_frontier import RedisFrontier
from crawler.frontier.seen import SeenKeys
from crawler.storage.errors import CrawlStorageError
from neardup.errors import ServerError
from neardup.plurals import many
from neardup.storage.redis.connecting import connect, place_of
from neardup.storage.redis.server import why_to_wait
from neardup.storage.redis.shared_deduplicator import SharedDeduplicator

if TYPE_CHECKING:
    from crawler.fleet.worker_crawl import FetchingCrawl, FleetOptions, WorkerJob
    from crawler.frontier.redis.counts import Counts
    from neardup.storage.redis.server import Server

WAIT_SECS = 0.5

logger = logging.getLogger(__name__)

SHARDS_OF_A_CLUSTER = 4
"""Parts of the frontier in a cluster, whose nodes share them; in one Redis they are only work.

The links of a batch go to most parts, and each part is a script of its own.
"""

CLOSE_SECS = 4.0
"""Wait at most this many seconds for Redis when a worker ends and gives back its leases."""


async def connect_again(url: str, prefix: str) -> Server:
    """Connect, and wait for the server while it is away.

    Raises:
        ServerError: It cannot be used.
    """
    waits = False
    while True:
        try:
            return await connect(url, prefix)
        except ServerError as error:
            if error.__cause__ is None or why_to_wait(error.__cause__) is None:
                raise
            if not waits:
                logger.warning("%s; waiting for it", error)
                waits = True
            await asyncio.sleep(WAIT_SECS)


@dataclass(frozen=True, slots=True)
class Welcome:
    """The state of the fleet that a joining worker reports."""

    counts: Counts
    others: int
    is_paused: bool
    warnings: tuple[str, ...]


class Fleet:
    """Connects a job to a fleet.

    Args:
        job: The crawl of this process, with a directory of its own.

    Raises:
        FleetError: The job has no directory.
    """

    def __init__(self, job: WorkerJob, options: FleetOptions) -> None:
        if job.folder is None:
            raise FleetError("a worker of a fleet needs a JOBDIR of its own")
        self._job = job
        self.options = options
        self.membership = Membership(job.database, job.folder)
        self.recent = job.frontier.seen = SeenKeys()
        job.frontier.spellings = Spellings()
        self.outbox: Outbox[Any] = Outbox()
        self.buffer = Buffer(job.database, job.frontier.queue, job.url_rules)
        self.worker: Worker | None = None
        self.news: News | None = None
        self._stops: int | None = None
        self._joining: asyncio.Task[None] | None = None
        self._server: Server | None = None
        self._verdicts: FleetVerdicts | None = None
        self.where = place_of(options.url)
        self.has_left = False

    def introduce(self) -> Welcome:
        """Check, before the crawl begins, whether this worker can take part.

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
        server = await connect(self.options.url, self._prefix)
        try:
            board = Board(server)
            self.membership.join(self.options.name, await board.begin())
            # First: from now on the fleet names this worker, so that it may be told to end.
            self._stops = (await board.read(f"{self.membership.worker}:")).stops
            frontier, _ = await self._open(server)
            heartbeat = await frontier.heartbeat()
            counts = await frontier.counts()
            await frontier.close()
            others, is_paused = heartbeat.alive - 1, (await board.read()).is_paused
            return Welcome(counts, others, is_paused, server.warnings)
        finally:
            await server.close()

    def join(self, crawl: FetchingCrawl) -> None:
        """Take part from now on, or as soon as Redis is reachable."""
        self._joining = asyncio.create_task(self._join(crawl))

    async def _join(self, crawl: FetchingCrawl) -> None:
        try:
            server = self._server = await connect_again(self.options.url, self._prefix)
            frontier, shared = await self._open(server)
            self._verdicts = FleetVerdicts(shared, server.prefix, crawl.fail)
            self._job.processor.share(self._verdicts)
            news = News(self._job, server, self.membership.worker, stops=self._stops)
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
        frontier.before_return.append(self._job.frontier.spellings.clear)
        self.news = news
        self.worker = Worker(frontier, self.buffer, self.outbox, news, self.options, crawl)
        self.worker.start()

    @property
    def _prefix(self) -> str:
        return prefix_of(self.options.name)

    async def _open(self, server: Server) -> tuple[RedisFrontier, SharedDeduplicator]:
        frontier = RedisFrontier(
            server,
            self.membership.worker,
            lease_secs=self.options.lease_secs,
            shards=self.options.shards or (SHARDS_OF_A_CLUSTER if server.is_cluster else 1),
            rest_secs=self.options.rest_secs,
        )
        parameters = self._job.processor.tuned.parameters
        identity = {
            "URLS_DISABLED_RULES": self._job.canonicalizer.version,
            "NEARDUP_FEATURES": str(parameters.fingerprint_features),
            "FLEET_LEASE_SECS": f"{self.options.lease_secs:g}",
        }
        plan = self._job.visits.plan or "requests of a spider of its own"
        await frontier.open(plan, identity)
        await frontier.retry_broken()
        shared = SharedDeduplicator(server, parameters)
        await shared.open()
        return frontier, shared

    @property
    def is_away(self) -> bool:
        """Whether Redis has been away too long for an ending worker to wait (``CLOSE_SECS``)."""
        since = None if self._server is None else self._server.outage.since
        return since is not None and time.time() - since > CLOSE_SECS

    @property
    def progress(self) -> str:
        """The fleet's part of a progress line."""
        counts = None if self.news is None else self.news.counts
        if counts is None:
            return "joining the fleet"
        queued = counts.waiting + counts.leased
        workers, pages = many(counts.workers, "worker"), many(self.pages, "page")
        return f"fleet: {workers}, {pages}, {queued:,} queued"

    @property
    def last_counts(self) -> Counts | None:
        """The counts of the fleet when this worker left it; None where it could not."""
        return self.news.counts if self.has_left and self.news is not None else None

    def give_up(self) -> None:
        """Cancel the questions of waiting pages; those pages are fetched again."""
        if self._verdicts is not None:
            self._verdicts.give_up()

    async def leave(self) -> None:
        """Leave the fleet; ``has_left`` says whether the fleet was told in time.

        If it was not, the leases of this worker return to the frontier after ``lease_secs``.
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
        """Whether requests may be made: the worker has joined, is neither overdue nor paused."""
        if self.worker is None or self.news is None or self.news.is_paused:
            return False
        return not self.worker.is_overdue

    def hurry(self) -> None:
        """Let the worker acknowledge at once what is through."""
        if self.worker is not None:
            self.worker.hurry()

    @property
    def is_finished(self) -> bool:
        return self.worker is not None and self.worker.is_finished

    @property
    def is_dry(self) -> bool:
        """Whether the frontier had no request for this worker when it was last asked."""
        return self.worker is not None and self.worker.is_dry

    @property
    def pages(self) -> int:
        return self._job.result.pages if self.news is None else self.news.pages
