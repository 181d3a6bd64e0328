"""What all workers of a fleet are to know: its id, parameters, learned rules, moved seeds, pages.

In Redis, all keys in one slot; F is the fleet's prefix with ``board``, in braces:

- hash F: ``id``; ``parameters``, ``origin``, ``since`` and ``parameters_version``;
  ``rules_version``; ``moved_version``.
- hash F:rules: a rule as JSON, to ``{"holds": ..., "reason": ...}``.
- hash F:moved: a seed, to where it was redirected.
- hash F:pages: a process of a worker, to how many pages it fetched.
"""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from neardup.storage.redis.script import Script

if TYPE_CHECKING:
    from neardup.storage.redis.server import Server

_NOTICE = Script.read("crawler.fleet", "notice.lua")


@dataclass(frozen=True, slots=True)
class Notices:
    """What stands on the board.

    Attributes:
        id: Of the fleet; empty where there is none, or where Redis has lost it.
        parameters: JSON, as ``crawler.pages.live_parameters`` has it; empty where none were chosen.
        origin: Who chose them.
        parameters_version: Rises with each change of them.
        rules_version: The same of the learned rules.
        moved_version: The same of the moved seeds.
        pages: Fetched by all processes of all workers.
        own_pages: Those of them that the process fetched that reads.
    """

    id: str = ""
    parameters: str = ""
    origin: str = ""
    parameters_version: int = 0
    rules_version: int = 0
    moved_version: int = 0
    pages: int = 0
    own_pages: int = 0


@dataclass(frozen=True, slots=True)
class SharedRule:
    """A learned rule, as ``crawler.url_rules.rule_store`` writes it, and what became of it."""

    rule: str
    holds: bool
    reason: str = ""


class Board:
    """Reads and writes what stands there.

    Args:
        server: The fleet's Redis.
    """

    def __init__(self, server: Server) -> None:
        self._server = server
        self._key = f"{{{server.prefix}board}}"
        self._rules, self._moved, self._pages = (
            f"{self._key}:{name}" for name in ("rules", "moved", "pages")
        )

    async def begin(self) -> str:
        """The id of the fleet, which begins with this where there was none."""
        await self._server.run("HSETNX", self._key, "id", secrets.token_hex(8))
        found: bytes = await self._server.run("HGET", self._key, "id")
        return found.decode()

    async def read(self, process: str = "") -> Notices:
        """What stands there now.

        Args:
            process: Who reads, as ``count_pages`` was told.
        """
        found, counted = await self._server.pipeline(
            [("HGETALL", self._key), ("HGETALL", self._pages)]
        )
        pages = {name.decode(): int(count) for name, count in _pairs(counted)}
        said = {name.decode(): value.decode() for name, value in _pairs(found)}
        return Notices(
            id=said.get("id", ""),
            parameters=said.get("parameters", ""),
            origin=said.get("origin", ""),
            parameters_version=int(said.get("parameters_version", 0)),
            rules_version=int(said.get("rules_version", 0)),
            moved_version=int(said.get("moved_version", 0)),
            pages=sum(pages.values()),
            own_pages=pages.get(process, 0),
        )

    async def write_parameters(
        self, chosen: str, origin: str, since: float, *, is_first: bool = False
    ) -> int:
        """Let parameters hold; where they are to be the first ones, only if there are none.

        Returns:
            The version of those that hold.
        """
        return await self._write("parameters", chosen, origin, repr(since), str(int(is_first)))

    async def write_rules(self, rules: list[SharedRule]) -> int:
        """Tell of learned rules; tell the version of all of them."""
        told = (
            (shared.rule, json.dumps({"holds": shared.holds, "reason": shared.reason}))
            for shared in rules
        )
        return await self._write("rules", *(part for pair in told for part in pair))

    async def write_moved(self, seed: str, target: str) -> int:
        """Tell where a seed was redirected to; tell the version of all of them."""
        return await self._write("moved", seed, target)

    async def _write(self, *arguments: str) -> int:
        keys = [self._key, self._rules, self._moved]
        return int(await self._server.call(_NOTICE, keys, list(arguments)))

    async def rules(self) -> list[SharedRule]:
        """Every rule that any worker told of."""
        found = await self._server.run("HGETALL", self._rules)
        return [
            SharedRule(rule.decode(), bool(said["holds"]), str(said["reason"]))
            for rule, said in ((rule, json.loads(text)) for rule, text in _pairs(found))
        ]

    async def moved(self) -> dict[str, str]:
        """Where seeds were redirected to."""
        found = await self._server.run("HGETALL", self._moved)
        return {seed.decode(): target.decode() for seed, target in _pairs(found)}

    async def count_pages(self, process: str, pages: int) -> None:
        """Tell how many pages a process fetched so far."""
        await self._server.run("HSET", self._pages, process, pages)


def _pairs(found: Any) -> list[tuple[bytes, bytes]]:
    """A hash, which comes as a mapping or, in older protocols, as a flat list."""
    if isinstance(found, dict):
        return list(found.items())
    return list(zip(found[::2], found[1::2], strict=True))
