"""The request queue over a real SQLite file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.frontier.queue import LEASE_BATCH, RequestQueue
from crawler.pages.database import Database

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    database = Database(tmp_path)
    yield database
    database.close()


def drain(queue: RequestQueue) -> list[str]:
    urls = []
    while (request := queue.lease()) is not None:
        urls.append(request.url)
        queue.finish([request.id])
    return urls


def test_requests_come_out_in_the_order_of_arrival(database: Database) -> None:
    queue = RequestQueue(database)
    urls = [f"http://x/{n}" for n in range(3 * LEASE_BATCH)]
    for url in urls:
        queue.push(url, 0, b"")
    assert drain(queue) == urls
    assert len(queue) == 0


def test_urgent_request_overtakes_a_batch_that_was_leased_in_advance(database: Database) -> None:
    queue = RequestQueue(database)
    for n in range(10):
        queue.push(f"http://x/{n}", 0, b"")
    first = queue.lease()
    queue.push("http://x/redirected", 2, b"")
    second = queue.lease()
    assert first is not None
    assert second is not None
    assert [first.url, second.url] == ["http://x/0", "http://x/redirected"]
    assert len(drain(queue)) == 9


def test_leases_of_a_process_that_died_are_todo_again(tmp_path: Path) -> None:
    database = Database(tmp_path)
    queue = RequestQueue(database)
    for n in range(5):
        queue.push(f"http://x/{n}", 0, b"")
    done, leased = queue.lease(), queue.lease()
    assert done is not None
    assert leased is not None
    queue.finish([done.id])
    database.commit()  # and then the process is killed: no close
    database.close()

    again = Database(tmp_path)
    assert drain(RequestQueue(again)) == [f"http://x/{n}" for n in range(1, 5)]
    again.close()


def test_broken_requests_come_back_in_the_next_process_only(database: Database) -> None:
    queue = RequestQueue(database)
    queue.push("http://x/", 0, b"")
    request = queue.lease()
    assert request is not None
    queue.finish([request.id], failed=True)
    assert queue.lease() is None
    assert len(RequestQueue(database)) == 1


class TestRequestQueueProperties:
    @given(st.lists(st.one_of(st.integers(-3, 3), st.none()), max_size=200))
    @settings(deadline=None, max_examples=50)
    def test_hands_out_the_most_urgent_then_the_oldest(self, steps: list[int | None]) -> None:
        """A number pushes with that priority, None leases; a sorted list is the oracle."""
        database = Database(None)
        queue = RequestQueue(database)
        waiting: list[tuple[int, int]] = []
        for n, step in enumerate(steps):
            if step is not None:
                queue.push(str(n), step, b"")
                waiting.append((-step, n))
                continue
            request = queue.lease()
            if not waiting:
                assert request is None
                continue
            assert request is not None
            expected = min(waiting)
            waiting.remove(expected)
            assert (-request.priority, int(request.url)) == expected
            queue.finish([request.id])
        assert len(queue) == len(waiting)
        database.close()
