"""How a crawl takes part in a fleet: it joins or says why not, and forgets what Redis may have."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from crawler.fleet.board import Board
from crawler.fleet.fleet import Fleet
from crawler.fleet.worker_crawl import FleetOptions
from crawler.job import Job
from crawler.run import JobOptions
from neardup.storage.redis.connecting import connect
from tests.crawler.fleet.fetcher import Fetcher

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

PREFIX = "crawl-once:test:"
KEY = b"k" * 16


@asynccontextmanager
async def joining(url: str, folder: Path) -> AsyncIterator[tuple[Fleet, Fetcher]]:
    """A crawl that has joined, or has failed to."""
    job = Job(folder, JobOptions())
    fetcher = Fetcher()
    try:
        fleet = Fleet(job, FleetOptions(url, "test", 60, 4, 100, 1_000, 0, 0.5))
        job.begin_visit()
        await fleet._join(fetcher)
        try:
            yield fleet, fetcher
        finally:
            await fleet.leave()
    finally:
        job.close()


async def run_in_redis(url: str, *command: str) -> None:
    """What somebody else does there."""
    server = await connect(url)
    await server.run(*command)
    await server.close()


async def test_sends_everything_again_where_redis_may_have_lost_it(
    redis_url: str, tmp_path: Path
) -> None:
    async with joining(redis_url, tmp_path / "worker") as (fleet, fetcher):
        assert fetcher.failures == []
        assert fleet.worker is not None
        fleet.recent.add(KEY)
        await fleet.worker._frontier.heartbeat()
        assert KEY in fleet.recent
        await run_in_redis(redis_url, "DEL", f"{{{PREFIX}:fleet}}:beats")
        await fleet.worker._frontier.heartbeat()
        assert fetcher.losses == 1
        assert KEY not in fleet.recent


async def test_says_why_it_cannot_join(redis_url: str, tmp_path: Path) -> None:
    await run_in_redis(redis_url, "SET", f"{PREFIX}texts", "no JSON")
    async with joining(redis_url, tmp_path / "worker") as (fleet, fetcher):
        assert fleet.worker is None
        assert "cannot join" in fetcher.failures[0]


async def test_a_worker_that_is_told_to_end_between_its_first_look_and_its_work_ends(
    redis_url: str, tmp_path: Path
) -> None:
    job = Job(tmp_path / "worker", JobOptions())
    fleet = Fleet(job, FleetOptions(redis_url, "test", 60, 4, 100, 1_000, 0, 0.5))
    job.begin_visit()
    server = await connect(redis_url, PREFIX)
    board = Board(server)
    for order in (None, "another worker", fleet.membership.worker):
        await board.stop(fleet.membership.worker)  # it concerns those that run
        await fleet._introduce()
        if order is not None:
            await board.stop(order)
        fetcher = Fetcher()
        await fleet._join(fetcher)
        assert fetcher.failures == []
        assert fleet.news is not None
        assert fleet.news.is_stopped is (order == fleet.membership.worker)
        await fleet.leave()
    await server.close()
    job.close()
