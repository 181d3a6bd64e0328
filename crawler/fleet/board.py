"""Share the facts of a fleet: its id, parameters, learned rules, moved seeds, counts and status.

In Redis, all keys in one slot; F is the fleet's prefix with ``board``, in braces:

- hash F: ``id``; ``parameters`` and ``origin``; ``rules_version``; ``paused``, 1 where nothing is
  requested; ``stop``, the number of times that all workers were told to end, and ``stop WORKER``,
  that of one.
- hash F:rules: a rule as JSON, to ``{"status": ..., "reason": ...}``.
- hash F:moved: a seed, to the URL that it was redirected to.
- hash F:pages: a process of a worker (its name, a colon, random digits), to the number of pages
  that it fetched.
"""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
from collections import Counter
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

from crawler.fleet.membership import BEGINNING, prefix_of
from crawler.frontier.redis import FleetError
from crawler.frontier.redis.shared_frontier import RedisFrontier
from crawler.storage.states import HOLDS, RuleStatus
from neardup.errors import ServerError
from neardup.storage.redis.connecting import connect

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

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
    keys = server.client.scan_iter(match=f"{beginning}*{end}", count=_BATCH)
    found = {key.decode() async for key in keys}
    return sorted(key.removeprefix(beginning).removesuffix(end) for key in found)


async def look(server: Server, name: str) -> FleetStatus:
    """Read the status of the fleet of the server's prefix.

    Raises:
        FleetError: There is none.
    """
    identity = await server.run("HGETALL", f"{{{server.prefix}:fleet}}:identity")
    said = _texts(identity)
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
        async for key in server.client.scan_iter(match=pattern, count=_BATCH):
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


logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Notices:
    """The content of the board at one moment.

    Attributes:
        id: Id of the fleet, empty if there is none or Redis has lost it.
        parameters: JSON of ``crawler.pages.live_parameters``, empty if none were chosen.
        origin: Source of the parameters, such as ``settings`` or ``tune``.
        rules_version: Number that rises with each change of the learned rules.
        moved_seeds: Number of moved seeds.
        pages: Pages fetched by all processes of all workers.
        own_pages: Pages fetched by the reading process alone.
        is_paused: Whether no worker requests anything for now.
        stops: Number that rises when the reading worker is told to end.
    """

    id: str = ""
    parameters: str = ""
    origin: str = ""
    rules_version: int = 0
    moved_seeds: int = 0
    pages: int = 0
    own_pages: int = 0
    is_paused: bool = False
    stops: int = 0


@dataclass(frozen=True, slots=True)
class SharedRule:
    """A learned rule, as ``crawler.url_rules.rule_store`` writes it, and its state."""

    rule: str
    status: RuleStatus
    reason: str = ""

    @property
    def holds(self) -> bool:
        return self.status == HOLDS

    def to_json(self) -> str:
        """Return what the board says of it."""
        return json.dumps({"status": self.status, "reason": self.reason})


