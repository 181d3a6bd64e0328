"""Many processes judge pages that repeat each other, and die, and so does their server."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
import time
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from neardup import jaccard
from tests.neardup.storage.redis.judges import SharedJudge
from tests.neardup.storage.redis.judging_process import PARAMETERS, PREFIX, page_of
from tests.neardup.storage.redis.running import using
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable

    from neardup.storage.redis.server import Server
    from neardup.storage.redis.shared_evidence import KeptText
    from tests.servers.redis import RedisServer

pytestmark = pytest.mark.slow

PROCESSES = 4
PAGES = 8
_DEADLINE_SECS = 120


class Told(NamedTuple):
    """What a process said of a page: of which page it is a duplicate."""

    page: int
    original: int | None


class Workers:
    """Processes that judge their shares; one that is killed begins again."""

    def __init__(self, url: str, clusters: int, folder: Path) -> None:
        self._arguments = [str(clusters), str(PAGES)]
        self._url = url
        self._folder = folder
        self._starts = 0
        self._running = {number: self._start(number) for number in range(PROCESSES)}
        self._deadline = time.monotonic() + _DEADLINE_SECS

    def _start(self, number: int) -> subprocess.Popen[bytes]:
        self._starts += 1
        with (self._folder / f"{self._starts}").open("wb") as told:
            return subprocess.Popen(
                [sys.executable, "-m", "tests.neardup.storage.redis.judging_process", self._url,
                 str(number), str(PROCESSES), *self._arguments],
                stdout=told,
            )  # fmt: skip

    def kill(self, number: int) -> None:
        """Kill one that still runs, and start it again."""
        process = self._running[number]
        if process.poll() is None:
            process.kill()
            process.wait()
            self._running[number] = self._start(number)

    def lines(self) -> int:
        return sum(file.read_bytes().count(b"\n") for file in self._folder.iterdir())

    def wait_for(self, lines: int) -> None:
        wait_until(lambda: self.lines() >= lines or not self.is_running())

    def is_running(self) -> bool:
        assert time.monotonic() < self._deadline
        return any(process.poll() is None for process in self._running.values())

    def told(self) -> list[Told]:
        """Wait for all, and return what they said."""
        wait_until(lambda: not self.is_running())
        assert [process.returncode for process in self._running.values()] == [0] * PROCESSES
        lines = [
            line
            for file in self._folder.iterdir()
            # The last line of one that was killed may not be whole.
            for line in file.read_text().split("\n")[:-1]
            if line != "through"
        ]
        return [Told(*json.loads(line)) for line in lines]


def _kept(url: str) -> list[KeptText]:
    async def kept(server: Server) -> list[KeptText]:
        judge = await SharedJudge.opened(server, PARAMETERS)
        return [stored async for stored in judge.deduplicator.kept()]

    return using(url, kept, PREFIX)


def _check(url: str, clusters: int, disturb: Callable[[Workers], None]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        workers = Workers(url, clusters, Path(folder))
        disturb(workers)
        told = workers.told()
    kept = {int.from_bytes(stored.original.owner): stored for stored in _kept(url)}
    # Exactly one of each cluster, and held with its text.
    assert sorted(page // 1000 for page in kept) == list(range(clusters))
    for page, stored in kept.items():
        assert stored.text == page_of(*divmod(page, 1000)).text
    for (_, one), (_, other) in combinations(list(kept.items())[:20], 2):
        assert jaccard(one.text, other.text) < PARAMETERS.min_similarity
    # Nobody was told otherwise, however often a page was judged.
    assert {each.page for each in told} == {
        1000 * cluster + number for cluster in range(clusters) for number in range(PAGES)
    }
    for each in told:
        if each.original is None:
            assert each.page in kept
        else:
            assert each.page not in kept
            assert each.original in kept
            text, original = page_of(*divmod(each.page, 1000)).text, kept[each.original].text
            assert jaccard(text, original) >= PARAMETERS.min_similarity


def test_processes_on_a_cluster_keep_one_of_each(cluster_url: str) -> None:
    _check(cluster_url, 25, lambda workers: None)


def test_killed_processes_lose_nothing_and_keep_nothing_twice(redis_url: str) -> None:
    clusters, deaths = 60, 6

    def kill(workers: Workers) -> None:
        source = random.Random(8)
        for death in range(deaths):
            workers.wait_for(clusters * PAGES * death // (deaths + 1))
            workers.kill(source.randrange(PROCESSES))

    _check(redis_url, clusters, kill)


def test_a_server_that_is_killed_full_and_slow_loses_nothing(own_redis: RedisServer) -> None:
    clusters = 200
    disturbances = [_kill, _fill, _kill, _pause, _kill]

    def disturb(workers: Workers) -> None:
        for number, disturbance in enumerate(disturbances):
            workers.wait_for(clusters * PAGES * (number + 1) // 7)
            assert workers.is_running()
            disturbance(own_redis)

    _always_durable(own_redis)
    _check(own_redis.url, clusters, disturb)


def _always_durable(server: RedisServer) -> None:
    # Every second, a disk that is slow may cost a killed server what it had acknowledged.
    with server.client() as client:
        client.config_set("appendfsync", "always")


def _kill(server: RedisServer) -> None:
    server.be_away(0.2)
    _always_durable(server)


def _fill(server: RedisServer) -> None:
    server.be_full(0.5)


def _pause(server: RedisServer) -> None:
    server.stand_still(0.5)
