"""All texts that a fleet keeps, for whoever makes one directory of its workers'."""

from __future__ import annotations

from typing import TYPE_CHECKING

import zstandard

from crawler.fleet.deduplication import from_json
from crawler.fleet.names import prefix_of
from crawler.maintenance.merge.fleet_texts import KeptText
from neardup import Parameters
from neardup.storage.redis.connecting import connect
from neardup.storage.redis.shared_deduplicator import SharedDeduplicator

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


async def kept_texts(url: str, name: str) -> AsyncIterator[KeptText]:
    """Read them one after the other, each with the page that it is of.

    Args:
        url: Of the Redis.
        name: Of the fleet.

    Raises:
        ServerError: The Redis cannot be used.
        StorageError: It holds pages of something else.
    """
    server = await connect(url, prefix_of(name))
    try:
        async for kept in SharedDeduplicator(server, Parameters()).kept():
            packed = zstandard.compress(kept.text.encode("utf-8", "replace"))
            yield KeptText(from_json(kept.original.about), packed)
    finally:
        await server.close()
