"""Share the facts of a fleet: its id, parameters, learned rules, moved seeds and page counts.

In Redis, all keys in one slot; F is the fleet's prefix with ``board``, in braces:

- hash F: ``id``; ``parameters``, ``origin``, ``since`` and ``parameters_version``;
  ``rules_version``; ``moved_version``; ``paused``, 1 where nothing is requested; ``stop``, the
  number of times that all workers were told to end, and ``stop WORKER``, that of one.
- hash F:rules: a rule as JSON, to ``{"holds": ..., "status": ..., "reason": ...}``.
- hash F:moved: a seed, to the URL that it was redirected to.
- hash F:pages: a process of a worker (its name, a colon, random digits), to the number of pages
  that it fetched.
"""

from __future__ import annotations

import json
import logging
import secrets
from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from crawler.storage.states import HOLDS, RuleStatus
from neardup.errors import ServerError
from neardup.storage.redis.script import Script

if TYPE_CHECKING:
    from collections.abc import Mapping

    from neardup.storage.redis.server import Server

logger = logging.getLogger(__name__)

_NOTICE = Script.read("crawler.fleet", "notice.lua")


@dataclass(frozen=True, slots=True)
class Notices:
    """The content of the board at one moment.

    Attributes:
        id: Id of the fleet, empty if there is none or Redis has lost it.
        parameters: JSON of ``crawler.pages.live_parameters``, empty if none were chosen.
        origin: Source of the parameters, such as ``settings`` or ``tune``.
        parameters_version: Number that rises with each change of the parameters.
        rules_version: The same for the learned rules.
        moved_version: The same for the moved seeds.
        pages: Pages fetched by all processes of all workers.
        own_pages: Pages fetched by the reading process alone.
        is_paused: Whether no worker requests anything for now.
        stops: Number that rises when the reading worker is told to end.
    """

    id: str = ""
    parameters: str = ""
    origin: str = ""
    parameters_version: int = 0
    rules_version: int = 0
    moved_version: int = 0
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
        """Return what the board says of it; ``holds`` is for the script, which knows no states."""
        return json.dumps({"holds": self.holds, "status": self.status, "reason": self.reason})


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
        found, counted = await self._server.pipeline(
            [("HGETALL", self._key), ("HGETALL", self._pages)]
        )
        pages = self._numbers(counted)
        said = {_text(name): _text(value) for name, value in _pairs(found)}
        number = partial(_number, said, self._key)
        return Notices(
            id=said.get("id", ""),
            parameters=said.get("parameters", ""),
            origin=said.get("origin", ""),
            parameters_version=number("parameters_version"),
            rules_version=number("rules_version"),
            moved_version=number("moved_version"),
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

    async def write_parameters(
        self, chosen: str, origin: str, since: float, *, is_first: bool = False
    ) -> int:
        """Set the parameters of the fleet; with ``is_first`` only if it has none.

        Returns:
            The version of the parameters that hold afterwards.
        """
        return await self._write("parameters", chosen, origin, repr(since), str(int(is_first)))

    async def write_rules(self, rules: list[SharedRule]) -> int:
        """Publish learned rules; return the version of all rules."""
        told = ((shared.rule, shared.to_json()) for shared in rules)
        return await self._write("rules", *(part for pair in told for part in pair))

    async def write_moved(self, seed: str, target: str) -> int:
        """Publish the redirect of a seed; return the version of all moved seeds."""
        return await self._write("moved", seed, target)

    async def _write(self, *arguments: str) -> int:
        keys = [self._key, self._rules, self._moved]
        return int(await self._server.call(_NOTICE, keys, list(arguments)))

    async def rules(self) -> list[SharedRule]:
        """Return every rule that any worker published."""
        rules = []
        for rule, text in _pairs(await self._server.run("HGETALL", self._rules)):
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
        found = await self._server.run("HGETALL", self._moved)
        return {_text(seed): _text(target) for seed, target in _pairs(found)}

    async def pages_of_workers(self) -> dict[str, int]:
        """Return the number of pages that each worker fetched, by its name."""
        pages: Counter[str] = Counter()
        counted = self._numbers(await self._server.run("HGETALL", self._pages))
        for process, count in counted.items():
            pages[process.rpartition(":")[0]] += count
        return dict(pages)

    def _numbers(self, counted: Any) -> dict[str, int]:
        said = {_text(name): _text(value) for name, value in _pairs(counted)}
        return {name: _number(said, self._pages, name) for name in said}

    async def count_pages(self, process: str, pages: int) -> None:
        await self._server.run("HSET", self._pages, process, pages)


def _text(written: bytes) -> str:
    return written.decode(errors="backslashreplace")


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


def _pairs(found: Any) -> list[tuple[bytes, bytes]]:
    """Return the pairs of a hash, which is a mapping or, in older protocols, a flat list."""
    if isinstance(found, dict):
        return list(found.items())
    return list(zip(found[::2], found[1::2], strict=True))
