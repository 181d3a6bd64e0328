"""A page is charged the time of its worker: whoever was stopped meanwhile loses no page."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from crawler.reading.process import Allowance, WorkerProcess, WorkerTimeoutError
from crawler.reading.protocol import ReadingOptions
from tests.crawler.reading.pages import article, slow_page, sluggish_page
from tests.crawler.reading.pools import open_pool, read, state, use
from tests.waiting import until, wait_until

if TYPE_CHECKING:
    from crawler.reading.pool import ReadingPool

pytestmark = pytest.mark.slow

PROJECT = Path(__file__).parents[3]
SECS = 0.5
BRIEF = ReadingOptions(workers=1, timeout_secs=SECS)
PARENT = """
import asyncio
from crawler.reading.pool import ReadingPool
from crawler.reading.protocol import ReadingOptions
from tests.crawler.reading.pages import sluggish_page
from tests.crawler.reading.pools import read
from tests.waiting import until

async def main():
    pool = ReadingPool(ReadingOptions(workers=1, timeout_secs=8))
    await pool.start()
    reading = asyncio.create_task(read(pool, sluggish_page()))
    await until(lambda: pool.busy == 1)
    print(*pool.busy_pids, flush=True)
    print((await reading).failure, flush=True)

asyncio.run(main())
"""


def test_a_parent_that_is_stopped_loses_no_page() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PARENT], cwd=PROJECT, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        worker = int(parent.stdout.readline())
        os.kill(parent.pid, signal.SIGSTOP)
        stopped = time.monotonic()
        # The worker goes on, and then waits for its parent, longer than a page may take.
        wait_until(lambda: state(worker) == "S" and time.monotonic() > stopped + 9)
        os.kill(parent.pid, signal.SIGCONT)
        assert parent.communicate(timeout=60)[0] == "None\n"


async def test_a_busy_event_loop_loses_no_page() -> None:
    async with open_pool(BRIEF) as pool:
        await read(pool, article())
        reading = asyncio.create_task(read(pool, article()))
        await until(lambda: pool.busy == 1, pause_secs=0)
        end = time.monotonic() + 3 * SECS
        wait_until(lambda: time.monotonic() > end)
        assert (await reading).failure is None


async def test_a_worker_that_is_stopped_loses_no_page() -> None:
    async with open_pool(ReadingOptions(workers=1, timeout_secs=8)) as pool:
        await read(pool, article())
        before = pool.pids
        reading = asyncio.create_task(read(pool, sluggish_page()))
        await until(lambda: pool.busy == 1, pause_secs=0)
        os.kill(before[0], signal.SIGSTOP)
        end = time.monotonic() + 9
        await until(lambda: time.monotonic() > end)
        assert not reading.done()
        os.kill(before[0], signal.SIGCONT)
        assert (await reading).failure is None
        assert pool.pids == before


async def test_a_worker_that_sleeps_is_ended() -> None:
    worker = WorkerProcess(BRIEF)
    await worker.connect()
    try:
        # It was asked for nothing, and so waits in a read that does not end.
        with pytest.raises(WorkerTimeoutError, match="too slow"):
            await worker.hear(Allowance(worker.process, SECS, "too slow"))
    finally:
        await worker.end()


def test_a_page_that_uses_up_its_time_is_read_by_two_workers() -> None:
    pids: set[int] = set()

    async def act(pool: ReadingPool) -> None:
        reading = asyncio.create_task(read(pool, slow_page()))

        def is_done() -> bool:
            pids.update(pool.busy_pids)
            return reading.done()

        await until(is_done)
        assert (await reading).failure == f"took longer than {SECS} s"
        assert [link.url for link in (await reading).links] == ["http://host.example/from-slow"]

    use(BRIEF, act)
    assert len(pids) == 2
