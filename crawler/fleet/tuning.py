"""Parameters of verdicts, changed for a whole fleet by whoever reaches its Redis."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from crawler.fleet.board import Board
from crawler.fleet.status import at, names
from crawler.frontier.redis.errors import FleetError
from crawler.pages.live_parameters import check_name, from_json, to_json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from neardup.storage.redis.server import Server


def tune_fleet(
    url: str, name: str | None, changes: Mapping[str, object], origin: str
) -> dict[str, Any]:
    """Change parameters; running workers take them over within a second.

    Args:
        url: Of the Redis.
        name: Of the fleet; None where there is but one.
        changes: New values by name; nothing is written where there are none.
        origin: Who chose them.

    Returns:
        What holds now, by name.

    Raises:
        FleetError: There is no such fleet.
        ParameterError: A name or a value is wrong, or two do not go together.
        ServerError: The Redis cannot be used.
    """
    for parameter in changes:
        check_name(parameter)

    async def tune(server: Server, name: str) -> dict[str, Any]:
        board = Board(server)
        held = (await board.read()).parameters
        if not held:
            known = ", ".join(await names(server)) or "none"
            raise FleetError(f"no fleet {name} at {server.name}; there are: {known}")
        wanted = to_json(replace(from_json(held), **changes))  # type: ignore[arg-type]  # it checks
        if changes:
            await board.write_parameters(wanted, origin, time.time())
        chosen: dict[str, Any] = json.loads(wanted)
        return chosen

    found: dict[str, Any] = at(url, name, tune)
    return found
