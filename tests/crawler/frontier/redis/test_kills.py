"""Many processes that share a frontier, while they and the server are killed."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections import defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import pytest
import redis

from tests.crawler.frontier.redis import crawling
from tests.crawler.frontier.redis.fleet import durable_server
from tests.waiting import some_moment

if TYPE_CHECKING:
    from pathlib import Path

    from tests.servers.redis import RedisServer

pytestmark = pytest.mark.slow

WORKERS = 4
KILLS = 8
SERVER_KILLS = 2
DEADLINE_SECS = 90


class Fetch(NamedTuple):
    """When a worker was at a page."""

    began: float
    ended: float
    worker: str
    host: str
    url: str


class Fleet:
    """Processes; one that is killed comes again, under its own name or another one."""

    def __init__(self, server: RedisServer, log: Path) -> None:
        self._server, self._log = server, log
        self._names = iter(range(1_000))
        self.killed: dict[str, list[float]] = defaultdict(list)
        self.running = dict(self._started(self._new_name()) for _ in range(WORKERS))

    def _new_name(self) -> str:
        return f"worker-{next(self._names)}"

    def _started(self, name: str) -> tuple[str, subprocess.Popen[bytes]]:
        command = [sys.executable, "-m", crawling.__name__, self._server.url, name, str(self._log)]
        return name, subprocess.Popen(command)

    def kill_one(self, chance: random.Random) -> None:
        name = chance.choice(sorted(self.running))
        process = self.running.pop(name)
        process.kill()
        process.wait(10)
        self.killed[name].append(time.monotonic())
        again = name if chance.random() < 0.6 else self._new_name()
        self.running |= [self._started(again)]

    def wait(self) -> None:
        for process in self.running.values():
            assert process.wait(DEADLINE_SECS) == 0

    def end(self) -> None:
        for process in self.running.values():
            process.kill()
            process.wait(10)

    def fetches(self) -> list[Fetch]:
        """What was fetched; where a worker was killed, until then."""
        begun: dict[tuple[str, str], float] = {}
        found = []
        for line in self._log.read_text().splitlines():
            worker, at, what, host, url = line.split()
            if what == "begins":
                begun[worker, url] = float(at)
            else:
                found.append(Fetch(begun.pop((worker, url)), float(at), worker, host, url))
        for (worker, url), began in begun.items():
            ended = min(at for at in self.killed[worker] if at > began)
            host = url.removeprefix("http://").partition("/")[0]
            found.append(Fetch(began, ended, worker, host, url))
        return sorted(found)


def test_nothing_is_lost_and_no_host_has_two_workers(tmp_path: Path) -> None:
    chance = random.Random(8)
    with durable_server() as server:
        fleet = Fleet(server, tmp_path / "log")
        try:
            for kill in range(KILLS):
                some_moment(chance, 1.0)
                fleet.kill_one(chance)
                if kill % (KILLS // SERVER_KILLS) == 2:
                    server.be_away(0.3)
            fleet.wait()
        finally:
            fleet.end()
        fetches = fleet.fetches()
        with redis.Redis.from_url(server.url) as client:
            states = [client.hgetall(f"{{fleet:s{shard:02}}}") for shard in range(4)]
    assert {one.url for one in fetches} == {crawling.page(n).url for n in range(crawling.PAGES)}
    assert sum(int(state[b"done"]) for state in states) == crawling.PAGES
    # Each death costs at most the page that the worker was at.
    assert len(fetches) <= crawling.PAGES + KILLS
    by_host = defaultdict(list)
    for one in fetches:
        by_host[one.host].append(one)
    for some in by_host.values():
        for one, following in pairwise(some):
            assert one.worker == following.worker or one.ended <= following.began
