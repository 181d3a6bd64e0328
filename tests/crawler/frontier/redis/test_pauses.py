"""Hosts that refused are left alone by the whole fleet, whatever becomes of who asked them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.frontier.pauses import SharedPause
from tests.crawler.frontier.redis.fleet import A, B, link, links, worker
from tests.crawler.frontier.redis.test_deaths import LEASE_SECS, beat_for
from tests.waiting import eventually

if TYPE_CHECKING:
    from crawler.frontier.redis.shared_frontier import RedisFrontier

LONG = SharedPause("a.example", 60.0, 3, 14.0, "HTTP 429")
SHORT = LONG._replace(left_secs=0.4)


def taken_by(frontier: RedisFrontier) -> dict[int, SharedPause | None]:
    """What a worker is told of hosts that it takes."""
    told: dict[int, SharedPause | None] = {}
    frontier.after_taking.append(told.__setitem__)
    return told


async def lease_soon(frontier: RedisFrontier) -> list[str]:
    """What a worker gets as soon as there is anything."""
    leased = await eventually(lambda: frontier.lease(8, {}, most_hosts=8))
    return [one.url for one in leased]


async def test_a_host_that_refused_rests_when_it_is_given_back(redis_url: str) -> None:
    async with worker(redis_url) as one, worker(redis_url, "two") as two:
        await one.push([*links(A, 2), *links(B, 1)])
        leased = await one.lease(8, {}, most_hosts=1)
        await one.pause({A: LONG})
        await one.give_back(leased)
        await one.release({A: 0.0})
        assert [one.host for one in await two.lease(8, {}, most_hosts=8)] == [B]
        assert not (await two.counts()).is_finished


async def test_a_pause_outlives_its_worker(redis_url: str) -> None:
    async with worker(redis_url, "two", lease_secs=LEASE_SECS) as two:
        async with worker(redis_url, lease_secs=LEASE_SECS) as one:
            await one.push(links(A, 2))
            await one.lease(1, {}, most_hosts=1)
            await one.pause({A: LONG})
        await beat_for(2 * LEASE_SECS, two)
        assert (await two.counts()).waiting == 2
        assert await two.lease(4, {}, most_hosts=2) == []


async def test_the_next_worker_hears_of_it_until_the_host_answers(redis_url: str) -> None:
    async with worker(redis_url) as one, worker(redis_url, "two") as two:
        told = taken_by(two)
        await one.push(links(A, 3))
        leased = await one.lease(1, {}, most_hosts=1)
        await one.pause({A: SHORT})
        await one.give_back(leased)
        await one.release({A: 0.0})
        assert len(await lease_soon(two)) == 3
        assert told == {A: SHORT._replace(left_secs=0.0)}
        # It answers well now: nobody is told any more.
        await two.pause({A: None})
        await two.release({A: 0.0})
        again = taken_by(one)
        await one.push([link(A, "more")])
        assert len(await lease_soon(one)) == 1
        assert again == {A: None}


async def test_nobody_pauses_a_host_of_another_worker(redis_url: str) -> None:
    async with worker(redis_url) as one, worker(redis_url, "two") as two:
        await one.push(links(A, 3))
        leased = await one.lease(1, {}, most_hosts=1)
        await two.pause({A: LONG})
        await one.give_back(leased)
        await one.release({A: 0.0})
        assert len(await two.lease(4, {}, most_hosts=2)) == 3


async def test_what_is_postponed_waits_as_it_is_from_now_on(redis_url: str) -> None:
    async with worker(redis_url) as one:
        await one.push([link(A, "first"), link(A, "deep", depth=7), link(A, "urgent", 1)])
        urgent, first = await one.lease(2, {}, most_hosts=1)
        await one.postpone([first._replace(request=b"changed", priority=-1)])
        counts = await one.counts()
        assert (counts.waiting, counts.leased, counts.done) == (2, 1, 0)
        await one.push([link(A, "deeper", depth=9)])
        leased = await one.lease(3, {A: 3}, most_hosts=1)
        assert [one.url for one in leased] == ["http://1/deep", "http://1/deeper", first.url]
        again = leased[-1]
        assert (again.request, again.key, again.priority) == (b"changed", first.key, -1)
        await one.finish([urgent, *leased], [])
        counts = await one.counts()
        assert (counts.waiting, counts.leased, counts.done) == (0, 0, 4)
