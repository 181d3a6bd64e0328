"""The request queue over a real SQLite file: what is durable, and when."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from crawler.frontier.order import NewRequest, Skip
from crawler.frontier.queue import RequestQueue
from crawler.storage.database import COMMIT_PAGES, MAX_PAGES, Database
from crawler.url_rules.skipped import SkippedRequests

HOST = 7


def idle(_: int) -> int | None:
    return 0


def drain(queue: RequestQueue) -> list[str]:
    urls = []
    while (request := queue.lease(idle)) is not None:
        urls.append(request.url)
        queue.finish([request.id])
    return urls


def killed(database: Database) -> None:
    """End a process's work as a kill does: what was not committed is gone."""
    database.fail("killed")
    database.close()


def states(folder: Path) -> dict[int, int]:
    """How many requests there are in each state, as another process reads it."""
    with closing(sqlite3.connect(folder / "crawl.db")) as connection:
        return dict(connection.execute("SELECT state, count(*) FROM requests GROUP BY state"))


def test_leases_of_a_process_that_died_are_todo_again(tmp_path: Path) -> None:
    database = Database(tmp_path)
    queue = RequestQueue(database)
    for n in range(5):
        queue.push(NewRequest(HOST, f"http://x/{n}", 0, b""))
    done, leased = queue.lease(idle), queue.lease(idle)
    assert done is not None
    assert leased is not None
    queue.finish([done.id])
    database.commit()
    assert states(tmp_path) == {0: 3, 1: 1, 2: 1}
    killed(database)

    again = Database(tmp_path)
    assert drain(RequestQueue(again)) == [f"http://x/{n}" for n in range(1, 5)]
    again.close()


def test_the_last_request_of_a_host_comes_back_after_a_kill(tmp_path: Path) -> None:
    database = Database(tmp_path)
    queue = RequestQueue(database)
    queue.push(NewRequest(HOST, "http://x/", 0, b"whole"))
    queue.lease(idle)
    database.commit()
    killed(database)

    again = Database(tmp_path)
    restored = RequestQueue(again)
    assert len(restored) == 1
    request = restored.lease(idle)
    assert request is not None
    assert (request.url, request.request) == ("http://x/", b"whole")
    again.close()


def test_what_was_not_committed_is_as_if_it_had_not_been(tmp_path: Path) -> None:
    database = Database(tmp_path)
    queue = RequestQueue(database)
    for n in range(3):
        queue.push(NewRequest(HOST, f"http://x/{n}", 0, b""))
    database.commit()
    request = queue.lease(idle)
    assert request is not None
    queue.finish([request.id])
    queue.push(NewRequest(HOST, "http://x/link", 0, b""))
    killed(database)

    again = Database(tmp_path)
    assert drain(RequestQueue(again)) == ["http://x/0", "http://x/1", "http://x/2"]
    again.close()


def test_broken_requests_come_back_once_and_in_the_next_process_only(tmp_path: Path) -> None:
    database = Database(tmp_path)
    for process in range(3):
        queue = RequestQueue(database)
        if process == 0:
            queue.push(NewRequest(HOST, "http://x/", 0, b""))
        assert len(queue) == (1 if process < 2 else 0)
        request = queue.lease(idle)
        if request is not None:
            queue.finish([request.id], failed=True)
        assert queue.lease(idle) is None
        database.commit()
    database.close()


def test_what_broke_at_every_try_waits_again_where_it_is_wanted(tmp_path: Path) -> None:
    database = Database(tmp_path)
    urls = ["http://x/2", "http://x/1"]
    queue = RequestQueue(database)
    queue.push(NewRequest(HOST, urls[1], 0, b""))
    queue.push(NewRequest(HOST, urls[0], 5, b""))
    assert drain_failing(queue) == urls
    database.commit()
    queue = RequestQueue(database)  # the next process tries once more, others do not
    assert drain_failing(queue) == urls
    database.commit()
    queue = RequestQueue(database)
    assert (len(queue), drain_failing(queue)) == (0, [])
    assert queue.retry_broken() == 2
    assert (len(queue), drain_failing(queue)) == (2, urls)
    assert queue.retry_broken() == 2
    assert len(RequestQueue(database)) == 2
    database.close()


def drain_failing(queue: RequestQueue) -> list[str]:
    """Let all that waits break; its URLs in order."""
    found = []
    while (request := queue.lease(idle)) is not None:
        found.append(request.url)
        queue.finish([request.id], failed=True)
    return found


def test_what_is_through_is_emptied(tmp_path: Path) -> None:
    database = Database(tmp_path)
    queue = RequestQueue(database)
    queue.push(NewRequest(HOST, "http://x/", 0, b"Authorization: secret"))
    request = queue.lease(idle)
    assert request is not None
    queue.finish([request.id])
    database.close()
    with closing(sqlite3.connect(tmp_path / "crawl.db")) as connection:
        assert connection.execute("SELECT state, request FROM requests").fetchall() == [(2, b"")]


