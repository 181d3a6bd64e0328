"""Both queues, on disk and in memory, hand out in the order that is promised."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from crawler.frontier.order import NewRequest, ShorterWay, host_number, next_in_turn
from crawler.frontier.queue import MemoryQueue, RequestQueue
from crawler.storage.database import Database
from tests.crawler.frontier.model import ModelQueue

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from crawler.frontier.order import QueuedRequest

A, B, C = 1, 2, 3


def idle(_: int) -> int | None:
    return 0


@pytest.fixture(params=["disk", "memory"])
def queue(request: pytest.FixtureRequest) -> Iterator[RequestQueue]:
    database = Database(None)
    yield MemoryQueue(database) if request.param == "memory" else RequestQueue(database)
    database.close()


def push(queue: RequestQueue, *hosts: int, priority: int = 0) -> None:
    """Queue a request a host, its URL being its number."""
    for host in hosts:
        queue.push(NewRequest(host, f"http://{host}/", priority, b""))


def lease(queue: RequestQueue, load: Callable[[int], int | None] = idle) -> QueuedRequest:
    request = queue.lease(load)
    assert request is not None
    return request


def hosts_of(queue: RequestQueue) -> list[int]:
    """Drain the queue; nobody is ever busy."""
    hosts = []
    while (request := queue.lease(idle)) is not None:
        hosts.append(request.host)
        queue.finish([request.id])
    return hosts


class TestOrder:
    def test_one_host_is_served_in_the_order_of_arrival(self, queue: RequestQueue) -> None:
        for n in range(200):
            queue.push(NewRequest(A, str(n), 0, b"%d" % n))
        leased = [lease(queue) for _ in range(200)]
        assert [(one.url, one.request) for one in leased] == [
            (str(n), b"%d" % n) for n in range(200)
        ]
        assert queue.lease(idle) is None

    def test_what_is_less_deep_goes_first_whenever_it_came(self, queue: RequestQueue) -> None:
        for depth in (2, 1, 3, 1, 0):
            queue.push(NewRequest(A, str(depth), 0, b"", depth=depth))
        assert [lease(queue).depth for _ in range(5)] == [0, 1, 1, 2, 3]

    def test_what_is_urgent_goes_first_however_deep(self, queue: RequestQueue) -> None:
        queue.push(NewRequest(A, "near", 0, b"", depth=1))
        queue.push(NewRequest(A, "urgent", 1, b"", depth=9))
        assert [lease(queue).url for _ in range(2)] == ["urgent", "near"]

    def test_hosts_are_taken_in_turn(self, queue: RequestQueue) -> None:
        push(queue, A, A, A, A, B, B, C)
        assert hosts_of(queue) == [A, B, C, A, B, A, A]

    def test_what_is_urgent_goes_first_whatever_the_host(self, queue: RequestQueue) -> None:
        push(queue, A, A, B)
        push(queue, B, priority=2)
        assert hosts_of(queue) == [B, A, B, A]

    def test_what_can_wait_goes_last(self, queue: RequestQueue) -> None:
        push(queue, A, priority=-1)
        push(queue, A, B, B)
        first, second, third, last = (lease(queue) for _ in range(4))
        assert [one.host for one in (first, second, third)] == [A, B, B]
        assert (last.host, last.priority) == (A, -1)

    def test_a_host_that_comes_later_waits_for_one_turn_only(self, queue: RequestQueue) -> None:
        push(queue, *[A] * 50)
        lease(queue)
        push(queue, B)
        assert [lease(queue).host, lease(queue).host] == [A, B]

    def test_a_host_without_room_is_passed_over_and_keeps_its_place(
        self, queue: RequestQueue
    ) -> None:
        push(queue, A, B, C, A, B)
        full = {A}

        def load(host: int) -> int | None:
            return None if host in full else 0

        assert [lease(queue, load).host for _ in range(3)] == [B, C, B]
        assert queue.lease(load) is None
        assert len(queue) == 2
        full.clear()
        assert lease(queue, load).host == A

    def test_the_host_that_is_asked_least_goes_first(self, queue: RequestQueue) -> None:
        push(queue, A, A, B, B)
        under_way = Counter({A: 1})
        assert lease(queue, under_way.__getitem__).host == B
        under_way[B] = 2
        assert lease(queue, under_way.__getitem__).host == A

    def test_what_is_less_urgent_is_handed_out_where_the_others_have_no_room(
        self, queue: RequestQueue
    ) -> None:
        push(queue, A, priority=5)
        push(queue, B)
        assert lease(queue, lambda host: None if host == A else 3).host == B

    def test_what_is_put_back_keeps_its_place(self, queue: RequestQueue) -> None:
        push(queue, A, A, A)
        first = lease(queue)
        queue.put_back(first)
        assert len(queue) == 3
        assert [lease(queue).url for _ in range(3)] == ["http://1/"] * 3
        assert queue.lease(idle) is None

    def test_what_is_put_back_less_urgent_goes_behind_the_others(self, queue: RequestQueue) -> None:
        for depth in (0, 1, 2):
            queue.push(NewRequest(A, str(depth), 0, b"", depth=depth))
        first = lease(queue)
        queue.put_back(first._replace(request=b"again", priority=-1), is_changed=True)
        queue.push(NewRequest(A, "3", 0, b"", depth=3))
        leased = [lease(queue) for _ in range(4)]
        assert [one.url for one in leased] == ["1", "2", "3", "0"]
        assert leased[-1].request == b"again"
        assert queue.lease(idle) is None

    def test_clear_forgets_everything(self, queue: RequestQueue) -> None:
        assert queue.is_untouched
        push(queue, A, B, C)
        lease(queue)
        lease(queue)
        assert not queue.is_untouched
        queue.clear()
        assert queue.is_untouched
        assert len(queue) == 0
        assert queue.lease(idle) is None
        push(queue, B)
        assert hosts_of(queue) == [B]


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("push"), st.integers(0, 4), st.integers(-2, 2), st.integers(0, 2)),
        st.tuples(st.just("lower"), st.integers(1, 40), st.integers(0, 1)),
        st.tuples(st.just("finish"), st.integers(1, 40)),
        st.tuples(st.just("back"), st.integers(1, 40), st.booleans()),
        st.tuples(
            st.just("lease"),
            st.lists(st.one_of(st.none(), st.integers(0, 3)), min_size=5, max_size=5),
        ),
    ),
    max_size=120,
)


class TestMemoryQueueProperties:
    @given(STEPS)
    @hypothesis_settings(deadline=None, max_examples=200)
    def test_equals_the_model(self, steps: list[tuple[Any, ...]]) -> None:
        queue, model = MemoryQueue(Database(None)), ModelQueue()
        pushed = 0
        hosts: dict[int, tuple[int, int]] = {}
        leased: dict[int, QueuedRequest] = {}
        for step in steps:
            match step:
                case "push", host, priority, depth:
                    pushed += 1
                    key = pushed.to_bytes(16)
                    queue.push(NewRequest(host, str(pushed), priority, pushed, key, depth=depth))
                    model.push(pushed, host, priority, depth)
                    hosts[pushed] = host, priority
                case "lower", number, depth if number <= pushed:
                    host, priority = hosts[number]
                    key = number.to_bytes(16)
                    if model.lower(number, depth):
                        queue.lower(ShorterWay(key, depth, host, str(number), priority, number))
                case "finish", number if number in leased:
                    queue.finish([leased.pop(number).id])
                    model.finish([number])
                case "back", number, lower if number in leased:
                    again = leased.pop(number)
                    hosts[number] = again.host, again.priority - lower
                    changed = again._replace(priority=again.priority - lower)
                    queue.put_back(changed, is_changed=lower)
                    model.put_back(number, lower=lower)
                case "lease", loads:
                    found = queue.lease(loads.__getitem__)
                    expected = model.lease(loads.__getitem__)
                    assert (found and found.request) == (expected and expected.id)
                    if found is not None:
                        leased[found.request] = found
        assert len(queue) == len(model)


def test_the_line_is_read_no_further_than_to_a_host_that_is_not_asked() -> None:
    def line() -> Iterator[tuple[int, int]]:
        yield A, 0
        yield B, 0
        pytest.fail("a million hosts may follow")

    assert next_in_turn(line(), Counter({A: 1}).__getitem__) == B


def test_host_numbers_fit_in_sqlite_and_differ() -> None:
    names = ["", "localhost", "127.0.0.1", "www.example.com", "bücher.example", "\udcff"]
    numbers = {host_number(name) for name in names}
    assert len(numbers) == len(names)
    assert all(0 <= number < 2**63 for number in numbers)