class Board:
    """Reads and writes the board of a fleet."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._key = f"{{{server.prefix}board}}"
        self._rules, self._moved, self._pages = (
            f"{self._key}:{name}" for name in ("rules", "moved", "pages")
        )

    async def begin(self) -> str:
        """Return the id of the fleet, and begin the fleet if there is none."""
        await self._server.run("HSETNX", self._key, "id", secrets.token_hex(8))
        found: bytes = await self._server.run("HGET", self._key, "id")
        return found.decode()

    async def read(self, process: str = "") -> Notices:
        """Return the content of the board.

        Args:
            process: Name of the reading process, as given to ``count_pages``.

        Raises:
            ServerError: Another program wrote something that is no number in place of one.
        """
        found, counted, moved_seeds = await self._server.pipeline(
            [("HGETALL", self._key), ("HGETALL", self._pages), ("HLEN", self._moved)]
        )
        pages, said = self._numbers(counted), _texts(found)
        number = partial(_number, said, self._key)
        return Notices(
            id=said.get("id", ""),
            parameters=said.get("parameters", ""),
            origin=said.get("origin", ""),
            rules_version=number("rules_version"),
            moved_seeds=moved_seeds,
            pages=sum(pages.values()),
            own_pages=pages.get(process, 0),
            is_paused=said.get("paused") == "1",
            stops=number("stop") + number(_stop_of(process)),
        )

    async def pause(self, *, is_paused: bool) -> None:
        """Let no worker request anything, or let all go on; each hears of it within a second."""
        await self._server.run("HSET", self._key, "paused", int(is_paused))

    async def stop(self, worker: str | None = None) -> None:
        """Tell a worker, or all, to end; those that begin later are not concerned."""
        name = "stop" if worker is None else _stop_of(f"{worker}:")
        await self._server.run("HINCRBY", self._key, name, 1)

    async def write_parameters(self, chosen: str, origin: str, *, is_first: bool = False) -> None:
        """Set the parameters of the fleet; with ``is_first`` only if it has none."""
        fields = ("origin", origin), ("parameters", chosen)
        if is_first:
            await self._server.pipeline([("HSETNX", self._key, *field) for field in fields])
        else:
            await self._server.run("HSET", self._key, *chain.from_iterable(fields))

    async def write_rules(self, rules: list[SharedRule]) -> None:
        """Publish learned rules; one that ended anywhere stays ended."""
        await self._server.pipeline([
            ("HSETNX" if shared.holds else "HSET", self._rules, shared.rule, shared.to_json())
            for shared in rules
        ])  # fmt: skip
        # Later: a worker that has met the new number has read the rules of it.
        await self._server.run("HINCRBY", self._key, "rules_version", 1)

    async def write_moved(self, seed: str, target: str) -> None:
        """Publish the redirect of a seed; the first one of each stays."""
        await self._server.run("HSETNX", self._moved, seed, target)

    async def rules(self) -> list[SharedRule]:
        """Return every rule that any worker published."""
        rules = []
        found = await self._server.run("HGETALL", self._rules)
        for rule, text in found.items():
            try:
                said = json.loads(text)
                shared = SharedRule(rule.decode(), RuleStatus(said["status"]), str(said["reason"]))
            except (KeyError, TypeError, ValueError) as error:
                # Without it more is requested, and nothing is lost.
                logger.error("%s in Redis holds no rule in %r: %r", self._rules, rule, error)  # noqa: TRY400
                continue
            rules.append(shared)
        return rules

    async def moved(self) -> dict[str, str]:
        """Return the URL that each redirected seed leads to."""
        return _texts(await self._server.run("HGETALL", self._moved))

    async def pages_of_workers(self) -> dict[str, int]:
        """Return the number of pages that each worker fetched, by its name."""
        pages: Counter[str] = Counter()
        counted = self._numbers(await self._server.run("HGETALL", self._pages))
        for process, count in counted.items():
            pages[process.rpartition(":")[0]] += count
        return dict(pages)

    def _numbers(self, counted: Mapping[bytes, bytes]) -> dict[str, int]:
        said = _texts(counted)
        return {name: _number(said, self._pages, name) for name in said}

    async def count_pages(self, process: str, pages: int) -> None:
        await self._server.run("HSET", self._pages, process, pages)


def _texts(found: Mapping[bytes, bytes]) -> dict[str, str]:
    decode = partial(bytes.decode, errors="backslashreplace")
    return {decode(name): decode(value) for name, value in found.items()}


def _number(said: Mapping[str, str], key: str, name: str) -> int:
    """Return a number of a hash, 0 where it has none."""
    value = said.get(name, "0")
    try:
        return int(value)
    except ValueError as error:
        raise ServerError(
            f"{key} in Redis: expected a number in {name!r}, got {value!r}; another program wrote "
            "it, and HDEL removes it"
        ) from error


def _stop_of(process: str) -> str:
    return f"stop {process.rpartition(':')[0]}"
