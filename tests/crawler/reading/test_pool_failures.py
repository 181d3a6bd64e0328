"""Pages that hang, eat all memory or kill their worker: nothing else is lost with them."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import sys
from typing import TYPE_CHECKING

import pytest

from crawler.reading.pool import ReadingPool
from crawler.reading.protocol import ReadingOptions
from crawler.reading.worker_pool import PoolClosedError, WorkerStartError
from tests.crawler.reading.pages import PROSE, article, heavy_page, slow_page, sluggish_page
from tests.crawler.reading.pools import (
    ONE,
    TWO,
    is_forked,
    is_running,
    open_pool,
    read,
    server_of,
    state,
)
from tests.crawls.kills import children
from tests.waiting import until

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.reading.reading import Reading

pytestmark = pytest.mark.slow


def is_read(reading: Reading) -> bool:
    return reading.failure is None and PROSE in (reading.text or "")


async def test_a_page_that_takes_too_long_is_given_up_with_its_links() -> None:
    async with open_pool(ReadingOptions(workers=1, timeout_secs=2)) as pool:
        assert is_read(await read(pool, article()))
        (before,) = pool.pids
        reading = await read(pool, slow_page())
        assert reading.failure == "took longer than 2 s"
        assert reading.extract is None
        assert [link.url for link in reading.links] == ["http://host.example/from-slow"]
        assert reading.metadata.title == "A title"
        assert reading.visible_digest is not None
        assert is_read(await read(pool, article()))
        assert pool.pids != (before,)
        assert not is_running(before)


async def test_a_page_that_hangs_does_not_hold_up_the_others() -> None:
    async with open_pool(TWO) as pool:
        slow = asyncio.create_task(read(pool, slow_page()))
        await until(lambda: pool.busy == 1)
        for _ in range(20):
            assert is_read(await read(pool, article()))
        assert not slow.done()
        slow.cancel()


async def test_time_spent_waiting_for_a_worker_does_not_count() -> None:
    async with open_pool(ReadingOptions(workers=1, timeout_secs=2)) as pool:
        slow, *others = await asyncio.gather(
            read(pool, slow_page()), *(read(pool, article()) for _ in range(3))
        )
        assert slow.failure == "took longer than 2 s"
        assert all(map(is_read, others))


async def kill_reader(pool: ReadingPool, *, with_server: bool = False) -> int:
    """Kill a worker in the middle of a page, or the server that it was forked of."""
    await until(lambda: [pid for pid in pool.busy_pids if state(pid) == "R" and is_forked(pid)])
    (pid,) = pool.busy_pids
    os.kill(server_of(pool) if with_server else pid, signal.SIGKILL)
    await until(lambda: not is_running(pid))
    return pid


@pytest.mark.parametrize("with_server", [False, True])
async def test_a_page_whose_worker_is_killed_is_read_by_another(*, with_server: bool) -> None:
    async with open_pool(ONE) as pool:
        task = asyncio.create_task(read(pool, sluggish_page()))
        await kill_reader(pool, with_server=with_server)
        reading = await task
        assert reading.failure is None
        assert "lighthouse" in (reading.text or "")


async def test_a_page_whose_workers_are_killed_three_times_is_given_up() -> None:
    async with open_pool(ONE) as pool:
        task = asyncio.create_task(read(pool, slow_page()))
        killed = [await kill_reader(pool) for _ in range(3)]
        assert (await task).failure == "worker died (signal 9)"
        assert is_read(await read(pool, article()))
        assert not any(map(is_running, killed))


async def test_a_worker_killed_while_idle_costs_no_page() -> None:
    async with open_pool(ONE) as pool:
        assert is_read(await read(pool, article()))
        (pid,) = pool.pids
        os.kill(pid, signal.SIGKILL)
        await until(lambda: not is_running(pid))
        assert is_read(await read(pool, article()))


async def test_when_the_first_of_two_equal_texts_fails_the_second_is_extracted() -> None:
    body = sluggish_page()
    asked: list[bytes] = []

    async with open_pool(TWO) as pool:
        tasks = [
            asyncio.create_task(pool.read("http://x.example/", body, None, known=asked.append))
            for _ in range(2)
        ]
        await until(lambda: len(asked) == 2)
        # Both are parsed, one is being extracted.
        await until(lambda: pool.busy == 1)
        for _ in range(3):
            await kill_reader(pool)
        failed, read_alone = sorted(await asyncio.gather(*tasks), key=lambda done: not done.failure)
        assert failed.failure == "worker died (signal 9)"
        assert read_alone.extract is not None
        assert not read_alone.reused


async def test_a_page_too_large_for_the_memory_limit_is_given_up() -> None:
    async with open_pool(ReadingOptions(workers=1, memory_limit_mb=300, timeout_secs=120)) as pool:
        reading = await read(pool, heavy_page())
        assert reading.failure == "ran out of memory (limit 300 MB)"
        assert is_read(await read(pool, article()))


async def test_a_page_whose_text_does_not_fit_still_gives_its_links() -> None:
    body = b"<title>Large</title><a href=/x>x</a><p>" + b"word " * 8_000_000

    async with open_pool(ReadingOptions(workers=1, memory_limit_mb=300, timeout_secs=120)) as pool:
        reading = await read(pool, body)
        assert reading.failure == "ran out of memory (limit 300 MB)"
        assert [link.url for link in reading.links] == ["http://host.example/x"]
        assert reading.metadata.title == "Large"


async def test_a_large_page_within_the_limit_is_read() -> None:
    async with open_pool(ReadingOptions(workers=1, timeout_secs=120)) as pool:
        reading = await read(pool, b"<p>" + b"word " * 10_000_000, links_only=True)
        assert reading.failure is None


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
async def test_workers_leave_signals_to_the_parent(number: signal.Signals) -> None:
    async with open_pool(ONE) as pool:
        assert is_read(await read(pool, article()))
        before = pool.pids
        for pid in before:
            os.kill(pid, number)
        assert is_read(await read(pool, article()))
        assert pool.pids == before


async def test_a_cancelled_read_frees_its_worker() -> None:
    async with open_pool(ONE) as pool:
        task = asyncio.create_task(read(pool, slow_page()))
        await until(lambda: pool.busy == 1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert pool.busy == 0
        assert is_read(await read(pool, article()))


async def test_close_leaves_no_process_and_ends_reads_with_an_error() -> None:
    pool = ReadingPool(TWO)
    await pool.start()
    assert is_read(await read(pool, article()))
    pids = pool.pids
    tasks = [asyncio.create_task(read(pool, slow_page(2 + number))) for number in range(4)]
    await until(lambda: pool.busy == 2)
    await pool.close()
    for task in tasks:
        with pytest.raises(PoolClosedError):
            await task
    assert not any(map(is_running, pids))
    assert (pool.pids, pool.busy) == ((), 0)
    with pytest.raises(PoolClosedError, match="closed"):
        await read(pool, article())
    await pool.close()


async def test_a_pool_may_be_closed_while_it_starts() -> None:
    pool = ReadingPool(ONE)
    await pool.start()
    assert is_read(await read(pool, article()))
    server = server_of(pool)
    await pool.close()
    for _ in range(5):
        pool = ReadingPool(TWO)
        await pool.start()
        await pool.close()
    assert not list(children(server))


async def test_a_pool_that_was_not_started_says_so() -> None:
    with pytest.raises(PoolClosedError, match="not started"):
        await read(ReadingPool(ONE), article())


async def test_workers_that_do_not_start_are_an_error_with_their_last_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho a library is missing >&2\nexit 3\n")
    broken.chmod(0o755)

    async with open_pool(ONE) as pool:
        assert is_read(await read(pool, article()))
        monkeypatch.setattr(sys, "executable", str(broken))
        os.kill(server_of(pool), signal.SIGKILL)
        await until(lambda: not any(map(is_running, pool.pids)))
        for _ in range(2):
            with pytest.raises(WorkerStartError, match=r"\(exit status 3\): a library is missing"):
                await read(pool, article())


async def test_a_page_does_not_wait_for_workers_that_cannot_be_started() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)

    async with open_pool(ONE) as pool:
        assert is_read(await read(pool, article()))
        (pid,) = pool.pids
        os.kill(pid, signal.SIGKILL)
        await until(lambda: not is_running(pid))  # still to be noticed
        resource.setrlimit(resource.RLIMIT_NOFILE, (0, hard))
        try:
            with pytest.raises(WorkerStartError, match="Too many open files"):
                await read(pool, article())
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
