"""The queue and the seen set of a fleet of crawlers, in one Redis."""

from __future__ import annotations

import asyncio
import secrets
import time
from itertools import chain
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeVar

from crawler.frontier.redis.counts import summed, total
from crawler.frontier.redis.shard import Leasing, Shard
from crawler.frontier.redis.workers import FleetMembers

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence

    from crawler.frontier.pauses import SharedPause
    from crawler.frontier.redis.counts import Counts, ShardCounts, WorkerCounts
    from crawler.frontier.redis.shard import Move, Outcome
    from crawler.frontier.request_records import Leased, QueuedLink
    from neardup.storage.redis.server import Server

FORMAT_VERSION = 6
"""Version of the format in Redis, raised with every change of it."""

T = TypeVar("T")
Q = TypeVar("Q", "Leased", "QueuedLink")


class Heartbeat(NamedTuple):
    """The result of a worker's heartbeat.

    Attributes:
        lost: Whether this worker was taken for dead: it owns no host and has no lease any more.
        alive: Number of workers that take part.
        returned: Names of workers whose leases this one has just returned.
    """

    lost: bool
    alive: int
    returned: tuple[str, ...]


class RedisFrontier:
    """Leases requests to workers as ``crawler.frontier.order`` says, each host to one of them.

    Everything about a host is in one shard, and a script changes a shard in one step.
    A request is leased until ``finish`` reports its outcome;
    the requests of a dead worker wait again. Every call may be carried out twice, because
    its answer was lost, and does no harm.

    Args:
        server: The server of the fleet; its prefix is the fleet's name there.
        worker: The name of this worker, which it keeps where it starts again.
        lease_secs: Seconds without a heartbeat after which a worker is dead.
        shards: Number of parts that may be in different nodes of a cluster; fixed when the fleet
            begins.
        rest_secs: How long the hosts of this worker rest at least when it dies.

    Attributes:
        owned: Hosts that this worker owns.
        before_return: Functions called where this worker was taken for dead, before it enters
            again: the requests that it held are not its own any more, those it is given later are.
        after_taking: Functions called with each host that this worker owns from now on, and its
            last pause; None where it has answered well since.
    """

    def __init__(
        self,
        server: Server,
        worker: str,
        *,
        lease_secs: float = 60,
        shards: int = 16,
        rest_secs: float = 0,
    ) -> None:
        self._shards = [Shard(server, number, worker) for number in range(shards)]
        self._members = FleetMembers(server, worker, lease_secs)
        self._worker = worker
        self._lease_secs = lease_secs
        self._rest_secs = rest_secs
        self._last_heartbeat = time.monotonic()
        self._first = 0
        self.owned: set[int] = set()
        self.before_return: list[Callable[[], None]] = []
        self.after_taking: list[Callable[[int, SharedPause | None], None]] = []
        self._incarnation = ""
        self._is_entering = False

    async def open(self, plan: str, identity: Mapping[str, str]) -> None:
        """Join the fleet; the requests that this worker held when it died wait again.

        Args:
            plan: The plan of the fleet's crawl.
            identity: Further values that all workers must have in common.

        Raises:
            FleetError: The fleet is another one; the message names the difference.
        """
        own = {"plan": plan, "format": str(FORMAT_VERSION), "shards": str(len(self._shards))}
        await self._members.begin({**identity, **own})
        await self._enter()

    async def retry_broken(self) -> None:
        """Let requests that broke at every try wait again if no other worker has anything to do."""
        counts = await self.counts()
        if counts.failed and (counts.is_finished or counts.workers == 1):
            await _all(shard.retry_broken() for shard in self._shards)

    async def _enter(self) -> None:
        self._incarnation, self._is_entering = secrets.token_hex(8), True
        self._last_heartbeat = time.monotonic()
        # First, so that an incarnation that is found in a shard is always found here too.
        before = await self._members.enrol(self._incarnation)
        await _all(shard.enter(self._incarnation, self._rest_secs) for shard in self._shards)
        if before:
            await self._members.forget(self._worker, before)
        self.owned.clear()
        self._is_entering = False

    @property
    def incarnation(self) -> str | None:
        """A new one each time that this worker enters; None while it does.

        A request that is leased while it changes may be held or not: the caller gives it back.
        """
        return None if self._is_entering else self._incarnation

    async def push(self, links: Sequence[QueuedLink]) -> list[bool]:
        """Queue the links whose keys are new; return of each whether it was queued.

        Check and add are one step with queueing, in each shard. A link without a key is
        always queued.
        """
        return await self._answers(links, Shard.push)

    async def _answers(
        self, asked: Sequence[Q], ask: Callable[[Shard, list[Q]], Awaitable[list[bool]]]
    ) -> list[bool]:
        """Ask each shard about what is its own; return the answers in the order of the asked."""
        placed = self._by_shard((one.host, at) for at, one in enumerate(asked))
        found = await _all(
            ask(self._shards[number], [asked[at] for at in places])
            for number, places in placed.items()
        )
        pairs = zip(chain(*placed.values()), chain(*found), strict=True)
        return [answer for _, answer in sorted(pairs)]

    async def lease(
        self, most: int, hosts: Mapping[int, int], *, most_hosts: int, room: int = 8
    ) -> list[Leased]:
        """Lease requests to be made now, until ``finish``, ``park`` or ``give_back``.

        Each shard returns the most urgent first and hosts in turn; the shards are asked alike.

        Args:
            most: Number of requests, at most.
            hosts: Hosts that this worker owns, with how many more requests each may have.
            most_hosts: Number of hosts that it may own.
            room: Number of requests for a host that it did not own.

        Complexity: one round to the server, two where shards have too little; O(log n) a request.
        """
        mine = [(host, more) for host, more in hosts.items() if host in self.owned and more > 0]
        rooms = self._by_shard((host, (host, more)) for host, more in mine)
        leasing = Leasing(
            most,
            max(0, most_hosts - len(self.owned)),
            room,
            {number: dict(some) for number, some in rooms.items()},
            self._in_turn(),
        )
        pauses: dict[int, SharedPause] = {}
        while wishes := leasing.wishes():
            found = await _all(
                self._shards[number].lease(wish, room) for number, wish in wishes.items()
            )
            for (number, wish), (some, paused) in zip(wishes.items(), found, strict=True):
                leasing.answer(number, wish, some)
                pauses |= paused
        self.owned |= leasing.taken
        for host in leasing.taken:
            for act in self.after_taking:
                act(host, pauses.get(host))
        return leasing.leased

    def _in_turn(self) -> list[int]:
        """Return the shards, each time with another one first."""
        self._first = (self._first + 1) % len(self._shards)
        return [*range(self._first, len(self._shards)), *range(self._first)]

    async def finish(self, done: Collection[Leased], failed: Collection[Leased]) -> None:
        """End the leases of requests that are through, or that broke.

        A request that broke is tried once more, by the next owner of its host; one that breaks
        again is stored apart as failed. A request that is through may be parked too, or back in the
        queue because this worker was taken for dead.
        """
        ended: list[tuple[int, tuple[Outcome, bytes]]]
        ended = [(one.host, ("done", one.id)) for one in done]
        ended += [(one.host, ("failed", one.id)) for one in failed]
        await self._tell(ended, Shard.finish)

    async def _tell(
        self, of_hosts: Iterable[tuple[int, T]], tell: Callable[[Shard, list[T]], Awaitable[None]]
    ) -> None:
        """Tell each shard what is its own."""
        placed = self._by_shard(of_hosts)
        await _all(tell(self._shards[number], some) for number, some in placed.items())

    async def park(self, leased: Sequence[Leased]) -> None:
        """Keep requests that are not made for now: they count neither as waiting nor as leased.

        They wait again when this worker dies or closes.
        """
        await self._move("park", leased)

    async def unpark(self, parked: Sequence[Leased]) -> list[bool]:
        """Lease parked requests of hosts that this worker owns; return of each whether it was.

        The others wait in the queue.
        """
        return await self._move("unpark", parked)

    async def give_back(self, leased: Sequence[Leased]) -> None:
        """Let leased or parked requests wait again, in their place."""
        await self._move("give_back", leased)

    async def postpone(self, leased: Sequence[Leased]) -> None:
        """Let leased requests wait again, with another priority and content."""
        await self._tell(((one.host, one) for one in leased), Shard.postpone)

    async def pause(self, pauses: Mapping[int, SharedPause | None]) -> None:
        """Pause hosts of this worker, also for their next owners; None ends a pause."""
        await self._tell(((pair[0], pair) for pair in pauses.items()), Shard.pause)

    async def delay(self, hosts: Mapping[int, float]) -> None:
        """Let hosts of this worker rest for at least the given seconds where it dies."""
        await self._rest("delay", hosts)

    async def _rest(self, move: Literal["release", "delay"], hosts: Mapping[int, float]) -> None:
        of_hosts = ((pair[0], pair) for pair in hosts.items())
        await self._tell(of_hosts, lambda shard, some: shard.rest(move, some))

    async def _move(self, move: Move, requests: Sequence[Leased]) -> list[bool]:
        return await self._answers(requests, lambda shard, some: shard.move(move, some))

    async def release(self, hosts: Mapping[int, float]) -> None:
        """Give hosts back with their waiting requests, each after a rest of the given seconds.

        A host with a ``pause`` longer than that rests as long as the pause.

        The caller has no requests of these hosts under way any more.
        """
        await self._rest("release", hosts)
        self.owned.difference_update(hosts)

    async def heartbeat(self) -> Heartbeat:
        """Send a heartbeat, and return the requests of dead workers to the queue.

        Call it at least three times in the time-out; below twice, no worker is ever taken for dead.
        """
        began = time.monotonic()
        roll = await self._members.heartbeat(self._incarnation)
        await _all(shard.check() for shard in self._shards)
        lost = not roll.is_known or any(shard.is_lost for shard in self._shards)
        if lost:
            for act in self.before_return:
                act()
            await self._enter()
        else:
            self._last_heartbeat = began
        for incarnation, name in roll.dead.items():
            await self._reap(name, incarnation)
        return Heartbeat(lost, len(roll.alive), tuple(sorted(set(roll.dead.values()))))

    async def _reap(self, worker: str, incarnation: str) -> None:
        await _all(shard.reap(worker, incarnation) for shard in self._shards)
        await self._members.forget(worker, incarnation)

    @property
    def is_overdue(self) -> bool:
        """Whether others may soon take this worker for dead: it should lease nothing more."""
        return time.monotonic() - self._last_heartbeat > self._lease_secs * 2 / 3

    async def counts(self) -> Counts:
        """Return the counts of the fleet, read twice where it seems to be finished."""
        once = await self._collect()
        is_finished = all(shard.is_idle for shard in once)
        if is_finished:
            again = await self._collect()
            is_finished = [one.changes for one in once] == [one.changes for one in again]
        alive = await self._members.alive()
        return summed(once, len(alive), is_finished=is_finished)

    async def _collect(self) -> list[ShardCounts]:
        return await _all(shard.counts() for shard in self._shards)

    async def workers(self) -> dict[str, WorkerCounts]:
        """Return the counts of each worker by name, including dead ones not returned yet."""
        shards = await self._collect()
        names = await self._members.alive() | {name for one in shards for name in one.workers}
        return {
            name: total(shard.workers[name] for shard in shards if name in shard.workers)
            for name in sorted(names)
        }

    async def close(self) -> None:
        """Leave the fleet; everything that this worker holds waits again."""
        await self._reap(self._worker, self._incarnation)
        self.owned.clear()

    def _by_shard(self, of_hosts: Iterable[tuple[int, T]]) -> dict[int, list[T]]:
        placed: dict[int, list[T]] = {}
        for host, one in of_hosts:
            placed.setdefault(host % len(self._shards), []).append(one)
        return placed


async def _all(calls: Iterable[Awaitable[T]]) -> list[T]:
    """Await calls at the same time, a single one without a task; return their results in order."""
    every = list(calls)
    return [await every[0]] if len(every) == 1 else await asyncio.gather(*every)
