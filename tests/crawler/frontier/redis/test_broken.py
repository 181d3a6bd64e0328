"""Requests that broke wait again for a later worker, and foreign records are put aside."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import pytest

from crawler.frontier.queue import MAX_TRIES
from crawler.frontier.request_records import MIDDLE, pack_host
from neardup.storage.redis.connecting import connect
from tests.crawler.frontier.redis.fleet import A, B, link, links, worker

if TYPE_CHECKING:
    from crawler.frontier.redis.shared_frontier import RedisFrontier
    from crawler.frontier.request_records import Leased

SHARDS = 4


async def take(frontier: RedisFrontier) -> list[Leased]:
    """Everything that waits."""
    found: list[Leased] = []
    while some := await frontier.lease(100, dict.fromkeys(frontier.owned, 100), most_hosts=100):
        found += some
    return found


async def break_all(frontier: RedisFrontier) -> None:
    """Let everything that waits break at every try."""
    for _ in range(MAX_TRIES):
        await frontier.finish([], await take(frontier))


async def test_what_broke_at_every_try_is_leased_to_the_next_worker_as_new(redis_url: str) -> None:
    # Far more than one call of a script looks at.
    wanted = [*links(A, 1_200), link(B, "1", priority=5, depth=3)]
    async with worker(redis_url) as one:
        await one.push(wanted)
        await break_all(one)
        counts = await one.counts()
        assert (counts.failed, counts.waiting, counts.leased) == (len(wanted), 0, 0)
        await one.close()
    async with worker(redis_url, "two") as two:
        await two.retry_broken()
        counts = await two.counts()
        assert (counts.failed, counts.waiting) == (0, len(wanted))
        found = await take(two)
        assert {one.url for one in found} == {link.url for link in wanted}
        assert {one.tries for one in found} == {0}
        assert [one.depth for one in found if one.priority == 5] == [3]
        await two.finish(found, [])
        assert (await two.counts()).done == len(wanted)


async def test_a_page_that_a_shorter_way_led_to_is_still_one_that_may_have_been_fetched(
    redis_url: str,
) -> None:
    far, near = link(A, "1", depth=5), link(A, "1", depth=1)._replace(is_followed=True)
    async with worker(redis_url) as one:
        await one.push([far])
        await one.finish(await take(one), [])
        await one.push([near])
        await break_all(one)
        await one.close()
    async with worker(redis_url, "two") as two:
        await two.retry_broken()
        assert [(one.is_again, one.tries) for one in await take(two)] == [(True, 0)]


async def test_a_worker_that_joins_others_at_work_does_not_try_again(redis_url: str) -> None:
    async with worker(redis_url) as one:
        await one.push(links(A, 2))
        await break_all(one)
        await one.push(links(B, 2))
        async with worker(redis_url, "two") as two:
            await two.retry_broken()
            assert (await two.counts()).failed == 2
        await one.finish(await take(one), [])
        await one.release(dict.fromkeys(one.owned, 0.0))
        # Nothing else is left, so that the third may.
        async with worker(redis_url, "three") as three:
            await three.retry_broken()
            assert (await three.counts()).failed == 0
            assert len(await take(three)) == 2


async def test_records_of_another_program_are_put_aside_and_the_others_leased(
    redis_url: str,
) -> None:
    server = await connect(redis_url)
    shard = f"{{fleet:s{A % SHARDS:02}}}"
    host = pack_host(A)
    foreign = [host, host + b"junk", host + bytes(15) + b"\x00\x07", host + b"\x01" * 60]
    async with worker(redis_url, shards=SHARDS) as one:
        await one.push(links(A, 3))
        for record in foreign:
            await server.run("ZADD", f"{shard}:queue", 0, record)
        found = await take(one)
        assert len(found) == 3
        await one.finish(found, [])
        counts = await one.counts()
        assert (counts.waiting, counts.done, counts.unreadable) == (0, 3, len(foreign))
        assert set(await server.run("HKEYS", f"{shard}:unreadable")) == set(foreign)
        await server.run("HSET", f"{shard}:failed", "no id", "no request")
        await one.close()
    async with worker(redis_url, "two", shards=SHARDS) as two:
        await two.retry_broken()
        assert (await two.counts()).failed == 1  # it stays where it is
    await server.close()


async def test_records_of_hosts_that_stand_nowhere_keep_no_fleet_from_its_end(
    redis_url: str,
) -> None:
    server = await connect(redis_url)
    # The URL of the last is no UTF-8; numbers of the others are none that we write.
    numbers = [(2**63, MIDDLE), (B, 0), (B, 2 * MIDDLE), (B, MIDDLE)]
    records = [
        struct.pack(">QQHIHBBI", host, urgency, 0, 0, 1, 0, 0, 3) + b"\xff\xfe\xfd{}"
        for host, urgency in numbers
    ]
    async with worker(redis_url, shards=1) as one:
        await one.push(links(A, 2))
        for record in [b"junk", *records]:
            await server.run("ZADD", "{fleet:s00}:queue", 0, record)
        found: list[Leased] = []
        while not (counts := await one.counts()).is_finished:
            found += (some := await take(one))
            await one.finish(some, [])
        assert (counts.done, counts.unreadable) == (3, 4)
        assert [leased.url for leased in found if leased.host == B] == ["\ufffd" * 3]
    await server.close()


@pytest.mark.parametrize("junk", ["", "junk", "1 junk", "1 [1]", '1 ["a", Infinity, 1, ""]'])
async def test_a_pause_of_another_program_is_named_and_left_out(
    redis_url: str, caplog: pytest.LogCaptureFixture, junk: str
) -> None:
    server = await connect(redis_url)
    async with worker(redis_url, shards=1) as one:
        await one.push(links(A, 2))
        await server.run("HSET", "{fleet:s00}:pauses", pack_host(A), junk)
        assert len(await one.lease(9, {}, most_hosts=9)) == 2
        assert "{fleet:s00}:pauses in Redis holds no pause at " in caplog.text
        await one.release({A: 0.0})
    await server.close()


async def test_a_delay_of_another_program_keeps_no_host_of_a_dead_worker(redis_url: str) -> None:
    server = await connect(redis_url)
    async with worker(redis_url, shards=1) as one:
        await one.push(links(A, 2))
        assert len(await one.lease(9, {}, most_hosts=9)) == 2
        await server.run("HSET", "{fleet:s00}:delays", pack_host(A), "junk")
    # Killed, and started again at once.
    async with worker(redis_url, shards=1) as again:
        assert len(await again.lease(9, {}, most_hosts=9)) == 2
    await server.close()
