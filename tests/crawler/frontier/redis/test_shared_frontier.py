"""The frontier of a fleet over one server and over a cluster."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
import redis

from crawler.frontier.redis import FleetError
from crawler.frontier.redis.shared_frontier import RedisFrontier
from neardup.storage.redis.connecting import connect
from tests.crawler.frontier.redis.fleet import PLAN, A, B, C, link, links, worker
from tests.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from typing import Any

    from crawler.frontier.request_records import Leased


@pytest.fixture(params=["one server", "cluster"])
def url(request: pytest.FixtureRequest) -> str:
    name = "redis_url" if request.param == "one server" else "cluster_url"
    found: str = request.getfixturevalue(name)
    return found


def run(test: Coroutine[Any, Any, None]) -> None:
    asyncio.run(test)


async def drain(frontier: RedisFrontier) -> list[Leased]:
    """Everything that waits and is to be had."""
    found: list[Leased] = []
    while some := await frontier.lease(100, dict.fromkeys(frontier.owned, 100), most_hosts=100):
        found += some
    return found


def test_a_key_is_queued_once_whoever_pushes_it(url: str) -> None:
    async def test() -> None:
        async with worker(url) as one, worker(url, "two") as two:
            assert await one.push([link(A, "1"), link(B, "1"), link(A, "1")]) == [True, True, False]
            assert await two.push([link(A, "1"), link(A, "2")]) == [False, True]
            found = await drain(two)
            assert sorted(one.url for one in found) == ["http://1/1", "http://1/2", "http://2/1"]

    run(test())


def test_what_holds_no_key_is_queued_each_time(url: str) -> None:
    async def test() -> None:
        async with worker(url) as one:
            keyless = link(A, "1", has_key=False)
            assert await one.push([keyless, keyless]) == [True, True]
            assert await one.push([keyless]) == [True]
            assert [found.key for found in await drain(one)] == [None] * 3

    run(test())


def test_a_request_comes_back_as_it_was(url: str) -> None:
    async def test() -> None:
        async with worker(url) as one:
            pushed = link(2**63 - 1, "ü\udcff", -(10**15), 7)._replace(
                request=bytes(range(256)) * 20
            )
            await one.push([pushed])
            (found,) = await one.lease(5, {}, most_hosts=1)
            sent = (found.key, found.host, found.url, found.priority, found.request, found.depth)
            assert sent == pushed[:6]
            assert found.tries == 0

    run(test())


def test_a_host_is_owned_by_one_worker_until_it_gives_it_back(url: str) -> None:
    async def test() -> None:
        async with worker(url) as one, worker(url, "two") as two:
            await one.push([*links(A, 4), *links(B, 4)])
            (first,) = await one.lease(1, {}, most_hosts=1)
            other = await drain(two)
            assert {found.host for found in other} == {A, B} - {first.host}
            assert len(other) == 4
            await one.finish([first], [])
            await one.release({first.host: 0})
            assert one.owned == set()
            assert {found.host for found in await drain(two)} == {first.host}

    run(test())


def test_a_host_that_is_given_back_rests(url: str) -> None:
    async def test() -> None:
        async with worker(url) as one, worker(url, "two") as two:
            await one.push(links(A, 2))
            (first,) = await one.lease(1, {}, most_hosts=1)
            await one.finish([first], [])
            await one.release({A: 0.3})
            await two.push([link(A, "new")])
            assert await drain(two) == []
            assert (await two.counts()).waiting == 2
            assert len(await eventually(lambda: drain(two))) == 2

    run(test())


def test_what_is_given_back_is_in_its_old_place(url: str) -> None:
    async def test() -> None:
        async with worker(url) as one:
            await one.push([*links(A, 5), link(A, "urgent", 1)])
            first = await one.lease(4, {}, most_hosts=1)
            assert [found.request for found in first] == [b"urgent", b"0", b"1", b"2"]
            await one.give_back([first[2], first[0]])
            assert [found.request for found in await drain(one)] == [b"urgent", b"1", b"3", b"4"]

    run(test())


def test_what_breaks_is_tried_once_more_and_then_kept_apart(url: str) -> None:
    async def test() -> None:
        async with worker(url) as one:
            await one.push(links(A, 1))
            for tries in range(2):
                (found,) = await drain(one)
                assert found.tries == tries
                await one.finish([], [found])
            counts = await one.counts()
            assert (counts.failed, counts.waiting, counts.leased, counts.done) == (1, 0, 0, 0)
            assert counts.is_finished

    run(test())


def test_parked_requests_do_not_hold_up_the_end_and_can_be_had_again(url: str) -> None:
    async def test() -> None:
        async with worker(url) as one, worker(url, "two") as two:
            await one.push(links(A, 3))
            first, second, third = await drain(one)
            await one.park([first, second])
            await one.finish([third], [])
            counts = await two.counts()
            assert (counts.parked, counts.leased, counts.is_finished) == (2, 0, True)
            assert await one.unpark([first]) == [True]
            assert not (await two.counts()).is_finished
            await one.finish([first, second], [])
            counts = await two.counts()
            assert (counts.done, counts.parked, counts.is_finished) == (3, 0, True)

    run(test())


def test_what_is_unparked_waits_where_its_host_is_not_owned(url: str) -> None:
    async def test() -> None:
        async with worker(url) as one, worker(url, "two") as two:
            await one.push(links(A, 1))
            (found,) = await drain(one)
            await one.park([found])
            await one.release({A: 0})
            assert await one.unpark([found]) == [False]
            assert await drain(two) == [found]

    run(test())


def test_a_worker_that_closes_gives_back_all_it_has(url: str) -> None:
    async def test() -> None:
        async with worker(url, "two") as two:
            async with worker(url) as one:
                await one.push([*links(A, 3), *links(B, 3), *links(C, 3)])
                held = await drain(one)
                await one.park(held[:2])
                assert await drain(two) == []
                await one.close()
            assert sorted(await drain(two)) == sorted(held)
            assert (await two.counts()).workers == 1

    run(test())


def test_a_worker_that_starts_again_gets_back_what_it_had(url: str) -> None:
    async def test() -> None:
        async with worker(url) as one:
            await one.push(links(A, 3))
            held = await drain(one)
        async with worker(url) as again:
            assert (await again.counts()).waiting == 3
            assert await drain(again) == held

    run(test())


def test_another_plan_is_refused_with_both(url: str) -> None:
    async def test() -> None:
        async with worker(url):
            server = await connect(url, "fleet")
            try:
                with pytest.raises(FleetError, match=r"plan http://x/, and this worker has http:y"):
                    await RedisFrontier(server, "two", shards=4).open("http:y", {"rules": "1"})
                with pytest.raises(FleetError, match="rules 1, and this worker has nothing"):
                    await RedisFrontier(server, "two", shards=4).open(PLAN, {})
                with pytest.raises(FleetError, match="shards 4, and this worker has 5"):
                    await RedisFrontier(server, "two", shards=5).open(PLAN, {"rules": "1"})
            finally:
                await server.close()

    run(test())


def test_two_fleets_in_one_server_do_not_meet(url: str) -> None:
    async def test() -> None:
        async with worker(url) as one, worker(url, prefix="other") as other:
            assert await one.push(links(A, 2)) == [True, True]
            assert await other.push(links(A, 2)) == [True, True]
            await drain(one)
            assert (await other.counts()).waiting == 2

    run(test())


def test_a_shorter_way_takes_the_place_of_a_longer_one_that_waits(url: str) -> None:
    async def test() -> None:
        async with worker(url) as one:
            await one.push([link(A, "1", 0, 3), link(A, "2", 0, 2)])
            nearer = link(A, "1", 0, 1)._replace(is_followed=True)
            assert await one.push([nearer, nearer]) == [False, False]
            found = await drain(one)
            assert [(page.url, page.depth, page.is_again) for page in found] == [
                ("http://1/1", 1, True),
                ("http://1/2", 2, False),
            ]
            assert (await one.counts()).waiting == 0

    run(test())


def test_a_shorter_way_to_what_is_no_page_of_ours_changes_nothing(url: str) -> None:
    async def test() -> None:
        async with worker(url) as one:
            await one.push([link(A, "1", 0, 3)])
            assert await one.push([link(A, "1", 0, 1)]) == [False]
            (found,) = await drain(one)
            assert (found.depth, found.is_again) == (3, False)

    run(test())


def test_what_was_handed_out_is_handed_out_again_from_nearer_and_once(url: str) -> None:
    async def test() -> None:
        async with worker(url) as one:
            await one.push([link(A, "1", 0, 3)])
            (deep,) = await one.lease(1, {}, most_hosts=1)
            await one.push([link(A, "1", 0, 1)._replace(is_followed=True)])
            (near,) = await one.lease(5, {A: 5}, most_hosts=1)
            assert (near.depth, near.is_again, near.tries) == (1, True, 0)
            # As where the worker dies: the older one is dropped when its turn comes.
            await one.give_back([deep, near])
            (again,) = await one.lease(5, {A: 5}, most_hosts=1)
            assert again.id == near.id
            await one.finish([], [again])
            (last,) = await one.lease(5, {A: 5}, most_hosts=1)
            assert (last.tries, last.is_again) == (1, True)
            await one.finish([], [last])
            assert (await one.counts()).failed == 1

    run(test())


def test_a_host_of_which_every_request_was_dropped_belongs_to_nobody(url: str) -> None:
    async def test() -> None:
        async with worker(url) as one, worker(url, "two") as two:
            await one.push([link(A, "1", 0, 3)])
            (deep,) = await one.lease(1, {}, most_hosts=1)
            await one.push([link(A, "1", 0, 1)._replace(is_followed=True)])
            (near,) = await one.lease(5, {A: 5}, most_hosts=1)
            await one.give_back([deep])
            await one.finish([near], [])
            await one.release({A: 0})
            assert await drain(two) == []
            assert two.owned == set()
            await two.push([link(A, "2")])
            (later,) = await drain(one)
            assert later.url == "http://1/2"

    run(test())


def test_one_lease_looks_at_no_more_hosts_than_it_may_own(url: str) -> None:
    """Each has one request, for which a nearer one was made: it is dropped when its turn comes."""
    hosts = range(10)

    async def test() -> None:
        async with worker(url, shards=1) as one, worker(url, "two", shards=1) as two:
            for depth in (5, 1):
                nearer = [link(host, "page", depth=depth) for host in hosts]
                await one.push([each._replace(is_followed=depth == 1) for each in nearer])
            near = await one.lease(10, {}, most_hosts=10, room=1)
            assert [each.depth for each in near] == [1] * 10
            await one.finish(near, ())
            await one.release(dict.fromkeys(hosts, 0.0))
            for left in (7, 4, 1, 0):
                assert await two.lease(100, {}, most_hosts=3) == []
                counts = await two.counts()
                assert (counts.hosts, counts.waiting) == (left, left)
                assert not two.owned

    run(test())


def test_commands_of_a_batch_do_not_grow_with_its_requests(redis_url: str) -> None:
    counts = []

    async def test(number: int) -> None:
        async with worker(redis_url, shards=1, prefix=f"fleet{number}") as one:
            with redis.Redis.from_url(redis_url) as client:
                before = client.info()["total_commands_processed"]
                assert all(await one.push(links(A, number) + links(B, number)))
                leased = await one.lease(2 * number, {}, most_hosts=2, room=number)
                assert len(leased) == 2 * number
                await one.finish(leased, ())
                counts.append(client.info()["total_commands_processed"] - before)

    for number in (1, 5, 50):  # the server meets its scripts in the first
        run(test(number))
    # 100 seen keys are in one bucket.
    assert counts[1] == counts[2] < 45


def test_a_spelling_that_waits_again_hides_no_request_of_another_host(redis_url: str) -> None:
    """It is read from the beginning of its host; the other host is read on where it was."""

    async def test() -> None:
        async with worker(redis_url, shards=1) as one:
            await one.push([link(A, "a"), link(B, "b"), link(C, "c")])
            await one.finish(await one.lease(3, {}, most_hosts=3, room=1), ())
            near = link(A, "page", 5, 1)._replace(is_followed=True)
            other = link(A, "page/", 0, 3)._replace(key=near.key)
            await one.push([other])
            await one.push([near])
            (failed,) = await one.lease(1, {A: 1}, most_hosts=0)
            assert failed.url == near.url
            await one.push([near._replace(url="", failed=(near.url,), is_followed=False)])
            await one.finish([failed], ())
            urgent, patient = (link(B, name, 5) for name in "12"), (link(B, n, -5) for n in "345")
            await one.push([*urgent, *patient, link(C, "6", -10)])
            found = await one.lease(6, dict.fromkeys((A, B, C), 10), most_hosts=0)
            assert [each.url for each in found] == [
                "http://2/1", "http://2/2", "http://1/page/",
                "http://2/3", "http://2/4", "http://2/5",
            ]  # fmt: skip

    run(test())
