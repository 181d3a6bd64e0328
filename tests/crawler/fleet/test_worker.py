"""A worker's loop on a real Redis: when it ends, and what it does where it was taken for dead."""

from __future__ import annotations

import asyncio
import math
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from crawler.fleet.buffer import Buffer
from crawler.fleet.news import News
from crawler.fleet.worker import Outbox, RepeatingTasks, Worker
from crawler.fleet.worker_crawl import IDLE_SECS, FleetOptions
from crawler.frontier.queue import RequestQueue
from crawler.frontier.redis.shared_frontier import RedisFrontier
from crawler.job import Job
from crawler.run import JobOptions
from neardup.storage.redis.connecting import connect
from tests.crawler.fleet.fetcher import Fetcher
from tests.crawler.frontier.redis.fleet import PLAN, A, B, link, links, worker

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from crawler.frontier.order import QueuedRequest

PREFIX = "crawl-once:test:"
SHARDS = 4


class Crawl:
    """A worker with all that it holds together; its loop does not run by itself."""

    def __init__(self, job: Job, frontier: RedisFrontier, news: News, url: str) -> None:
        assert isinstance(job.frontier.queue, RequestQueue)
        self.frontier, self.news = frontier, news
        self.fetcher = Fetcher()
        self.outbox: Outbox[Any] = Outbox()
        self.buffer = Buffer(job.database, job.frontier.queue, job.url_rules)
        options = FleetOptions(url, "test", 60, SHARDS, 100, 1_000, 0, 0.5)
        parts = (frontier, self.buffer, self.outbox, news, options, self.fetcher)
        self.worker = Worker(*parts)
        self._job = job

    @property
    def queued(self) -> int:
        """How many requests wait in the crawl's own queue."""
        return len(self._job.frontier.queue)

    def skip(self) -> None:
        """Skip everything that waits, as a rule does that was learned just now."""
        self._change(
            "UPDATE requests SET state = 4, rule = 1, group_digest = x'0f' WHERE state = ?", 0, -1
        )

    def put_back(self) -> None:
        """Put back everything that a rule skips, as one does that is revoked."""
        sql = "UPDATE requests SET state = 0, rule = NULL, group_digest = NULL WHERE state = ?"
        self._change(sql, 4, 1)

    def _change(self, sql: str, state: int, more: int) -> None:
        assert isinstance(self._job.frontier.queue, RequestQueue)
        self._job.frontier.queue.count(more * self._job.frontier.queue.change(A, sql, [(state,)]))

    def hand_out(self) -> QueuedRequest:
        """Begin with the next request."""
        queued = self._job.url_rules.lease(lambda host: 0)
        assert queued is not None
        self.buffer.hand_out(queued)
        return queued

    def end_one(self) -> None:
        """Fetch the next request."""
        self.leave(self.hand_out(), "ends")

    def leave(self, queued: QueuedRequest, how: str) -> None:
        """End a request that is under way, or let it wait again, as the scheduler does."""
        queue = self._job.frontier.queue
        if how == "waits here":
            queue.put_back(queued, is_changed=False)
            self.buffer.put_back(queued.id)
            return
        queue.finish([queued.id], failed=False)
        if how == "ends":
            self.buffer.end([queued.id], failed=False)
        else:
            self.buffer.postpone(queued)


@asynccontextmanager
async def crawl(url: str, folder: Path) -> AsyncIterator[Crawl]:
    """A worker that has joined."""
    server = await connect(url, PREFIX)
    job = Job(folder, JobOptions())
    try:
        job.begin_visit()
        frontier = RedisFrontier(server, "one", shards=SHARDS)
        await frontier.open(PLAN, {"rules": "1"})
        news = News(job, server, "host/worker-1/ab")
        await news.begin()
        yield Crawl(job, frontier, news, url)
    finally:
        await server.close()
        job.close()


@asynccontextmanager
async def two_workers(url: str, folder: Path) -> AsyncIterator[tuple[Crawl, RedisFrontier]]:
    """A worker that has joined, and the frontier of another one."""
    async with (
        crawl(url, folder / "one") as own,
        worker(url, "other", prefix=PREFIX, shards=SHARDS) as other,
    ):
        yield own, other


