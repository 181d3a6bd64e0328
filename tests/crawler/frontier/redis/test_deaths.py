"""Workers that die, stand still or are cut off, and servers that do."""

from __future__ import annotations

import asyncio
import shutil
import time
from typing import TYPE_CHECKING

import pytest

from tests.crawler.frontier.redis.fleet import A, B, durable_server, link, links, worker

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.frontier.redis.shared_frontier import Heartbeat, RedisFrontier
    from tests.servers.redis import RedisServer

pytestmark = pytest.mark.slow

LEASE_SECS = 0.6


async def beat_for(secs: float, *frontiers: RedisFrontier) -> list[Heartbeat]:
    """Let workers beat for a time; tell what they were told."""
    heartbeats, end = [], time.monotonic() + secs
    while time.monotonic() < end:
        heartbeats += await asyncio.gather(*(frontier.heartbeat() for frontier in frontiers))
        await asyncio.sleep(0.05)
    return heartbeats


async def test_what_a_dead_worker_had_waits_again(redis_url: str) -> None:
    async with worker(redis_url, "two", lease_secs=LEASE_SECS) as two:
        async with worker(redis_url, lease_secs=LEASE_SECS) as one:
            await one.push([*links(A, 2), *links(B, 2)])
            held = await one.lease(4, {}, most_hosts=2)
            await one.park(held[:1])
        returned = [heartbeat.returned for heartbeat in await beat_for(3 * LEASE_SECS, two)]
        assert [names for names in returned if names] == [("one",)]
        counts = await two.counts()
        assert (counts.waiting, counts.leased, counts.parked) == (4, 0, 0)
        assert counts.workers == 1
        assert len(await two.lease(4, {}, most_hosts=2)) == 4


@pytest.mark.parametrize("kills", [1, 2])
async def test_what_a_worker_had_that_died_again_before_it_entered_waits_again(
    redis_url: str, kills: int
) -> None:
    """It was enrolled anew, and some shards still knew it as it was before."""
    async with worker(redis_url, "two", lease_secs=LEASE_SECS) as two:
        async with worker(redis_url, lease_secs=LEASE_SECS) as one:
            await one.push([*links(A, 2), *links(B, 2)])
            assert len(await one.lease(4, {}, most_hosts=2)) == 4
            for number in range(kills):
                await one._members.enrol(f"incarnation-{number}")
        await beat_for(3 * LEASE_SECS, two)
        counts = await two.counts()
        assert (counts.waiting, counts.leased, counts.workers) == (4, 0, 1)
        assert len(await two.lease(4, {}, most_hosts=2)) == 4


async def test_the_hosts_of_a_dead_worker_rest_as_it_wanted(redis_url: str) -> None:
    async with worker(redis_url, "two", lease_secs=LEASE_SECS) as two:
        async with worker(redis_url, lease_secs=LEASE_SECS, rest_secs=30) as one:
            await one.push(links(A, 2))
            await one.lease(1, {}, most_hosts=1)
        await beat_for(2 * LEASE_SECS, two)
        assert (await two.counts()).waiting == 2
        assert await two.lease(4, {}, most_hosts=2) == []


async def test_a_host_with_a_longer_delay_of_its_own_rests_for_it(redis_url: str) -> None:
    async with worker(redis_url) as one:
        await one.push([*links(A, 2), *links(B, 2)])
        assert len(await one.lease(4, {}, most_hosts=2)) == 4
        await one.delay({A: 600})
    # Killed, and started again at once.
    async with worker(redis_url) as again:
        assert {leased.host for leased in await again.lease(4, {}, most_hosts=2)} == {B}
        assert (await again.counts()).waiting == 2


async def test_who_was_taken_for_dead_is_told_so_and_begins_anew(redis_url: str) -> None:
    one_of = worker(redis_url, lease_secs=LEASE_SECS)
    async with one_of as one, worker(redis_url, "two", lease_secs=LEASE_SECS) as two:
        await one.push(links(A, 3))
        held = await one.lease(2, {}, most_hosts=1)
        await beat_for(2 * LEASE_SECS, two)
        assert one.is_overdue
        assert not two.is_overdue
        assert await one.lease(2, {A: 5}, most_hosts=5) == []
        assert await two.lease(1, {}, most_hosts=1) == held[:1]
        # It was fetched already, and still waits.
        await one.finish(held[1:], [])
        assert (await one.heartbeat()).lost
        assert not (await one.heartbeat()).lost
        assert one.owned == set()
        counts = await one.counts()
        assert (counts.waiting, counts.leased, counts.done) == (1, 1, 1)