@pytest.mark.parametrize(("apart_secs", "pages"), [(0, COMMIT_PAGES), (1000, MAX_PAGES)])
def test_a_commit_is_due_after_so_many_pages_however_fast_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, apart_secs: float, pages: int
) -> None:
    monkeypatch.setattr("crawler.storage.database.COMMIT_AFTER_SECS", 1000)
    monkeypatch.setattr("crawler.storage.database.COMMIT_APART_SECS", apart_secs)
    database = Database(tmp_path)
    queue = RequestQueue(database)
    for n in range(pages):
        queue.push(NewRequest(HOST, f"http://x/{n}", 0, b""))
    database.commit()
    due = []
    for _ in range(pages):
        request = queue.lease(idle)
        assert request is not None
        queue.finish([request.id])
        due.append(database.is_due())
        if due[-1]:
            database.commit()
    assert due == [False] * (pages - 1) + [True]
    assert states(tmp_path) == {2: pages}
    database.close()


def test_a_skipped_request_survives_a_kill_and_another_process_puts_it_back(
    tmp_path: Path,
) -> None:
    database = Database(tmp_path)
    queue = RequestQueue(database)
    for n in range(3):
        queue.push(NewRequest(HOST, f"http://x/{n}", 0, b"whole"))
    SkippedRequests(database, queue).set_aside(HOST, [(n, Skip(5, b"group")) for n in (1, 3)])
    queue.push_skipped(NewRequest(HOST, "http://x/3", 0, b"whole", b"k" * 16), Skip(5, b"group"))
    database.commit()
    killed(database)
    assert states(tmp_path) == {0: 1, 4: 3}

    again = Database(tmp_path)
    restored = RequestQueue(again)
    assert len(restored) == 1
    assert SkippedRequests(again, restored).put_back_rule(5) == 3
    assert again.read("SELECT count(*) FROM requests WHERE rule IS NOT NULL").fetchone() == (0,)
    assert drain(restored) == [f"http://x/{n}" for n in range(4)]
    again.close()


def test_a_commit_waits_a_little_for_a_page_that_is_half_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crawler.storage.database.COMMIT_AFTER_SECS", 0)
    monkeypatch.setattr("crawler.storage.database.COMMIT_AT_LATEST_SECS", 1000)
    database = Database(tmp_path)
    assert not database.is_due(is_half_done=True)
    assert database.is_due()
    monkeypatch.setattr("crawler.storage.database.COMMIT_AT_LATEST_SECS", 0)
    assert database.is_due(is_half_done=True)
    database.close()


WORK = """
import sys
from pathlib import Path
from crawler.frontier.order import NewRequest
from crawler.frontier.queue import RequestQueue
from crawler.frontier.seen import SeenSet
from crawler.storage.database import Database

database = Database(Path(sys.argv[1]))
queue, seen = RequestQueue(database), SeenSet(database, None)
number = len(seen)
print("ready", flush=True)
while True:
    request = queue.lease(lambda host: 0)
    for link in range(3):
        number += 1
        key = number.to_bytes(16, "big")
        if seen.add(key):
            url = f"http://x/{number}"
            queue.push(NewRequest(number % 5, url, number % 3, b"", seen.take(key)))
    if request is not None:
        queue.finish([request.id])
    if number % 7 == 0:
        database.commit()
"""


def test_queue_and_seen_set_agree_after_kills_at_any_moment(tmp_path: Path) -> None:
    """Every URL that was ever seen is todo, leased or done, and every host with work in line."""
    for _ in range(4):
        process = subprocess.Popen(
            [sys.executable, "-c", WORK, str(tmp_path)],
            stdout=subprocess.PIPE,
            cwd=Path(__file__).parents[3],
        )
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.3)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        check_agreement(tmp_path)
    database = Database(tmp_path)
    queue = RequestQueue(database)
    waiting = len(queue)
    assert waiting > 100
    assert len(drain(queue)) == waiting
    assert states(tmp_path).keys() <= {0, 1, 2}
    database.close()


def check_agreement(folder: Path) -> None:
    with closing(sqlite3.connect(folder / "crawl.db")) as connection:
        one = connection.execute("SELECT count(key), count(*) FROM requests").fetchone()
        assert one[0] == one[1]
        # Leases are added, since their hosts need not stand in line until they are put back.
        lines = connection.execute("SELECT host, priority FROM hosts ORDER BY host").fetchall()
        work = connection.execute(
            "SELECT host, max(priority) FROM requests WHERE state = 0 GROUP BY host ORDER BY host"
        ).fetchall()
        assert lines == work


def test_a_visit_begins_without_a_copy_of_the_last_one_in_the_log(tmp_path: Path) -> None:
    database = Database(tmp_path)
    queue = RequestQueue(database)
    for n in range(20_000):
        queue.push(NewRequest(n % 7, f"http://x/{n}", 0, b"{}", n.to_bytes(16)))
    database.commit()
    database.read("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    queue.clear()
    database.commit()
    log = tmp_path / "crawl.db-wal"
    assert log.stat().st_size < (tmp_path / "crawl.db").stat().st_size / 20
    assert database.read("SELECT count(*) FROM requests").fetchone() == (0,)
    assert database.read("PRAGMA integrity_check").fetchone() == ("ok",)
    queue.push(NewRequest(1, "http://x/", 0, b"{}", bytes(16)))
    assert drain(queue) == ["http://x/"]
    database.close()
