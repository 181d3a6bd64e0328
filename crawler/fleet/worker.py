"""The loop of a worker: what is found goes out, what is through is acknowledged, more comes in."""

from __future__ import annotations

import asyncio
import logging
import time
from itertools import groupby
from typing import TYPE_CHECKING, Any

from crawler.fleet.host_share import HostShare
from crawler.storage.errors import CrawlStorageError
from neardup import ServerError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from crawler.fleet.buffer import Buffer
    from crawler.fleet.news import News
    from crawler.fleet.outbox import Outbox
    from crawler.fleet.worker_crawl import Crawl, FleetOptions
    from crawler.frontier.redis.request_records import Leased
    from crawler.frontier.redis.shared_frontier import RedisFrontier

logger = logging.getLogger(__name__)

_AGAIN_SECS = 1.0

TICK_SECS = 0.1
COUNT_SECS = 1.0
ASK_AGAIN_SECS = 0.5
"""A frontier that had less than it was asked for is left alone for so long, by this worker: a
hundred of them that ask in each tick would keep Redis busy."""
WATCH_SECS = 0.5
BEATS = 6
"""Signs of life within the time after which a silent worker is taken for dead."""


class RepeatingTasks:
    """Tasks that each do one thing at intervals; none of them dies in silence.

    Args:
        fail: Told once why a task cannot go on.
    """

    def __init__(self, fail: Callable[[str], None]) -> None:
        self._fail = fail
        self._tasks: list[asyncio.Task[None]] = []
        self._is_over = False

    def start(self, act: Callable[[], Awaitable[None]], secs: float) -> None:
        """Do something from now on, each time after so many seconds."""
        self._tasks.append(asyncio.create_task(self._repeat(act, secs)))

    async def stop(self) -> None:
        """Do nothing more; what was under way may be done or not."""
        self._is_over = True
        while self._tasks:
            for task in self._tasks:
                task.cancel()
            # Again, where one did not notice.
            _, left = await asyncio.wait(self._tasks, timeout=_AGAIN_SECS)
            self._tasks = list(left)

    async def _repeat(self, act: Callable[[], Awaitable[None]], secs: float) -> None:
        while not self._is_over and await self._attempt(act):
            await asyncio.sleep(secs)

    async def _attempt(self, act: Callable[[], Awaitable[None]]) -> bool:
        """Do something; say whether it can be done again."""
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

    In each tick, in this order: it is noted which requests are through; ``crawl.db``
    is committed; every link that was found goes to the frontier; those requests are
    acknowledged. Whenever the process is killed, what is not acknowledged is fetched
    again by somebody, and what is acknowledged has its links in the frontier.

    Args:
        frontier: That of the fleet, opened.
        buffer: What this worker holds.
        outbox: Where the crawl puts the links that it finds.
        news: What all workers are to know.
        options: What the worker is told.
        crawl: The one who fetches.

    Attributes:
        is_dry: Whether the frontier had nothing for this worker when it was last asked.
    """

    def __init__(  # it is what holds them together
        self,
        frontier: RedisFrontier,
        buffer: Buffer,
        outbox: Outbox[Any],
        news: News,
        options: FleetOptions,
        crawl: Crawl,
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
        self._finished_at: int | None = None
        self.is_dry = False

    def start(self) -> None:
        """Begin to work."""
        beat_secs = self._options.lease_secs / BEATS
        for act, secs in (
            (self._tick, TICK_SECS),
            (self._beat, beat_secs),
            (self._count, COUNT_SECS),
            (self._watch, WATCH_SECS),
        ):
            self._repeating.start(act, secs)

    async def _tick(self) -> None:
        if await self.deliver():
            await self._refill()
            await self._give_back_resting()
            await self._give_back_hosts()

    async def deliver(self) -> bool:
        """Tell the frontier what was found and what is through; False where nothing can be saved.

        May be stopped in the middle, and is then done again from the start.
        """
        self._crawl.note_through()
        self._buffer.compare()
        await self._leave_alone()
        done, failed = self._buffer.ended()
        # Noted before the links are sent: what is found from here on belongs to later pages.
        if (done or failed or self._outbox) and not self._crawl.save():
            return False
        await self._news.tell()
        if self._outbox:
            self._ask_again = 0.0
        for note in await self._outbox.flush(self._frontier.push):
            self._crawl.note_known(note)
        if done or failed:
            await self._frontier.finish(done, failed)
            self._buffer.forget_ended(done, failed)
        postponed = self._buffer.postponed()
        if postponed:
            await self._frontier.postpone(postponed)
            self._buffer.forget_postponed(postponed)
        await self._move()
        return True

    async def _leave_alone(self) -> None:
        """Tell the fleet which hosts refused, first of all: it is to hold if this worker dies."""
        pauses = self._crawl.changed_pauses()
        if pauses:
            await self._frontier.pause(pauses)
            self._crawl.forget_changed(pauses)

    async def _move(self) -> None:
        """Tell the frontier what rules took out of this worker's queue, and put back into it."""
        moves = list(self._buffer.moves)
        for is_parked, group in groupby(moves, key=lambda move: move[0]):
            leases = [leased for _, leased in group]
            if is_parked:
                await self._frontier.park(leases)
            else:
                await self._frontier.unpark(leases)
        self._buffer.forget_moves(moves)

    async def _refill(self) -> None:
        """Lease what there is room for."""
        if not self._crawl.wants_more or self._frontier.is_overdue:
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
            # What led to these pages, such as a seed that was redirected, is known by then.
            await self._news.hear()
            if incarnation is not None and incarnation == self._frontier.incarnation:
                self._take(leased)
            else:
                await self._let_go(leased)

    async def _let_go(self, leased: list[Leased]) -> None:
        """Give back what was leased while this worker was taken for dead: some may be held."""
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
        """Keep nothing waiting of hosts that rest: whoever is free then may have them."""
        resting = {host for host in self._buffer.hosts if self._crawl.is_resting(host)}
        if resting:
            await self._give_back(self._buffer.take_out(resting))

    async def _give_back_hosts(self) -> None:
        # What rules put back while this task waited binds a host: its lease is not known yet.
        self._buffer.compare()
        idle = self._hosts.idle(self._buffer.hosts, self._buffer.has_parked, time.monotonic())
        if idle:
            await self._frontier.release({host: self._crawl.rest_secs(host) for host in idle})
            self._hosts.forget(idle)

    async def _beat(self) -> None:
        await self._frontier.beat()

    def _lose_all(self) -> None:
        self._buffer.clear()
        self._hosts.clear()
        self._crawl.lose_all()

    async def _watch(self) -> None:
        self._crawl.watch()

    async def _count(self) -> None:
        """See how the fleet stands: whether it is finished, and how many hosts are whose."""
        added, is_idle = self._outbox.added, self._is_idle
        counts = await self._frontier.counts()
        await self._news.hear()
        if self._news.is_lost:
            self._crawl.fail("Redis has lost the fleet: restarted without what it held?")
            return
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
        """Whether nothing is left to do, here or anywhere, and nothing was found since.

        A worker that is not dry has not tried its rules by what they skip, as the last thing.
        """
        return self._finished_at == self._outbox.added and self._is_idle and self.is_dry

    @property
    def _is_idle(self) -> bool:
        return not self._outbox and self._buffer.is_idle

    @property
    def is_overdue(self) -> bool:
        """Whether others may soon take this worker for dead, and ask the hosts that it owns."""
        return self._frontier.is_overdue

    async def leave(self) -> None:
        """Say what there is to say, and give back what was not begun."""
        await self.deliver()
        if self.is_finished:
            for parked in self._buffer.parked():
                await self._frontier.finish(parked, ())
        await self._news.tell(is_last=True)
        await self._news.hear()
        # A host may have to rest for longer than those of a worker that died: by its robots.txt.
        rests = {host: self._crawl.rest_secs(host) for host in self._frontier.owned}
        await self._frontier.release(rests)
        await self._frontier.close()
        self._news.counts = await self._frontier.counts()

    async def stop(self) -> None:
        """Work no more; what was under way in Redis may be done or not."""
        await self._repeating.stop()
