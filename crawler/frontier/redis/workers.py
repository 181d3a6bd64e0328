"""The workers of a fleet: who takes part, who is dead."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple

from crawler.frontier.redis import lua_scripts as scripts
from crawler.frontier.redis.errors import FleetError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from neardup.storage.redis.script import Script
    from neardup.storage.redis.server import Server


class HeartbeatWatch:
    """Looks at the beats of the others, by this process's own clock.

    No two clocks are compared, and a jump of the server's means nothing. Where this
    worker itself could not look for half the time-out, because the server was away or
    the process stood still, it begins to watch anew: the others may not have been able
    to beat either.

    Args:
        lease_secs: The time-out.
    """

    def __init__(self, lease_secs: float) -> None:
        self._lease_secs = lease_secs
        self._looked: float | None = None
        self._seen: dict[str, tuple[bytes, float]] = {}

    def dead(self, beats: Mapping[str, bytes], now: float) -> list[str]:
        """The workers whose last beat has stood for the time-out.

        Args:
            beats: The last beat of each worker.
            now: Seconds, monotonic.
        """
        if self._looked is None or now - self._looked > self._lease_secs / 2:
            self._seen.clear()
        self._looked = now
        self._seen = {name: self._since(name, beat, now) for name, beat in beats.items()}
        return [name for name, (_, since) in self._seen.items() if now - since >= self._lease_secs]

    def _since(self, name: str, beat: bytes, now: float) -> tuple[bytes, float]:
        before = self._seen.get(name)
        return before if before is not None and before[0] == beat else (beat, now)


class Roll(NamedTuple):
    """Who takes part.

    Attributes:
        is_known: Whether this worker does, in this incarnation.
        alive: The names of all.
        dead: Incarnations whose leases are to be returned, by name of the worker.
    """

    is_known: bool
    alive: frozenset[str]
    dead: dict[str, str]


class Fellows:
    """Who takes part in a fleet, and in which incarnation.

    A worker that dies and comes again is another incarnation of it. One that was
    taken for dead, and is not, must begin a new one.

    Args:
        server: Where the fleet is.
        worker: The name of this worker.
        lease_secs: After how long without a beat a worker is dead.
    """

    def __init__(self, server: Server, worker: str, lease_secs: float) -> None:
        self._server = server
        self._worker = worker
        self._watch = HeartbeatWatch(lease_secs)
        self._keys = [f"{{{server.prefix}:fleet}}"]

    async def _call(self, script: Script, *args: bytes | str) -> Any:
        return await self._server.call(script, self._keys, list(args))

    async def begin(self, identity: Mapping[str, str]) -> None:
        """Begin the fleet, or check that it is the one that is meant.

        Raises:
            FleetError: It is another one; the message names what differs.
        """
        pairs = [part for pair in sorted(identity.items()) for part in pair]
        found = _texts(await self._call(scripts.BEGIN, *pairs))
        for name in sorted(identity.keys() | found.keys()):
            mine, theirs = identity.get(name, "nothing"), found.get(name, "nothing")
            if mine != theirs:
                raise FleetError(
                    f"the fleet {self._server.prefix} was begun with {name} {theirs}, and this"
                    f" worker has {mine}; give both the same, or this one another FLEET_NAME"
                )

    async def enrol(self, incarnation: str) -> None:
        """Take part from now on."""
        await self._call(scripts.ENROL, self._worker, incarnation)

    async def beat(self, incarnation: str) -> Roll:
        """Live on, and take those for dead who do not."""
        known, found, buried = await self._call(scripts.BEAT, self._worker, incarnation)
        beats, dead = _beats(found), _texts(buried)
        for name in self._watch.dead(beats, time.monotonic()):
            if name != self._worker and await self._call(scripts.BURY, name, beats[name]):
                dead[name] = _incarnation_of(beats.pop(name))
        return Roll(bool(known), frozenset(beats), dead)

    async def alive(self) -> frozenset[str]:
        """The names of those that take part."""
        return frozenset(_beats(await self._call(scripts.ROLL)))

    async def forget(self, worker: str, incarnation: str) -> None:
        """Forget a worker of which nothing is left to return."""
        await self._call(scripts.FORGET, worker, incarnation)


def _incarnation_of(beat: bytes) -> str:
    """The incarnation that a beat is of."""
    return beat.split()[0].decode()


def _beats(flat: list[bytes]) -> dict[str, bytes]:
    return {name.decode(): beat for name, beat in _pairs(flat)}


def _pairs(flat: list[bytes]) -> list[tuple[bytes, bytes]]:
    return list(zip(flat[::2], flat[1::2], strict=True))


def _texts(flat: list[bytes]) -> dict[str, str]:
    return {name.decode(): value.decode() for name, value in _pairs(flat)}
