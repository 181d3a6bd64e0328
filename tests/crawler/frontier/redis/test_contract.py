"""The frontier of a fleet does what that of one machine does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.crawler.frontier.redis.drivers import RedisDriver, SqliteDriver
from tests.crawler.frontier.redis.fleet import A, B, C

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.crawler.frontier.redis.drivers import Driver


@pytest.fixture(params=["sqlite", "redis", "cluster"])
def frontier(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Driver]:
    opened: Driver
    if request.param == "sqlite":
        opened = SqliteDriver(tmp_path)
    else:
        name = "redis_url" if request.param == "redis" else "cluster_url"
        opened = RedisDriver(request.getfixturevalue(name))
    yield opened
    opened.close()


def push(frontier: Driver, host: int, count: int, priority: int = 0) -> None:
    for number in range(count):
        assert frontier.push(host, f"{priority}.{number}", priority)


def drain(frontier: Driver) -> list[str]:
    pages = []
    while (page := frontier.lease()) is not None:
        pages.append(page)
        frontier.finish(page)
    return pages


def hosts_of(pages: list[str]) -> list[int]:
    return [int(page.partition("/")[0]) for page in pages]


class TestFrontierContract:
    def test_a_page_is_queued_once(self, frontier: Driver) -> None:
        assert frontier.push(A, "1")
        assert not frontier.push(A, "1")
        assert frontier.lease() == "1/1"
        assert not frontier.push(A, "1")
        frontier.finish("1/1")
        assert not frontier.push(A, "1")
        assert frontier.lease() is None

    def test_one_host_is_served_in_the_order_of_arrival(self, frontier: Driver) -> None:
        push(frontier, A, 20)
        assert drain(frontier) == [f"1/0.{number}" for number in range(20)]

    def test_what_is_less_deep_goes_first_whenever_it_came(self, frontier: Driver) -> None:
        for depth in (2, 1, 300, 65_535, 0):
            frontier.push(A, str(depth), 0, depth)
        frontier.push(A, "urgent", 1, 9)
        assert drain(frontier) == [f"1/{one}" for one in ("urgent", 0, 1, 2, 300, 65_535)]

    def test_hosts_are_taken_in_turn(self, frontier: Driver) -> None:
        for host, count in ((A, 4), (B, 2), (C, 1)):
            push(frontier, host, count)
        assert hosts_of(drain(frontier)) == [A, B, C, A, B, A, A]

    def test_what_is_urgent_goes_first_and_what_can_wait_last(self, frontier: Driver) -> None:
        push(frontier, A, 1, priority=-1)
        push(frontier, A, 1)
        push(frontier, B, 2)
        push(frontier, B, 1, priority=2)
        pages = drain(frontier)
        assert pages == ["2/2.0", "1/0.0", "2/0.0", "2/0.1", "1/-1.0"]

    def test_a_host_that_comes_later_waits_for_one_turn_only(self, frontier: Driver) -> None:
        push(frontier, A, 10)
        frontier.lease()
        push(frontier, B, 1)
        assert hosts_of(drain(frontier))[:2] == [A, B]

    def test_a_busy_host_is_passed_over_and_keeps_its_place(self, frontier: Driver) -> None:
        push(frontier, A, 2)
        push(frontier, B, 2)
        frontier.lease(), frontier.lease()
        assert frontier.lease(busy=frozenset({A})) == "2/0.1"
        assert frontier.lease(busy=frozenset({A})) is None
        assert frontier.waiting() == 1
        assert frontier.lease() == "1/0.1"

    def test_leases_of_a_process_that_died_wait_again(self, frontier: Driver) -> None:
        push(frontier, A, 3)
        first, second = frontier.lease(), frontier.lease()
        assert first is not None
        frontier.finish(first)
        frontier.die()
        assert not frontier.push(A, "0.0")
        assert drain(frontier) == [second, "1/0.2"]

    def test_what_breaks_comes_back_once(self, frontier: Driver) -> None:
        push(frontier, A, 1)
        for _ in range(2):
            page = frontier.lease()
            assert page == "1/0.0"
            frontier.finish(page, failed=True)
            frontier.die()
        assert frontier.lease() is None
        assert not frontier.push(A, "0.0")
