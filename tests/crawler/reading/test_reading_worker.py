from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.crawler.reading.pools import is_running
from tests.waiting import wait_until

pytestmark = pytest.mark.slow

PROJECT = Path(__file__).parents[3]
PARENT = """
import asyncio, os, signal
from crawler.reading.pool import ReadingPool
from crawler.reading.protocol import ReadingOptions
from tests.crawler.reading.pages import slow_page
from tests.crawler.reading.pools import read, server_of
from tests.waiting import until

async def main():
    pool = ReadingPool(ReadingOptions(workers=2))
    await pool.start()
    slow = [asyncio.create_task(read(pool, slow_page())) for _ in range(2)]
    await until(lambda: pool.busy == 2)
    child = os.fork()
    if not child:
        os.close(1)
        os.close(2)
        signal.pause()
    print(child, server_of(pool), *pool.pids, flush=True)
    await asyncio.gather(*slow)

asyncio.run(main())
"""


def test_workers_end_silently_with_a_parent_that_is_killed() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PARENT],
        cwd=PROJECT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as parent:
        assert parent.stdout is not None
        child, *pids = (int(pid) for pid in parent.stdout.readline().split())
        assert len(pids) == 3
        os.kill(parent.pid, signal.SIGKILL)
        assert parent.communicate(timeout=30)[1] == ""
    wait_until(lambda: not any(map(is_running, pids)))
    # It was forked of the parent, and holds what that one held.
    os.kill(child, signal.SIGKILL)


def test_pages_are_read_alike_with_another_allocator() -> None:
    script = """
from crawler.reading.html_parsing import parse
from crawler.reading.reading_worker import spare_allocator
bodies = [b"<p class=a>text</p>" * size for size in (1, 10_000, 100)]
before = [len(parse(body).findall(".//p")) for body in bodies]
spare_allocator()
assert [len(parse(body).findall(".//p")) for body in bodies] == before
"""
    subprocess.run([sys.executable, "-c", script], cwd=PROJECT, check=True)
