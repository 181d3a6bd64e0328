"""Run the loop of a worker: send links, acknowledge finished requests, lease more."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections import deque
from contextlib import suppress
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from crawler.fleet.worker_crawl import HostShare
from crawler.storage.errors import CrawlStorageError
from neardup.errors import ServerError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from crawler.fleet.buffer import Buffer
    from crawler.fleet.news import News
    from crawler.fleet.worker_crawl import FetchingCrawl, FleetOptions
    from crawler.frontier.redis.shared_frontier import RedisFrontier
    from crawler.frontier.request_records import Leased, QueuedLink

N = TypeVar("N")

BATCH = 500
"""Send at most this many links at a time."""

MAX_WAITING = 5_000
"""Ask producers to pause while at least this many links wait."""


class Outbox(Generic[N]):
    """Holds links until the frontier has them, in the order in which they were found.

    A lease is acknowledged only after every link that was here when its page was finished has been
    sent: a worker that dies before loses links, but not their page.

    Attributes:
        added: Number of links that were ever added.
    """

    def __init__(self) -> None:
        self._links: deque[tuple[QueuedLink, N | None]] = deque()
        self.added = 0

    def add(self, link: QueuedLink, note: N | None = None) -> None:
        """Add a link.

        Args:
            link: Link that is to be queued.
            note: Value that ``flush`` returns if the fleet had the link already.
        """
        self._links.append((link, note))
        self.added += 1

    async def flush(
        self, push: Callable[[Sequence[QueuedLink]], Awaitable[Sequence[bool]]]
    ) -> list[N]:
        """Send the waiting links; an interrupted call loses none.

        Args:
            push: Function that queues links and returns of each whether it was new; it may queue
                a link twice.

        Returns:
            The notes of links that were not new.
        """
        known = []
        for _ in range(-(-len(self._links) // BATCH)):
            batch = list(islice(self._links, BATCH))
            is_new = await push([link for link, _ in batch])
            for (_, note), new in zip(batch, is_new, strict=True):
                self._links.popleft()
                if note is not None and not new:
                    known.append(note)
        return known

    @property
    def is_full(self) -> bool:
        """Whether producers that can pause should add no more links."""
        return len(self._links) >= MAX_WAITING

    def __len__(self) -> int:
        return len(self._links)


logger = logging.getLogger(__name__)

_AGAIN_SECS = 1.0

TICK_SECS = 0.1
DELIVERY_SECS = 0.3
"""Let links and finished requests wait for each other for at most this many seconds."""

MIN_DELIVERY = 4
"""Deliver when this many requests are through, at once where nothing more may be requested before.

A worker that waited for its next tick fetched a third fewer pages a second from a fast site.
"""

COUNT_SECS = 1.0
ASK_AGAIN_SECS = 0.5
"""Ask the frontier again after this many seconds if it had less than was asked for.

