"""Workers of a fleet, as tests need them."""

from __future__ import annotations

from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING

import pytest
import xxhash

from crawler.frontier.redis.shared_frontier import RedisFrontier
from crawler.frontier.request_records import QueuedLink
from neardup.storage.redis.connecting import connect
from tests.servers.redis import ServerUnavailableError, redis_server

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from tests.servers.redis import RedisServer

PLAN = "http://x/"
A, B, C = 1, 2, 3


def link(
    host: int, name: str, priority: int = 0, depth: int = 0, *, has_key: bool = True
) -> QueuedLink:
    """A link to a page of a host."""
    url = f"http://{host}/{name}"
    key = xxhash.xxh3_128_digest(url.encode("utf-8", "surrogatepass")) if has_key else None
    return QueuedLink(key, host, url, priority, name.encode("utf-8", "surrogatepass"), depth)


def links(host: int, count: int) -> list[QueuedLink]:
    """Links to so many pages of a host."""
    return [link(host, str(number)) for number in range(count)]


@asynccontextmanager
async def worker(
    url: str,
    name: str = "one",
    *,
    lease_secs: float = 60,
    shards: int = 4,
    rest_secs: float = 0,
    prefix: str = "fleet",
) -> AsyncIterator[RedisFrontier]:
    """A worker that took part, and was never heard of again: it is not closed."""
    server = await connect(url, prefix)
    frontier = RedisFrontier(
        server, name, lease_secs=lease_secs, shards=shards, rest_secs=rest_secs
    )
    try:
        await frontier.open(PLAN, {"rules": "1"})
        yield frontier
    finally:
        await server.close()


@contextmanager
def durable_server(*options: str) -> Iterator[RedisServer]:
    """A server that loses nothing that it answered, whenever it is killed.

    With ``appendfsync everysec`` it may: it writes nothing while it waits for a sync.
    """
    try:
        with redis_server("--appendfsync", "always", *options) as server:
            yield server
    except ServerUnavailableError as lack:
        pytest.skip(f"no Redis here: {lack}")
