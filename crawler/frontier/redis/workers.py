"""Track the membership of a fleet: its workers, and which of them are dead."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple

from crawler.frontier.redis import FleetError
from crawler.frontier.redis.shard import FREES, read_script

if TYPE_CHECKING:
    from collections.abc import Mapping

    from neardup.storage.redis.commands import Script
    from neardup.storage.redis.server import Server


_BEGIN = read_script("begin")
_ENROL = read_script("enrol", flags=FREES)
_HEARTBEAT = read_script("heartbeat", flags=FREES)
_REAP = read_script("reap", flags=FREES)
_FORGET = read_script("forget", flags=FREES)


class HeartbeatWatch:
    """Watches the heartbeats of the other workers, by this process's own clock.

    No two clocks are compared, and a jump of the server's clock means nothing. Where this
    worker itself could not look for half the time-out, because the server was away or
    the process stood still, it starts the watch over: the others may not have been able
    to send a heartbeat either.

    Args:
        lease_secs: The time-out in seconds.
    """

    def __init__(self, lease_secs: float) -> None:
        self._lease_secs = lease_secs
        self._looked: float | None = None
        self._seen: dict[str, tuple[bytes, float]] = {}

    def dead(self, heartbeats: Mapping[str, bytes], now: float) -> list[str]:
        """Return the workers whose last heartbeat is as old as the time-out.

        Args:
            heartbeats: The last heartbeat of each worker.
            now: Seconds, monotonic.
        """
        if self._looked is None or now - self._looked > self._lease_secs / 2:
            self._seen.clear()
        self._looked = now
        self._seen = {
            name: self._since(name, heartbeat, now) for name, heartbeat in heartbeats.items()
        }
        return [name for name, (_, since) in self._seen.items() if now - since >= self._lease_secs]

    def _since(self, name: str, heartbeat: bytes, now: float) -> tuple[bytes, float]:
        before = self._seen.get(name)
        return before if before is not None and before[0] == heartbeat else (heartbeat, now)


class Roll(NamedTuple):
    """The membership of the fleet.

    Attributes:
        is_known: Whether this worker is a member, in this incarnation.
        alive: The names of all members.
        dead: Incarnations whose leases are to be returned, with the names of their workers.
    """

    is_known: bool
    alive: frozenset[str]
    dead: dict[str, str]


class FleetMembers:
    """The membership of a fleet, with the incarnation of each worker.

    A worker that dies and restarts is another incarnation of it. One that was
    taken for dead, and is not, must begin a new one.

    Args:
        lease_secs: Seconds without a heartbeat after which a worker is dead.
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
            FleetError: It is another one; the message names the difference.
        """
        pairs = [part for pair in sorted(identity.items()) for part in pair]
        found = _texts(await self._call(_BEGIN, *pairs))
        for name in sorted(identity.keys() | found.keys()):
            mine, theirs = identity.get(name, "nothing"), found.get(name, "nothing")
            if mine != theirs:
                raise FleetError(
                    f"the fleet {self._server.prefix} was begun with {name} {theirs}, and this"
                    f" worker has {mine}; give both the same, or this one another FLEET_NAME"
                )

    async def enrol(self, incarnation: str) -> str:
        """Begin an incarnation; return the one before, which is to be forgotten, or ''.

        Until then others return what that one held, if this worker is killed before it does.
        """
        before: bytes = await self._call(_ENROL, self._worker, incarnation)
        return before.decode()

    async def heartbeat(self, incarnation: str) -> Roll:
        """Send a heartbeat, and mark workers without one as dead; return the membership."""
        known, found, reaped = await self._call(_HEARTBEAT, self._worker, incarnation)
        heartbeats = {name.decode(): heartbeat for name, heartbeat in _pairs(found)}
        dead = _texts(reaped)
        for name in self._watch.dead(heartbeats, time.monotonic()):
            if name != self._worker and await self._call(_REAP, name, heartbeats[name]):
                incarnation = heartbeats.pop(name).split()[0].decode()
                dead[incarnation] = name
        return Roll(bool(known), frozenset(heartbeats), dead)

    async def alive(self) -> frozenset[str]:
        """Return the names of all members."""
        return frozenset(
            map(bytes.decode, await self._server.run("HKEYS", f"{self._keys[0]}:beats"))
        )

    async def forget(self, worker: str, incarnation: str) -> None:
        """Remove an incarnation that has nothing left to return."""
        await self._call(_FORGET, worker, incarnation)


def _pairs(flat: list[bytes]) -> list[tuple[bytes, bytes]]:
    return list(zip(flat[::2], flat[1::2], strict=True))


def _texts(flat: list[bytes]) -> dict[str, str]:
    return {name.decode(): value.decode() for name, value in _pairs(flat)}
