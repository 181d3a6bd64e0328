"""Killed workers, a killed Redis, and what others wrote in it: nothing lost, nothing kept twice."""

from __future__ import annotations

import asyncio
import random
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import redis

from crawler.fleet.deduplication import MAX_FAILED_JUDGEMENTS
from crawler.frontier.queue import MAX_TRIES
from crawler.scheduling.fleet_scheduler import MAX_UNACKNOWLEDGED
from neardup import Parameters
from neardup.document import analyse
from neardup.fingerprints.digest import payload_digest
from neardup.storage.redis.connecting import connect
from neardup.storage.redis.shared_deduplicator import SharedDeduplicator
from tests.crawler.frontier.redis.fleet import durable_server
from tests.crawls.fleet import (
    MAX_SECS,
    NAME,
    Fleet,
    assert_nothing_lost_or_kept_twice,
    end,
    finish,
    moments,
    shown,
    wait_for,
)
from tests.sites.hosts import ManyHosts
from tests.waiting import some_moment

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator
    from pathlib import Path

    from tests.servers.redis import RedisServer

PAGES = 600
HOSTS = 8
WORKERS = 3
KILLS = 8
SERVER_KILLS = 2


@pytest.fixture
def durable_redis() -> Iterator[RedisServer]:
    """A server that loses nothing that it answered; by default it may, where its disk is slow."""
    with durable_server() as server:
        yield server


def test_nothing_is_lost_or_kept_twice_after_kills_of_workers_and_redis(
    durable_redis: RedisServer, tmp_path: Path
) -> None:
    seed = random.randrange(2**32)
    print(f"seed of the moments: {seed}")
    chance = random.Random(seed)
    kills = [(at, True) for at in moments(chance.randrange(2**32), KILLS, PAGES)]
    kills += [(at, False) for at in moments(chance.randrange(2**32), SERVER_KILLS, PAGES)]
    workers: dict[int, subprocess.Popen[str]] = {}
    with ManyHosts(PAGES, HOSTS) as site, ExitStack() as stack:
        fleet = Fleet(site, durable_redis.url, tmp_path)
        stack.callback(lambda: list(map(end, workers.values())))
        for number in range(1, WORKERS + 1):
            workers[number] = fleet.start(number)
        for at, is_worker in sorted(kills):
            wait_for(site, at)
            if is_worker:
                number = chance.choice(list(workers))
                end(workers[number])
                workers[number] = fleet.start(number)
            else:
                durable_redis.kill()
                some_moment(chance, 0.5)
                durable_redis.start()
        for number, process in workers.items():
            _end_well(fleet, number, process, workers)
        print(f"fetched again: {site.total - len(site.counts)}")
        assert_nothing_lost_or_kept_twice(fleet)


def test_a_kill_lets_few_pages_be_fetched_again(redis_url: str, tmp_path: Path) -> None:
    concurrent, kills = 2, (20, 45, 70, 95)
    options = ("-s", f"CONCURRENT_REQUESTS={concurrent}", "-s", "FLEET_LEASE_SECS=60")
    with ManyHosts(120, 8) as site:
        fleet = Fleet(site, redis_url, tmp_path, options)
        for at in kills:
            with fleet.running(1):
                wait_for(site, at)
        fleet.crawl_into(1)
        # Those that wait for an answer for long, as on a busy machine, come on top. Without a
        # limit some 26 were fetched again for each kill.
        assert site.total - 120 <= len(kills) * (MAX_UNACKNOWLEDGED + 3 * concurrent)
        assert_nothing_lost_or_kept_twice(fleet)


def _end_well(
    fleet: Fleet,
    number: int,
    process: subprocess.Popen[str],
    workers: dict[int, subprocess.Popen[str]],
) -> None:
    """Wait for the end of a worker, which is started again where it began beside a dead Redis."""
    output, errors = process.communicate(timeout=120)
    assert "Traceback" not in errors, errors
    if process.returncode == 2 and "is it running" in errors:
        workers[number] = fleet.start(number)
        finish(workers[number])
        return
    assert process.returncode == 0, output + errors


PREFIX = f"crawl-once:{NAME}:"
PAGE = 5


async def keep_damaged(url: str, payload: bytes) -> None:
    """Keep a text of which nothing is said that the crawler understands."""
    server = await connect(url, PREFIX)
    shared = SharedDeduplicator(server, Parameters())
    await shared.open()
    document = replace(analyse("a text of its own"), payload=payload_digest(payload))
    await shared.judge(b"o" * 16, document, b"no page")
    await server.close()


def test_a_kept_text_without_a_page_of_ours_is_named_and_stops_no_worker(
    redis_url: str, tmp_path: Path
) -> None:
    with ManyHosts(12, 2) as site:
        fleet = Fleet(site, redis_url, tmp_path)
        asyncio.run(keep_damaged(redis_url, site.body_of(PAGE)))
        said = fleet.crawl_into(1)
        assert f"holds no page of ours in {PREFIX}t:0" in said
        assert_nothing_lost_or_kept_twice(fleet)


def test_a_worker_whose_every_judgement_fails_stops_and_what_broke_is_tried_again(
    redis_url: str, tmp_path: Path
) -> None:
    with ManyHosts(60, 30) as site, redis.Redis.from_url(redis_url) as client:
        fleet = Fleet(site, redis_url, tmp_path)
        log = f"{PREFIX}{{{PREFIX}log}}:state"
        client.set(log, "written by another program")
        for _ in range(MAX_TRIES):
            process = fleet.start(1)
            output, errors = process.communicate(timeout=MAX_SECS)
            assert process.returncode == 1, output + errors
            assert f"the last {MAX_FAILED_JUDGEMENTS} judgements failed" in errors
            assert log in errors.partition("judgements failed")[2]
            status = shown(redis_url)
            assert status["workers"] == {}
            assert status["counts"]["leased"] == status["counts"]["parked"] == 0
        assert not fleet.rows()
        client.delete(log)
        fleet.crawl_into(1)
        assert_nothing_lost_or_kept_twice(fleet)
        assert shown(redis_url)["counts"]["failed"] == 0