async def turn(own: Crawl) -> None:
    """Everything that the loop does once."""
    await own.worker._count()
    await own.worker._tick()


async def test_a_pause_between_two_runs_ends_sooner_where_it_is_wanted() -> None:
    ran, sooner = asyncio.Event(), asyncio.Event()

    async def act() -> None:
        ran.set()

    repeating = RepeatingTasks(pytest.fail)
    repeating.start(act, 3_600, sooner)
    for _ in range(3):
        await ran.wait()
        ran.clear()
        sooner.set()
    await repeating.stop()


async def test_what_is_found_late_is_work(redis_url: str, tmp_path: Path) -> None:
    async with crawl(redis_url, tmp_path / "one") as own:
        await turn(own)
        assert own.worker.is_finished
        own.outbox.add(link(A, "a seed of a slow list"))
        assert not own.worker.is_finished
        await own.worker.deliver()
        assert not own.worker.is_finished


async def test_what_is_found_and_sent_while_the_fleet_is_counted_is_work(
    redis_url: str, tmp_path: Path
) -> None:
    async with crawl(redis_url, tmp_path / "one") as own:
        counts = own.frontier.counts

        async def counts_late() -> Any:
            found = await counts()
            own.outbox.add(link(A, "1"))
            await own.worker.deliver()
            return found

        own.frontier.counts = counts_late  # type: ignore[method-assign]
        await own.worker._count()
        assert not own.worker.is_finished


async def test_tries_its_rules_before_the_fleet_is_finished(redis_url: str, tmp_path: Path) -> None:
    async with crawl(redis_url, tmp_path / "one") as own:
        own.outbox.add(link(A, "1"))
        await own.worker._tick()
        own.outbox.add(link(A, "2"))
        own.end_one()
        await own.worker._tick()
        own.end_one()  # before the frontier was asked again
        await own.worker._tick()
        await own.worker._count()
        assert not own.worker.is_finished
        own.worker._ask_again = 0.0
        await own.worker._tick()
        assert own.worker.is_dry
        assert own.worker.is_finished


async def test_keeps_a_host_of_which_a_rule_puts_something_back(
    redis_url: str, tmp_path: Path
) -> None:
    async with crawl(redis_url, tmp_path / "one") as own:
        own.outbox.add(link(A, "1"))
        await own.worker._tick()
        own.skip()
        await own.worker._tick()
        assert (await own.frontier.counts()).parked == 1
        own.worker._hosts._active[A] -= IDLE_SECS
        own.worker._ask_again = 0.0
        lease = own.frontier.lease

        async def lease_meanwhile(*wish: Any, **more: Any) -> Any:
            own.put_back()
            return await lease(*wish, **more)

        own.frontier.lease = lease_meanwhile  # type: ignore[method-assign]
        await own.worker._tick()
        own.frontier.lease = lease  # type: ignore[method-assign]
        assert own.frontier.owned == {A}
        own.worker._ask_again = 0.0
        await own.worker._tick()
        own.end_one()
        own.worker._ask_again = 0.0
        await turn(own)
        await own.worker._count()
        assert own.queued == 0
        assert own.worker.is_finished
        assert (await own.frontier.counts()).done == 1


async def test_holds_what_the_frontier_says_after_it_was_taken_for_dead(
    redis_url: str, tmp_path: Path
) -> None:
    async with two_workers(redis_url, tmp_path) as (own, other):
        await other.push([*links(A, 20), *links(B, 20)])
        await turn(own)
        assert own.buffer.waiting
        await take_for_dead(own, "one")
        enter = own.frontier._enter

        async def enter_slowly() -> None:
            await enter()
            own.worker._ask_again = 0.0
            await own.worker._tick()

        own.frontier._enter = enter_slowly  # type: ignore[method-assign]
        await own.frontier.heartbeat()
        assert own.fetcher.losses == 1
        await turn(own)
        counts = await own.frontier.counts()
        held = (await own.frontier.workers())["one"]
        assert counts.leased == held.leased == own.buffer.waiting
        assert held.hosts == len(own.frontier.owned) == len(own.worker._hosts)