async def test_links_that_a_server_lost_outlive_a_cancelled_push(own_redis: RedisServer) -> None:
    """A full server says that it has lost what was pushed, and takes nothing."""
    async with worker(own_redis.url, shards=1) as one:
        (shard,) = one._shards
        await one.push(links(A, 3))
        with own_redis.client() as client:
            client.flushall()
            client.config_set("maxmemory", 1)
            asking = asyncio.create_task(shard.check())
            while shard._server.outage.reason is None:
                await asyncio.sleep(0.01)
            assert shard.is_lost
            asking.cancel()
            await asyncio.wait([asking])
            assert asking.cancelled()
            client.config_set("maxmemory", 0)
        await shard.check()
        assert (await one.counts()).waiting == 3


async def test_a_server_that_stands_still_kills_nobody(own_redis: RedisServer) -> None:
    one_of = worker(own_redis.url, lease_secs=LEASE_SECS)
    async with one_of as one, worker(own_redis.url, "two", lease_secs=LEASE_SECS) as two:
        await one.push(links(A, 3))
        held = await one.lease(2, {}, most_hosts=1)
        await beat_for(LEASE_SECS, one, two)
        own_redis.pause()
        heartbeats = asyncio.gather(one.heartbeat(), two.heartbeat())
        await asyncio.to_thread(own_redis.stand_still, 2 * LEASE_SECS)
        assert not any(heartbeat.lost or heartbeat.returned for heartbeat in await heartbeats)
        after = await beat_for(LEASE_SECS, one, two)
        assert not any(heartbeat.lost or heartbeat.returned for heartbeat in after)
        await one.finish(held, [])
        assert (await two.counts()).done == 2


def test_calls_that_a_killed_server_did_not_answer_are_carried_out_once() -> None:
    async def test(server: RedisServer) -> None:
        async with worker(server.url) as one:
            await one.push(links(A, 20))
            leased = []
            for _ in range(4):
                server.kill()
                call = asyncio.create_task(one.lease(5, {A: 5}, most_hosts=1, room=5))
                answered, _ = await asyncio.wait([call], timeout=0.05)
                assert not answered
                server.start()
                leased += await call
            assert [found.request for found in leased] == [b"%d" % n for n in range(20)]
            assert not (await one.heartbeat()).lost

    with durable_server() as server:
        asyncio.run(test(server))


async def test_a_call_that_comes_twice_is_carried_out_once(redis_url: str) -> None:
    async with worker(redis_url, shards=1) as one:
        await one.push(links(A, 9))
        (shard,) = one._shards
        first = await one.lease(3, {}, most_hosts=1, room=9)
        shard._calls.made -= 1
        assert await one.lease(3, {A: 9}, most_hosts=1) == first
        await one.finish([], first[:1])
        shard._calls.made -= 1
        await one.finish([], first[:1])
        shard._calls.made -= 3  # one that was on its way for long
        assert await one.lease(3, {A: 9}, most_hosts=1) == []
        assert (await one.counts()).leased == 2
        shard._calls.made += 10
        (again, *_) = await one.lease(3, {A: 9}, most_hosts=1)
        assert (again.id, again.tries) == (first[0].id, 1)


def test_what_a_killed_server_lost_is_pushed_again(tmp_path: Path) -> None:
    files, kept = tmp_path / "files", tmp_path / "kept"
    files.mkdir()

    async def test(server: RedisServer) -> None:
        async with worker(server.url) as one:
            await one.push(links(A, 1))
            (page,) = await one.lease(1, {}, most_hosts=1)
            shutil.copytree(files, kept)
            await one.push([link(A, "found"), link(B, "found")])
            await one.finish([page], [])
            server.kill()
            shutil.rmtree(files)
            shutil.copytree(kept, files)
            server.start()
            assert (await one.heartbeat()).lost
            counts = await one.counts()
            assert (counts.waiting, counts.leased, counts.done) == (3, 0, 0)
            assert not (await one.heartbeat()).lost

    with durable_server("--dir", str(files)) as server:
        asyncio.run(test(server))


async def test_a_full_server_takes_ends_and_beats_and_is_waited_for(own_redis: RedisServer) -> None:
    async with worker(own_redis.url) as one:
        await one.push(links(A, 50))
        held = await one.lease(50, {}, most_hosts=1, room=50)
        with own_redis.client() as client:
            client.config_set("maxmemory", "1mb")
            call = asyncio.create_task(one.push([link(A, "new")]))
            answered, _ = await asyncio.wait([call], timeout=0.3)
            assert not answered
            assert not (await one.heartbeat()).lost
            client.config_set("maxmemory", "0")
            assert await call == [True]
            client.config_set("maxmemory", "1mb")
            assert [page.url for page in await one.lease(1, {A: 1}, most_hosts=1)]
            await one.finish(held, [])
            counts = await one.counts()
            assert (counts.done, counts.waiting, counts.leased) == (50, 0, 1)
