"""The live table of a fleet."""

from __future__ import annotations

import io
import re

from rich.console import Console

from crawler.commands.fleet import Paces, _table
from crawler.fleet.board import FleetStatus, Notices
from crawler.frontier.redis.counts import Counts, WorkerCounts

WORKER = "a-machine-with-a-long-name/[/folder] [red]of-a-crawl/0123abcd"


def test_the_name_of_a_worker_is_whole_and_as_it_is_on_any_terminal() -> None:
    counts = Counts(90, 10, 0, 5, 2, 3, 105, 0, 1, is_finished=False)
    notices = Notices(pages=1_200, is_paused=True)
    status = FleetStatus(
        "[bold]site", {}, counts, {WORKER: WorkerCounts(10, 0, 3)}, notices, [], {WORKER: 1_200}, 1
    )
    paces = Paces()
    paces.note(10.0, {WORKER: 1_000})
    paces.note(20.0, {WORKER: 1_200})
    file = io.StringIO()
    Console(file=file, width=60).print(_table(status, "[fe80::1]:6379", paces))
    shown = file.getvalue()
    assert "fleet [bold]site at [fe80::1]:6379" in shown
    cells = [line.split("│")[1].strip() for line in shown.splitlines() if line.count("│") == 6]
    assert re.sub(r"\s", "", "".join(cells)).endswith(re.sub(r"\s", "", WORKER))
    assert "1,200 pages, 20.0 a second, 100 queued, about 0:00:05 left" in " ".join(shown.split())