A hundred workers that ask in each tick would keep Redis busy.
"""
WATCH_SECS = 0.5
HEARTBEATS = 6
"""Send this many heartbeats within the time after which a silent worker is taken for dead."""


class RepeatingTasks:
    """Repeats tasks at intervals, and reports each failure.

    Args:
        fail: Callback for the reason why a task cannot go on.
    """

    def __init__(self, fail: Callable[[str], None]) -> None:
        self._fail = fail
        self._tasks: list[asyncio.Task[None]] = []
        self._is_over = False

    def start(
        self,
        act: Callable[[], Awaitable[object]],
        secs: float,
        sooner: asyncio.Event | None = None,
    ) -> None:
        """Run a function repeatedly, with this pause in seconds between two runs.

        Args:
            act: The function.
            secs: The pause.
            sooner: Ends a pause where it is set.
        """
        self._tasks.append(asyncio.create_task(self._repeat(act, secs, sooner or asyncio.Event())))

    async def stop(self) -> None:
        """Stop all tasks; a run under way may be completed or not."""
        self._is_over = True
        while self._tasks:
            for task in self._tasks:
                task.cancel()
            # Cancelled once more if a task did not notice.
            _, left = await asyncio.wait(self._tasks, timeout=_AGAIN_SECS)
            self._tasks = list(left)

    async def _repeat(
        self, act: Callable[[], Awaitable[object]], secs: float, sooner: asyncio.Event
    ) -> None:
        while not self._is_over and await self._attempt(act):
            sooner.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(secs):
                    await sooner.wait()

    async def _attempt(self, act: Callable[[], Awaitable[object]]) -> bool:
        """Run a function once; return whether it can be run again."""
        try:
            await act()
        except CrawlStorageError:  # the job remembers it, and the crawl ends
            return False
        except ServerError as error:
            self._fail(str(error))
            return False
        except Exception as error:  # a fault of ours: loudly, instead of a crawl that hangs
            logger.exception("this worker of the fleet cannot go on")
            self._fail(f"this worker cannot go on: {error!r}")
            return False
        return True


class Worker:
    """Moves requests between the fleet's frontier and the crawl of this process.

    In each tick, in this order: the finished requests are recorded; ``crawl.db`` is committed;
    every link that was found goes to the frontier; those requests are acknowledged. Whenever the
    process is killed, requests that are not acknowledged are fetched again by another worker, and
    those that are have their links in the frontier.

    Attributes:
        is_dry: Whether the frontier had no request for this worker when it was last asked.
    """

    def __init__(  # it is what holds them together
        self,
        frontier: RedisFrontier,
        buffer: Buffer,
        outbox: Outbox[Any],
        news: News,
        options: FleetOptions,
        crawl: FetchingCrawl,
    ) -> None:
        self._frontier = frontier
        self._buffer = buffer
        self._outbox = outbox
        self._news = news
        self._options = options
        self._crawl = crawl
        self._hosts = HostShare(options.max_hosts)
        frontier.before_return.append(self._lose_all)
        frontier.after_taking.append(crawl.take_over)
        self._repeating = RepeatingTasks(crawl.fail)
        self._ask_again = 0.0
        self._delivered = 0.0
        self._finished_at: int | None = None
        self._delays: dict[int, int] = {}
        self._hurry = asyncio.Event()
        self.is_dry = False

    def start(self) -> None:
        heartbeat_secs = self._options.lease_secs / HEARTBEATS
        self._repeating.start(self._tick, TICK_SECS, self._hurry)
        for act, secs in (
            (self._frontier.heartbeat, heartbeat_secs),
            (self._count, COUNT_SECS),
            (self._watch, WATCH_SECS),
        ):
            self._repeating.start(act, secs)

    def hurry(self) -> None:
        """Begin the next tick at once: the crawl waits for its requests to be acknowledged."""
        self._hurry.set()

    async def _tick(self) -> None:
        if await self.deliver(may_wait=True):
            await self._refill()
            await self._give_back_resting()
            await self._give_back_hosts()

    async def deliver(self, *, may_wait: bool = False) -> bool:
        """Send links and finished requests to the frontier; return False if nothing can be saved.

        An interrupted call is repeated from the start.

        Args:
            may_wait: Whether little may wait for more, to be sent together.
        """
        self._crawl.note_through()
        self._buffer.compare()
        await self._leave_alone()
        if may_wait and self._has_little:
            return True
        done, failed = self._buffer.ended()
        # Read before the links are sent: links found from here on belong to later pages.
        if (done or failed or self._outbox) and not self._crawl.save():
            return False
        await self._news.tell()
        if self._outbox and self._is_short:
            self._ask_again = 0.0
        self._delivered = time.monotonic()
        for note in await self._outbox.flush(self._frontier.push):
            self._crawl.note_known(note)
        if done or failed:
            await self._frontier.finish(done, failed)
            self._buffer.forget_ended(done, failed)
            self._crawl.wake()
        postponed = list(self._buffer.postponed)
        if postponed:
            await self._frontier.postpone(postponed)
            self._buffer.forget_postponed(postponed)
        await self._move()
        return True

    @property
    def _is_short(self) -> bool:
        """Whether this worker soon needs requests, to which the links that it found may lead."""
        return self._buffer.waiting <= self._options.max_leased // 4

    @property
    def _has_little(self) -> bool:
        is_hurried = self._hurry.is_set() or self._is_short
        is_late = time.monotonic() - self._delivered >= DELIVERY_SECS
        return not (is_hurried or is_late or self._buffer.unacknowledged >= MIN_DELIVERY)

    async def _leave_alone(self) -> None:
        """Publish pauses and delays of hosts before all else, so that they outlive a crash."""
        pauses = self._crawl.changed_pauses()
        if pauses:
            await self._frontier.pause(pauses)
            self._crawl.forget_changed(pauses)
        longer = {
            host: math.ceil(secs)
            for host in self._buffer.hosts
            # Longer than it would rest if this worker died now.
            if (secs := self._crawl.delay_secs(host))
            > max(self._options.rest_secs, self._delays.get(host, 0))
        }
        if longer:
            await self._frontier.delay(longer)
            self._delays |= longer

    async def _move(self) -> None:
        """Report the requests that rules took out of this worker's queue or put back into it."""
        moves = list(self._buffer.moves)
        for is_parked, group in groupby(moves, key=lambda move: move[0]):
            leases = [leased for _, leased in group]
            if is_parked:
                await self._frontier.park(leases)
            else:
                await self._frontier.unpark(leases)
        self._buffer.forget_moves(moves)

    async def _refill(self) -> None:
        if not self._crawl.wants_more or self._frontier.is_overdue or self._news.is_paused:
            await self._give_back(self._buffer.take_out())
            return
        room = self._options.max_leased - self._buffer.waiting
        if room < self._options.max_leased // 2 or time.monotonic() < self._ask_again:
            return
        rooms = self._hosts.rooms(self._buffer.hosts, self._crawl.most_of_a_host)
        incarnation = self._frontier.incarnation
        leased = await self._frontier.lease(room, rooms, most_hosts=self._hosts.share)
        wanted = min(room, sum(rooms.values()))
        if len(leased) < wanted or not leased:
            self._ask_again = time.monotonic() + ASK_AGAIN_SECS
        self.is_dry = not leased and not self._buffer.waiting
        if leased:
            # The board knows by now what led to these pages, such as a redirected seed.
            await self._news.hear()
            if incarnation is not None and incarnation == self._frontier.incarnation:
                self._take(leased)
            else:
                await self._let_go(leased)

    async def _let_go(self, leased: list[Leased]) -> None:
        """Give back leases of a time when this worker was taken for dead: some may be held."""
        await self._give_back(leased)
        hosts = {one.host for one in leased}
        await self._frontier.release({host: self._crawl.rest_secs(host) for host in hosts})

    def _take(self, leased: list[Leased]) -> None:
        now = time.monotonic()
        for one in leased:
            self._hosts.note(one.host, now)
            self._buffer.hold(one, is_fixed=self._crawl.is_fixed(one))
        self._crawl.wake()

    async def _give_back(self, leased: list[Leased]) -> None:
        if leased:
            await self._frontier.give_back(leased)

    async def _give_back_resting(self) -> None:
        """Give back the waiting requests of resting hosts, so that a free worker may have them."""
        resting = {host for host in self._buffer.hosts if self._crawl.is_resting(host)}
        if resting:
            await self._give_back(self._buffer.take_out(resting))

    async def _give_back_hosts(self) -> None:
        # A request put back by rules while this task waited binds its host: its lease is unknown.
        self._buffer.compare()
        idle = self._hosts.idle(self._buffer.hosts, self._buffer.has_parked, time.monotonic())
        if idle:
            await self._frontier.release({host: self._crawl.rest_secs(host) for host in idle})
            self._hosts.forget(idle)
            for host in idle:
                self._delays.pop(host, None)

    def _lose_all(self) -> None:
        self._buffer.clear()
        self._hosts.clear()
        self._delays.clear()
        self._crawl.lose_all()

    async def _watch(self) -> None:
        self._crawl.watch()

    async def _count(self) -> None:
        """Read the counts of the fleet, and compute this worker's share of hosts and its end."""
        added, is_idle = self._outbox.added, self._is_idle
        counts = await self._frontier.counts()
        await self._news.hear()
        if self._news.is_lost:
            self._crawl.fail("Redis has lost the fleet: restarted without what it held?")
            return
        if self._news.is_stopped:
            self._crawl.stop()
        self._news.counts = counts
        self._hosts.reckon(counts.hosts, counts.workers)
        surplus = self._hosts.surplus(self._buffer.hosts, self._buffer.has_parked)
        if surplus:
            await self._give_back(self._buffer.take_out(set(surplus)))
        self._finished_at = added if counts.is_finished and is_idle else None
        if self.is_finished:
            self._crawl.wake()

    @property
    def is_finished(self) -> bool:
        """Whether no work is left, here or anywhere, and no link was found since.

        A worker that is not dry has not yet tested its rules on skipped URLs, which comes last.
        """
        return self._finished_at == self._outbox.added and self._is_idle and self.is_dry

    @property
    def _is_idle(self) -> bool:
        return not self._outbox and self._buffer.is_idle

    @property
    def is_overdue(self) -> bool:
        """Whether others may soon take this worker for dead, and request from the hosts it owns."""
        return self._frontier.is_overdue

    async def leave(self) -> None:
        """Deliver all results, and give back the requests that were not begun."""
        await self.deliver()
        if self.is_finished:
            for parked in self._buffer.parked():
                await self._frontier.finish(parked, ())
        await self._news.tell(is_last=True)
        await self._news.hear()
        # By its robots.txt a host may have to rest for longer than the hosts of a dead worker.
        rests = {host: self._crawl.rest_secs(host) for host in self._frontier.owned}
        await self._frontier.release(rests)
        await self._frontier.close()
        self._news.counts = await self._frontier.counts()

    async def stop(self) -> None:
        """Stop working; a call to Redis under way may be completed or not."""
        await self._repeating.stop()
