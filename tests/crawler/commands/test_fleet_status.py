"""What is said of a fleet while it is watched."""

from __future__ import annotations

from crawler.commands.fleet import Paces, status_lines
from crawler.fleet.board import FleetStatus, Notices
from crawler.frontier.redis.counts import Counts, WorkerCounts

WORKER = "a-machine-with-a-long-name/[/folder] [red]of-a-crawl/0123abcd"


def test_the_name_of_a_worker_is_whole_beside_its_pages_a_second() -> None:
    counts = Counts(90, 10, 0, 5, 2, 3, 105, 0, 1, is_finished=False)
    notices = Notices(pages=1_200, is_paused=True)
    status = FleetStatus(
        "[bold]site", {}, counts, {WORKER: WorkerCounts(10, 0, 3)}, notices, [], {WORKER: 1_200}, 1
    )
    paces = Paces()
    paces.note(10.0, {WORKER: 1_000})
    paces.note(20.0, {WORKER: 1_200})
    lines = list(status_lines(status, "[fe80::1]:6379", paces))
    assert "fleet [bold]site at [fe80::1]:6379: " in lines
    assert "1,200 pages fetched, 20.0 a second, about 0:00:05 left" in lines[1]
    assert f"  {WORKER} 1,200 pages, 20.0 a second, requests: 10, hosts: 3" in lines
