"""What the queue holds in memory: bounded, and never in the way of the order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crawler.frontier.order import NewRequest
from crawler.frontier.queue import MAX_UNWRITTEN, RequestQueue
from crawler.frontier.read_ahead import MAX_CHANGES, MAX_HOSTS
from crawler.storage.database import Database
from tests.crawler.frontier.test_queue import HOST, drain, idle

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_a_request_more_urgent_than_what_was_read_ahead_goes_first(tmp_path: Path) -> None:
    database = Database(tmp_path)
    queue = RequestQueue(database)
    for n in range(500):
        queue.push(NewRequest(HOST, f"http://x/{n}", 0, b""))
    queue.lease(idle)
    queue.push(NewRequest(HOST, "http://x/urgent", 1, b""))
    queue.push(NewRequest(HOST, "http://x/last", -1, b""))
    assert drain(queue) == ["http://x/urgent", *(f"http://x/{n}" for n in range(1, 500)),
                            "http://x/last"]  # fmt: skip
    database.close()


def test_huge_requests_are_not_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.frontier.read_ahead.MAX_BYTES", 100_000)
    database = Database(tmp_path)
    queue = RequestQueue(database)
    for n in range(90):
        queue.push(NewRequest(n % 3, f"http://x/{n}", 0, bytes(30_000)))
    urls = []
    while (request := queue.lease(idle)) is not None:
        urls.append(request.url)
        assert sum(len(row[3]) for row in rows_ahead(queue)) <= 100_000
    assert urls == [f"http://x/{n}" for n in range(90)]
    database.close()


def test_turns_are_appended_and_outlive_a_kill(tmp_path: Path) -> None:
    database = Database(tmp_path)
    queue = RequestQueue(database)
    for n in range(30):
        queue.push(NewRequest(n % 10, f"http://x/{n}", 0, b""))
    database.commit()
    before = database.read("SELECT * FROM hosts").fetchall()
    assert [leased_host(queue) for _ in range(4)] == [0, 1, 2, 3]
    database.commit()
    assert database.read("SELECT * FROM hosts").fetchall() == before
    assert database.read("SELECT host FROM host_turns ORDER BY turn").fetchall() == [
        (0,), (1,), (2,), (3,)
    ]  # fmt: skip
    database.fail("killed")
    database.close()
    database = Database(tmp_path)
    queue = RequestQueue(database)
    assert [leased_host(queue) for _ in range(10)] == [*range(4, 10), *range(4)]
    database.close()


def leased_host(queue: RequestQueue) -> int:
    request = queue.lease(idle)
    assert request is not None
    return request.host


def test_several_requests_of_each_of_many_hosts_are_read_at_a_time(tmp_path: Path) -> None:
    database = Database(tmp_path)
    queue = RequestQueue(database)
    for n in range(50_000):
        queue.push(NewRequest(n % 10_000, f"http://x/{n}", 0, b""))
    for _ in range(10_000):
        queue.lease(idle)
    assert len(rows_ahead(queue)) >= 3 * 10_000
    database.close()


class TestMemory:
    REQUESTS = 100_000

    def test_little_is_held_of_what_waits(self, tmp_path: Path) -> None:
        """Things in memory are counted, not bytes: the head of the line, whatever is queued."""
        database = Database(tmp_path)
        queue = RequestQueue(database)
        held = []
        for n in range(self.REQUESTS):
            queue.push(NewRequest(n % 50_000, f"http://x/{n}", 0, b""))
            if n % 1000 == 0:
                request = queue.lease(idle)
                assert request is not None
                queue.finish([request.id])
                held.append(rows_held(queue))
        assert max(held) <= 2 * MAX_HOSTS + MAX_CHANGES + 2 * MAX_UNWRITTEN
        database.commit()
        assert rows_held(queue) <= 2 * MAX_HOSTS
        database.close()

    def test_a_lease_does_not_read_the_whole_queue(self, tmp_path: Path) -> None:
        """SQLite counts the steps of its machine: no more with a thousand times the hosts."""
        database = Database(tmp_path)
        queue = RequestQueue(database)
        steps = []
        for hosts in (range(20), range(20, 20_000)):
            for n in hosts:
                queue.push(NewRequest(n, "http://x/", 0, b""))
                queue.push(NewRequest(n, "http://x/2", 1, b""))
            steps.append(steps_of(database, queue))
        assert steps[1] <= 2 * steps[0]
        database.close()


def rows_held(queue: RequestQueue) -> int:
    """Elements of every container of a queue and of its parts."""
    parts = (queue, queue._line, queue._heads)
    held = [one for part in parts for name, one in vars(part).items() if name != "_heads"]
    return len(rows_ahead(queue)) + sum(
        len(one) for one in held if isinstance(one, (set, dict, list, tuple))
    )


def rows_ahead(queue: RequestQueue) -> list[Any]:
    """Requests that are read ahead."""
    return [row for head in queue._heads._heads.values() for row in head.rows]


def steps_of(database: Database, queue: RequestQueue) -> int:
    """Instructions of SQLite's machine that one lease takes, of which it tells every tenth."""
    count = 0

    def step() -> int:
        nonlocal count
        count += 1
        return 0

    connection = database.read("SELECT 1").connection
    connection.set_progress_handler(step, 10)
    queue.lease(idle)
    connection.set_progress_handler(None, 10)
    return count
