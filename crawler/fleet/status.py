"""Read the status of a fleet from its Redis."""

from __future__ import annotations

import asyncio
import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from crawler.fleet.board import Board, Notices, SharedRule
from crawler.fleet.membership import BEGINNING, prefix_of
from crawler.frontier.redis import FleetError
from crawler.frontier.redis.shared_frontier import RedisFrontier
from neardup.storage.redis.connecting import connect

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from crawler.frontier.redis.counts import Counts, WorkerCounts
    from neardup.storage.redis.server import Server

_ANYBODY = "nobody"
_BATCH = 1_000


@dataclass(frozen=True, slots=True)
class FleetStatus:
    """The status of a fleet.

    Attributes:
        identity: Settings that all its workers share.
        rules: Learned URL rules that hold.
        pages_of_workers: Pages that each worker fetched, by its name; of ended workers too.
        memory_bytes: Memory of the whole Redis, other data included; of one node in a cluster.
    """

    name: str
    identity: dict[str, str]
    counts: Counts
    workers: dict[str, WorkerCounts]
    notices: Notices
    rules: list[SharedRule] = field(repr=False)
    pages_of_workers: dict[str, int]
    memory_bytes: int

    def to_dict(self) -> dict[str, Any]:
        """Return the output of ``crawl-once fleet --json``."""
        return {
            "name": self.name,
            "identity": self.identity,
            "counts": asdict(self.counts),
            "workers": {name: held._asdict() for name, held in self.workers.items()},
            "is_paused": self.notices.is_paused,
            "pages": self.notices.pages,
            "pages_of_workers": self.pages_of_workers,
            "parameters": json.loads(self.notices.parameters or "{}"),
            "rules": [json.loads(shared.rule) for shared in self.rules],
            "memory_bytes": self.memory_bytes,
        }


async def names(server: Server) -> list[str]:
    """Return the names of the fleets that a Redis holds.

    Complexity: O(keys of the Redis).
    """
    beginning, end = f"{{{BEGINNING}", ":board}"
    found = {key.decode() async for key in _keys(server, f"{beginning}*{end}")}
    return sorted(key.removeprefix(beginning).removesuffix(end) for key in found)


async def _keys(server: Server, pattern: str) -> AsyncIterator[bytes]:
    async for key in server.client.scan_iter(match=pattern, count=_BATCH):
        yield key


async def look(server: Server, name: str) -> FleetStatus:
    """Read the status of the fleet of the server's prefix.

    Raises:
        FleetError: There is none.
    """
    identity = await server.run("HGETALL", f"{{{server.prefix}:fleet}}:identity")
    said = {key.decode(): value.decode() for key, value in dict(identity).items()}
    if not said:
        known = ", ".join(await names(server)) or "none"
        raise FleetError(f"no fleet {name} at {server.name}; there are: {known}")
    frontier = RedisFrontier(server, _ANYBODY, shards=int(said["shards"]))
    board = Board(server)
    about = await server.client.info("memory")
    return FleetStatus(
        name=name,
        identity=said,
        counts=await frontier.counts(),
        workers=await frontier.workers(),
        notices=await board.read(),
        rules=[shared for shared in await board.rules() if shared.holds],
        pages_of_workers=await board.pages_of_workers(),
        memory_bytes=int(dict(about).get("used_memory", 0)),
    )


async def pause(server: Server, name: str, *, is_paused: bool) -> None:
    """Let no worker of a fleet request anything, or let all go on.

    Raises:
        FleetError: There is no such fleet.
    """
    await look(server, name)
    await Board(server).pause(is_paused=is_paused)


async def stop(server: Server, name: str, worker: str | None) -> list[str]:
    """Tell a worker, or all, to end as by Ctrl-C; return the names of those that were told.

    Raises:
        FleetError: There is no such fleet or worker.
    """
    workers = (await look(server, name)).workers
    if worker is not None and worker not in workers:
        known = ", ".join(workers) or "none"
        raise FleetError(f"no worker {worker} runs in the fleet {name}; there are: {known}")
    await Board(server).stop(worker)
    return list(workers) if worker is None else [worker]


async def forget(server: Server) -> int:
    """Delete every key of the fleet of the server's prefix; return the number of keys.

    Complexity: O(keys of the Redis).
    """
    deleted = 0
    for pattern in (f"{server.prefix}*", f"{{{server.prefix}*"):
        batch: list[bytes] = []
        async for key in _keys(server, pattern):
            batch.append(key)
            if len(batch) == _BATCH:
                deleted += await _delete(server, batch)
        deleted += await _delete(server, batch)
    return deleted


async def _delete(server: Server, keys: list[bytes]) -> int:
    count = sum(await server.pipeline([("UNLINK", key) for key in keys])) if keys else 0
    keys.clear()
    return count


def at(url: str, name: str | None, act: Callable[[Server, str], Awaitable[Any]]) -> Any:
    """Call a coroutine function with a fleet, where no event loop is running.

    Args:
        url: URL of the Redis.
        name: Name of the fleet, or None if there is only one.
        act: Function that takes the server with the fleet's prefix, and the fleet's name.

    Raises:
        FleetError: There is no such fleet, or there are several and none is named.
        ServerError: The Redis cannot be used.
    """

    async def connected() -> Any:
        chosen = name or await _only_name(url)
        server = await connect(url, prefix_of(chosen))
        try:
            return await act(server, chosen)
        finally:
            await server.close()

    return asyncio.run(connected())


async def _only_name(url: str) -> str:
    server = await connect(url)
    try:
        found = await names(server)
    finally:
        await server.close()
    if len(found) != 1:
        which = f"there are {', '.join(found)}; give --name" if found else "there is none"
        raise FleetError(f"which fleet at {server.name}? {which}")
    return found[0]
