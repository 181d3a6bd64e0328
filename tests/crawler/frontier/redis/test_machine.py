"""Two workers of a fleet against a model made of lists, through deaths and returns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import redis
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from tests.crawler.frontier.redis.drivers import RedisDriver
from tests.crawler.frontier.redis.fleet_model import FleetModel

if TYPE_CHECKING:
    from crawler.frontier.request_records import Leased

pytestmark = pytest.mark.slow

WORKERS = 2
HOSTS = 5
WORKER = st.integers(0, WORKERS - 1)
HOST = st.integers(0, HOSTS - 1)
ROOMS = st.lists(st.integers(0, 2), min_size=HOSTS, max_size=HOSTS)
LIMITS = st.tuples(st.integers(0, HOSTS), st.integers(1, 3))
SOME = st.lists(st.integers(0, 50), max_size=3)


class FleetMachine(RuleBasedStateMachine):
    """Whatever is done, both hand out the same, and have the same."""

    url = ""

    @initialize()
    def begin(self) -> None:
        with redis.Redis.from_url(self.url) as client:
            client.flushall()
        self.drivers = [RedisDriver(self.url, str(number)) for number in range(WORKERS)]
        self.model = FleetModel()

    @rule(
        worker=WORKER,
        host=HOST,
        name=st.integers(0, 12),
        priority=st.integers(-2, 2),
        depth=st.integers(0, 2),
    )
    def push(self, worker: int, host: int, name: int, priority: int, depth: int) -> None:
        is_new = self.drivers[worker].push(host, str(name), priority, depth)
        assert is_new == self.model.push(host, str(name), priority, depth)

    @rule(worker=WORKER, rooms=ROOMS, most=st.integers(0, 6), limits=LIMITS)
    def lease(self, worker: int, rooms: list[int], most: int, limits: tuple[int, int]) -> None:
        most_hosts, room = limits
        driver = self.drivers[worker]
        hosts = dict(enumerate(rooms))
        found = driver.run(driver.frontier.lease(most, hosts, most_hosts=most_hosts, room=room))
        expected = self.model.lease(worker, most, hosts, most_hosts, room)
        assert [_known(one) for one in found] == [one.known for one in expected]
        driver.leased |= {one.url.removeprefix("http://"): one for one in found}

    def _chosen(self, worker: int, places: list[int], state: str) -> list[str]:
        held = sorted(one.page for one in self.model.held(worker, state))
        return sorted({held[place % len(held)] for place in places}) if held else []

    @rule(worker=WORKER, done=SOME, failed=SOME)
    def finish(self, worker: int, done: list[int], failed: list[int]) -> None:
        through = self._chosen(worker, done, "leased") + self._chosen(worker, done, "parked")
        broken = [one for one in self._chosen(worker, failed, "leased") if one not in through]
        driver = self.drivers[worker]
        leased = driver.leased
        driver.run(
            driver.frontier.finish(
                [leased[one] for one in through], [leased[one] for one in broken]
            )
        )
        self.model.finish(through, broken)

    @rule(worker=WORKER, places=SOME)
    def park(self, worker: int, places: list[int]) -> None:
        pages, driver = self._chosen(worker, places, "leased"), self.drivers[worker]
        driver.run(driver.frontier.park([driver.leased[page] for page in pages]))
        self.model.park(pages)

    @rule(worker=WORKER, places=SOME)
    def unpark(self, worker: int, places: list[int]) -> None:
        pages, driver = self._chosen(worker, places, "parked"), self.drivers[worker]
        is_leased = driver.run(driver.frontier.unpark([driver.leased[page] for page in pages]))
        assert is_leased == self.model.unpark(worker, pages)

    @rule(worker=WORKER, places=SOME)
    def give_back(self, worker: int, places: list[int]) -> None:
        pages, driver = self._chosen(worker, places, "leased"), self.drivers[worker]
        driver.run(driver.frontier.give_back([driver.leased[page] for page in pages]))
        self.model.give_back(pages)

    @rule(worker=WORKER, host=HOST)
    def release(self, worker: int, host: int) -> None:
        driver = self.drivers[worker]
        driver.run(driver.frontier.release({host: 0}))
        self.model.release(worker, host)

    @rule(worker=WORKER)
    def die(self, worker: int) -> None:
        self.drivers[worker].die()
        self.model.die(worker)

    @invariant()
    def check(self) -> None:
        driver = self.drivers[0]
        counts = driver.run(driver.frontier.counts())
        assert (counts.waiting, counts.leased, counts.parked) == self.model.counts()
        assert (counts.done, counts.failed) == (self.model.done, self.model.failed)
        assert counts.is_finished == (counts.waiting == counts.leased == 0)
        for number, one in enumerate(self.drivers):
            assert one.frontier.owned == self.model.owned(number)

    def teardown(self) -> None:
        for driver in self.drivers:
            driver.close()


def _known(leased: Leased) -> tuple[str, int, int]:
    return leased.url.removeprefix("http://"), leased.priority, leased.tries


def test_equals_the_model(redis_url: str) -> None:
    machine = type("Machine", (FleetMachine,), {"url": redis_url})
    run_state_machine_as_test(
        machine, settings=settings(deadline=None, max_examples=60, stateful_step_count=40)
    )
