"""Servers in tests: connected, used, closed."""

from __future__ import annotations

import asyncio
import hashlib
import uuid
from typing import TYPE_CHECKING, TypeVar

from neardup.storage.redis.commands import Script
from neardup.storage.redis.connecting import connect

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from neardup.storage.redis.server import Server

Result = TypeVar("Result")


def using(
    url: str, use: Callable[[Server], Awaitable[Result]], prefix: str | None = "test:"
) -> Result:
    """Connect, and return what the use of it gives; None: under a prefix that nobody else has."""

    async def used() -> Result:
        server = await connect(url, f"{uuid.uuid4()}:" if prefix is None else prefix)
        try:
            return await use(server)
        finally:
            await server.close()

    return asyncio.run(used())


def script(source: str) -> Script:
    """A script that stands in the test."""
    return Script(source, hashlib.sha1(source.encode()).hexdigest())
