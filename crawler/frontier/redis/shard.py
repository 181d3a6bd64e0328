"""One shard of the fleet's queue: its hosts, their requests and their seen keys."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

from crawler.frontier.queue import MAX_TRIES
from crawler.frontier.redis.counts import ShardCounts
from crawler.frontier.request_records import (
    pack,
    pack_changed,
    pack_host,
    pack_pause,
    unpack,
    unpack_host,
    unpack_pause,
)
from neardup.storage.redis.commands import Script

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from crawler.frontier.pauses import SharedPause
    from crawler.frontier.request_records import Leased, QueuedLink
    from neardup.storage.redis.server import Server


class Wish(NamedTuple):
    """The requests that a worker wants from a shard.

    Attributes:
        more_hosts: Number of hosts that it may own in addition.
        hosts: The hosts that it owns, with how many more requests each may have.
    """

    requests: int
    more_hosts: int
    hosts: Mapping[int, int]


class Leasing:
    """One lease of a worker, in rounds: if a shard has too few requests, the others are asked.

    Args:
        most: Number of requests, at most.
        more_hosts: Number of free hosts that may be owned in addition.
        room: Number of requests that each of those may have.
        hosts: Number of requests that each owned host may have in addition, by shard.
        order: The shards; the first ones are asked where there are fewer requests than shards.
    """

    def __init__(
        self,
        most: int,
        more_hosts: int,
        room: int,
        hosts: Mapping[int, Mapping[int, int]],
        order: Sequence[int],
    ) -> None:
        self.leased: list[Leased] = []
        self.taken: set[int] = set()
        self._most = most
        self._more_hosts = more_hosts
        self._room = room
        self._rooms = {shard: dict(rooms) for shard, rooms in hosts.items()}
        self._order = list(order)

    def wishes(self) -> dict[int, Wish]:
        """Return the wishes for this round, by shard; none where the lease is complete.

        Complexity: O(shards + hosts that are owned).
        """
        requests, more_hosts = self._most - len(self.leased), self._more_hosts - len(self.taken)
        asked = [one for one in self._order if more_hosts or self._rooms.get(one)][:requests]
        shares = zip(_shares(requests, asked), _shares(more_hosts, asked), strict=True)
        wishes = {
            shard: Wish(requests, more_hosts, self._rooms.get(shard, {}))
            for shard, (requests, more_hosts) in zip(asked, shares, strict=True)
        }
        return {one: wish for one, wish in wishes.items() if wish.more_hosts or wish.hosts}

    def answer(self, shard: int, wish: Wish, leased: Sequence[Leased]) -> None:
        """Note the answer of a shard; the shard is asked again where it may have more."""
        rooms = self._rooms.setdefault(shard, {})
        taken = {one.host for one in leased} - rooms.keys()
        rooms.update(dict.fromkeys(taken, self._room))
        for one in leased:
            rooms[one.host] -= 1
        self._rooms[shard] = {host: more for host, more in rooms.items() if more > 0}
        self.leased += leased
        self.taken |= taken
        if len(leased) == wish.requests:
            return
        if not wish.more_hosts:
            # Its free hosts may still be asked for, where another shard does not take them all.
            self._rooms[shard] = {}
        elif len(taken) < wish.more_hosts:
            self._order.remove(shard)


def _shares(number: int, among: Sequence[int]) -> list[int]:
    """Return a number in parts as equal as possible, the first the largest."""
    if not among:
        return []
    each, more = divmod(number, len(among))
    return [each + (at < more) for at in range(len(among))]


logger = logging.getLogger(__name__)

KEPT_SECS = 5.0
"""Keep pushed links for this many seconds: a killed server may lose two, with fsync each second."""

MAX_OF_A_CALL = 500
"""Requests in one call of a script, at most: the server answers no other worker meanwhile."""

Move = Literal["park", "unpark", "give_back"]
Outcome = Literal["done", "failed"]

Part = bytes | str | int

T = TypeVar("T")

# A script that frees memory, or takes none for long, runs in a full server too.
FREES = "allow-oom"
_READS = "no-writes"


def read_script(*names: str, flags: str = "") -> Script:
    """Return a script of several files.

    The first line lets the server refuse all of it where its memory is full, not half of it.
    """
    head = (f"#!lua flags={flags}",)
    return Script.read("crawler.frontier.redis", *(f"{name}.lua" for name in names), head=head)


_PUSH = read_script("shard", "seen", "spellings", "push")
# It only moves; and a worker whose lease waits shows no sign of life.
_LEASE = read_script("shard", "seen", "spellings", "lease", flags=FREES)
_FINISH = read_script("shard", "finish", flags=FREES)
_MOVE = read_script("shard", "move", flags=FREES)
_RETRY = read_script("shard", "retry", flags=FREES)
_LEAVE = read_script("shard", "leave", flags=FREES)
_COUNTS = read_script("shard", "counts", flags=_READS)


class Calls:
    """Numbered calls, one after the other.

    Attributes:
        turn: A lock that is held while a call is under way.
        made: The number of the last call.
        answered: The number of the last call that had an answer.
    """

    def __init__(self) -> None:
        self.turn = asyncio.Lock()
        self.made = self.answered = 0

    def restart(self) -> None:
        self.made = self.answered = 0


class Shard:
    """The calls of one worker to one shard, one after the other.

    Each call has a number. The shard stores the number of the last one, and its
    answer: a call that is sent twice, because its answer was lost, is carried out once.
    Pushes are numbered apart, since they may wait for long where the server is full.

    Attributes:
        is_lost: Whether the worker was taken for dead, or may hold requests unknown to it: it
            must enter again.
    """

    def __init__(self, server: Server, number: int, worker: str) -> None:
        self._server = server
        self._keys = [f"{{{server.prefix}:s{number:02}}}"]
        self._worker = worker
        self._incarnation = ""
        self._pushes, self._calls = Calls(), Calls()
        # On one server nothing depends on these links: if a push is lost, so is the end of the
        # lease of its page. In a cluster that may be in another node.
        self._pushed: deque[tuple[float, Sequence[QueuedLink]]] = deque()
        self.is_lost = False

    async def _call(self, script: Script, *args: Part) -> Any:
        """Make a call as ``_call_whole`` does; return the first part of its answer."""
        return (await self._call_whole(script, *args))[0]

    async def _call_whole(self, script: Script, *args: Part) -> list[Any]:
        """Make a call; push recent links again where they may be lost."""
        async with self._calls.turn:
            answer = await self._call_in_turn(self._calls, script, *args)
        if self.is_lost and self._pushed:
            async with self._pushes.turn:
                await self._push_again()
        return answer

    async def _push(self, links: Sequence[QueuedLink]) -> Any:
        async with self._pushes.turn:
            answer = await self._push_in_turn(links)
            self._pushed.append((time.monotonic(), links))
            if self.is_lost:
                await self._push_again()
        return answer

    async def _push_again(self) -> None:
        # Forgotten when all were pushed: a worker that ends cancels this, and makes further calls.
        for some in _parts([link for _, links in self._pushed for link in links]):
            await self._push_in_turn(some)
        self._pushed.clear()

    async def _push_in_turn(self, links: Sequence[QueuedLink]) -> Any:
        parts = _flat(map(pack, links))
        return (await self._call_in_turn(self._pushes, _PUSH, *parts))[0]

    async def _call_in_turn(self, calls: Calls, script: Script, *args: Part) -> list[Any]:
        began = time.monotonic()
        calls.made += 1
        answered = (self._pushes.answered, self._calls.answered)
        first = (self._worker, self._incarnation, calls.made, *answered)
        try:
            state, *answer = await self._server.call(script, self._keys, [*first, *args])
        except asyncio.CancelledError:
            # Whether it was carried out is not known, nor what was leased then.
            self.is_lost = self.is_lost or script is _LEASE
            raise
        calls.answered = calls.made
        if state == b"lost":
            self.is_lost = True
        elif not self.is_lost:
            # What was pushed long before, the server has by now.
            while self._pushed and self._pushed[0][0] < began - KEPT_SECS:
                self._pushed.popleft()
        return answer or [None]

    async def enter(self, incarnation: str, rest_secs: float) -> None:
        """Begin a new incarnation; the requests that an earlier one held wait again.

        Args:
            incarnation: Its name.
            rest_secs: How long the worker's hosts are to rest when it dies.
        """
        async with self._pushes.turn, self._calls.turn:
            await self._leave(self._worker, "", "", incarnation, _ms(rest_secs))
            self._incarnation = incarnation
            self._pushes.restart()
            self._calls.restart()
            self.is_lost = False

    async def reap(self, worker: str, incarnation: str) -> None:
        """Return everything that a worker held, which is dead or leaves."""
        await self._leave(worker, incarnation, "")

    async def _leave(self, worker: str, incarnation: str, *args: Part) -> None:
        call = [worker, incarnation, MAX_OF_A_CALL, *args]
        while await self._server.call(_LEAVE, self._keys, call):
            pass

    async def check(self) -> None:
        """Update ``is_lost`` from the shard."""
        await self._call(_MOVE, "give_back")

    async def push(self, links: Sequence[QueuedLink]) -> list[bool]:
        """Queue the links whose keys are new; return of each whether it was."""
        new: list[bool] = []
        for some in _parts(links):
            new += [one == ord("1") for one in await self._push(some)]
        return new

    async def lease(self, wish: Wish, room: int) -> tuple[list[Leased], dict[int, SharedPause]]:
        """Lease requests; return them in order, with the last pauses of their hosts.

        Returns nothing where this worker was taken for dead. Pauses before a good answer are left
        out.

        Args:
            wish: The requests that the worker wants.
            room: Number of requests for each host that was not owned.
        """
        rooms = _flat((pack_host(host), more) for host, more in wish.hosts.items())
        most = min(wish.requests, MAX_OF_A_CALL)
        leased, pauses = await self._call_whole(_LEASE, most, wish.more_hosts, room, *rooms)
        return [unpack(record) for record in leased], self._pauses(pauses)

    def _pauses(self, pairs: Sequence[bytes]) -> dict[int, SharedPause]:
        """Return pauses by host; those that another program wrote are left out."""
        found = {}
        for host, record in zip(pairs[::2], pairs[1::2], strict=True):
            try:
                found[unpack_host(host)] = unpack_pause(record)
            except ValueError as error:
                where = f"{self._keys[0]}:pauses"
                logger.error("%s in Redis holds no pause at %r: %s", where, host, error)  # noqa: TRY400
        return found

    async def finish(self, outcomes: Sequence[tuple[Outcome, bytes]]) -> None:
        for some in _parts(outcomes):
            await self._call(_FINISH, MAX_TRIES, *_flat(some))

    async def move(self, move: Move, requests: Sequence[Leased]) -> list[bool]:
        """Park, unpark or give back requests of this worker; return of each whether it was done."""
        moved: list[bool] = []
        for some in _parts([one.id for one in requests]):
            answer = await self._call(_MOVE, move, *some) or b"0" * len(some)
            moved += [one == ord("1") for one in answer]
        return moved

    async def rest(
        self, move: Literal["release", "delay"], hosts: Iterable[tuple[int, float]]
    ) -> None:
        """Give hosts back for a rest of seconds, or let them rest so where this worker dies."""
        rests = _flat((pack_host(host), _ms(rest)) for host, rest in hosts)
        await self._call(_MOVE, move, *rests)

    async def postpone(self, requests: Iterable[Leased]) -> None:
        """Let leased requests wait, with another priority and content."""
        for some in _parts([pack_changed(one) for one in requests]):
            await self._call(_MOVE, "postpone", *_flat(some))

    async def pause(self, pauses: Iterable[tuple[int, SharedPause | None]]) -> None:
        """Pause hosts; None forgets a host's pauses."""
        parts = _flat(
            (pack_host(host), "" if pause is None else _ms(pause.left_secs), pack_pause(pause))
            for host, pause in pauses
        )
        await self._call(_MOVE, "pause", *parts)

    async def retry_broken(self) -> None:
        """Let requests that broke at every try wait again, as new ones."""
        cursor = b"0"
        while True:
            cursor = await self._server.call(_RETRY, self._keys, [cursor, MAX_OF_A_CALL])
            if cursor == b"0":
                return

    async def counts(self) -> ShardCounts:
        return ShardCounts.read(await self._server.call(_COUNTS, self._keys, []))


def _flat(pairs: Iterable[tuple[Part, ...]]) -> Iterable[Part]:
    return chain.from_iterable(pairs)


def _parts(whole: Sequence[T]) -> list[Sequence[T]]:
    return [whole[at : at + MAX_OF_A_CALL] for at in range(0, len(whole), MAX_OF_A_CALL)]


def _ms(secs: float) -> int:
    return round(secs * 1000)
