"""Connect a starting worker to a Redis that was reachable a moment ago."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from neardup.errors import ServerError
from neardup.storage.redis.connecting import connect
from neardup.storage.redis.server import why_to_wait

if TYPE_CHECKING:
    from neardup.storage.redis.server import Server

logger = logging.getLogger(__name__)

WAIT_SECS = 0.5


async def connect_again(url: str, prefix: str) -> Server:
    """Connect, and wait for the server while it is away.

    Raises:
        ServerError: It cannot be used.
    """
    waits = False
    while True:
        try:
            return await connect(url, prefix)
        except ServerError as error:
            if error.__cause__ is None or why_to_wait(error.__cause__) is None:
                raise
            if not waits:
                logger.warning("%s; waiting for it", error)
                waits = True
            await asyncio.sleep(WAIT_SECS)