async def test_tells_what_ends_while_it_is_taken_for_dead(redis_url: str, tmp_path: Path) -> None:
    async with two_workers(redis_url, tmp_path) as (own, other):
        await other.push(links(A, 2))
        await turn(own)
        own.end_one()
        finish = own.frontier.finish

        async def finish_slowly(*ended: Any) -> None:
            own.frontier.finish = finish  # type: ignore[method-assign]
            await finish(*ended)
            await take_for_dead(own, "one")
            await own.frontier.heartbeat()
            own.worker._ask_again = 0.0
            await own.worker._refill()
            own.end_one()

        own.frontier.finish = finish_slowly  # type: ignore[method-assign,assignment]
        await own.worker._tick()
        assert not own.buffer.waiting
        await own.worker._tick()
        await own.worker._count()
        assert own.news.counts is not None
        assert own.news.counts.done == 2
        assert own.worker.is_finished


@pytest.mark.parametrize("leave", ["ends", "waits here", "waits in the frontier"])
async def test_every_lease_of_a_page_ends_where_shorter_ways_come_while_it_is_under_way(
    redis_url: str, tmp_path: Path, leave: str
) -> None:
    async with crawl(redis_url, tmp_path / "one") as own:
        await own.frontier.push([link(A, "1", 0, 5)])
        await own.worker._tick()
        queued = own.hand_out()
        for depth in (4, 3, 2):
            nearer = link(A, "1", 0, depth)._replace(is_followed=True)
            await own.frontier.push([nearer])
            own.worker._ask_again = 0
            await own.worker._tick()
        own.leave(queued, leave)
        while own.queued or (await own.frontier.counts()).waiting:
            if own.queued:
                own.end_one()
            own.worker._ask_again = 0
            await own.worker._tick()
        await own.worker._tick()
        counts = await own.frontier.counts()
        assert (counts.waiting, counts.leased, counts.parked) == (0, 0, 0)
        assert not own.buffer.hosts


async def test_hosts_rest_as_long_as_each_asks_for_where_a_worker_ends(
    redis_url: str, tmp_path: Path
) -> None:
    async with two_workers(redis_url, tmp_path) as (own, other):
        await other.push([*links(A, 20), *links(B, 20)])
        own.fetcher.rests[A] = 30.0
        own.worker._hosts.share = 2
        await own.worker._tick()
        assert own.frontier.owned == {A, B}
        await own.worker.leave()
        leased = await other.lease(100, {}, most_hosts=2)
        assert {one.host for one in leased} == {B}
        assert (await other.counts()).waiting == 40 - len(leased)


async def take_for_dead(own: Crawl, name: str) -> None:
    """Do what the others do where a worker beats no more, but for returning what it holds."""
    server = own.news.board._server
    key = f"{{{PREFIX}:fleet}}:beats"
    await server.run("HDEL", key, name)


async def test_a_delay_that_is_longer_than_the_usual_one_outlives_the_worker(
    redis_url: str, tmp_path: Path
) -> None:
    async with two_workers(redis_url, tmp_path) as (own, other):
        await own.frontier.push(links(A, 2))
        own.fetcher.delays = {A: 600.0}
        await own.worker._tick()
        assert own.queued == 2
        await own.frontier.push(links(B, 2))
        await own.worker.deliver()  # as the next tick does, before anything is through
        # Killed, and started again at once.
        async with worker(redis_url, "one", prefix=PREFIX, shards=SHARDS):
            assert {leased.host for leased in await other.lease(9, {}, most_hosts=9)} == {B}


async def test_what_is_through_waits_for_more_while_enough_is_left_to_do(
    redis_url: str, tmp_path: Path
) -> None:
    async with crawl(redis_url, tmp_path) as own:
        await own.frontier.push([one for host in range(40) for one in links(host, 8)])
        await turn(own)
        assert own.buffer.waiting == 320
        own.worker._delivered = math.inf  # just now, however long it takes from here on
        own.outbox.add(link(A, "found"))
        for delivered in (0, 0, 0, 4):
            own.end_one()
            await own.worker._tick()
            assert (await own.frontier.counts()).done == delivered
        assert not own.outbox
        own.end_one()
        own.worker.hurry()
        await own.worker._tick()
        assert (await own.frontier.counts()).done == 5
