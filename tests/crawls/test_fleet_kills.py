"""SIGKILL of workers and of Redis: nothing lost, nothing kept twice."""

from __future__ import annotations

import random
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

from crawler.scheduling.fleet_scheduler import MAX_UNACKNOWLEDGED
from tests.crawler.frontier.redis.fleet import durable_server
from tests.crawls.fleet import (
    Fleet,
    assert_nothing_lost_or_kept_twice,
    end,
    finish,
    moments,
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
