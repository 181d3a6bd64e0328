"""The seen set of a fleet: exact at any size, with a Bloom filter of the server's or without."""

from __future__ import annotations

import os
import random
from collections import Counter
from typing import TYPE_CHECKING

import pytest
import redis

from tests.crawler.frontier.redis.fleet import A, durable_server, link, worker

if TYPE_CHECKING:
    from collections.abc import Iterator

MODULE = "REDIS_BLOOM_MODULE"
MAX_OF_A_BUCKET = 400


@pytest.fixture(params=["without a filter", "with a filter"])
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    if request.param == "without a filter":
        yield request.getfixturevalue("redis_url")
        return
    if MODULE not in os.environ:
        pytest.skip(f"no Bloom filters here: {MODULE} names no module of the server")
    with durable_server("--appendonly", "no", "--loadmodule", os.environ[MODULE]) as server:
        yield server.url


async def test_equals_a_set_while_its_buckets_are_split(url: str) -> None:
    chance = random.Random(3)
    names = [str(chance.randrange(6_000)) for _ in range(10_000)]
    seen: set[str] = set()

    async with worker(url, shards=1) as one:
        for start in range(0, len(names), 97):
            some = names[start : start + 97]
            answers = await one.push([link(A, name) for name in some])
            for name, is_new in zip(some, answers, strict=True):
                assert is_new == (name not in seen)
                seen.add(name)
        assert (await one.counts()).seen == len(seen)
    with redis.Redis.from_url(url) as client:
        sizes = Counter({name: client.hlen(name) for name in client.scan_iter("*:seen:*")})
        assert client.hget("{fleet:s00}", "filter") == (b"on" if _filters(client) else b"off")
    assert sizes.total() == len(seen)
    assert len(sizes) == -(-len(seen) // 128)
    assert max(sizes.values()) < MAX_OF_A_BUCKET


def _filters(client: redis.Redis) -> bool:
    return any(module[b"name"] == b"bf" for module in client.module_list())
