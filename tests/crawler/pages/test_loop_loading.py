"""Compiled loops are loaded once, in a thread, and compiled by another process before."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from crawler.pages.loop_loading import LoopLoading
from neardup.compiling import COMPILING

if TYPE_CHECKING:
    from pathlib import Path

_OPENS_A_JOB = """
import sys
from pathlib import Path
from scrapy.settings import Settings
from crawler.job import Job
from crawler.job_registry import job_options
job = Job(Path(sys.argv[1]), job_options(Settings()))
print("numba" in sys.modules)
job.close()
"""


def open_a_job(folder: Path, cache: Path) -> tuple[str, str]:
    return run(_OPENS_A_JOB, cache, str(folder))


def run(program: str, cache: Path, *words: str) -> tuple[str, str]:
    done = subprocess.run(
        [sys.executable, "-c", program, *words],
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout.strip(), done.stderr


@pytest.mark.slow
def test_a_job_compiles_when_it_is_opened_only_where_no_code_can_be_kept(tmp_path: Path) -> None:
    assert open_a_job(tmp_path / "first", tmp_path / "cache") == ("False", "")
    (tmp_path / "file").touch()
    is_loaded, told = open_a_job(tmp_path / "second", tmp_path / "file" / "cache")
    assert (is_loaded, told.splitlines()) == ("True", [COMPILING])


_LOADS = """
import asyncio, sys
from crawler.pages.loop_loading import LoopLoading
from neardup.compiling import COMPILING
from neardup.preparation import LOOPS
asyncio.run(LoopLoading().finished())
loops = [one for name in LOOPS for one in vars(sys.modules[name]).values() if hasattr(one, "stats")]
print(len(loops) > 10, sum(sum(one.stats.cache_misses.values()) for one in loops))
"""


@pytest.mark.slow
def test_the_process_of_a_crawl_compiles_nothing(tmp_path: Path) -> None:
    first = run(_LOADS, tmp_path / "cache")
    assert first == ("True 0", f"{COMPILING}\n")
    assert run(_LOADS, tmp_path / "cache") == ("True 0", "")


def test_those_who_wait_find_all_loaded_and_a_second_beginning_does_nothing() -> None:
    async def load() -> None:
        loading = LoopLoading()
        task = loading.begin()
        assert task is not None
        assert loading.begin() is None
        await asyncio.gather(loading.finished(), loading.finished())
        assert task.done()

    asyncio.run(load())
    assert "neardup.features.byte_kernels" in sys.modules


def test_one_who_gives_up_waiting_leaves_it_to_the_others() -> None:
    async def load() -> None:
        loading = LoopLoading()
        first = asyncio.ensure_future(loading.finished())
        await asyncio.sleep(0)
        assert loading.waiting == 1
        first.cancel()
        await loading.finished()
        assert first.cancelled()
        assert loading.waiting == 0

    asyncio.run(load())


def test_it_waits_for_no_thread_where_all_is_loaded() -> None:
    async def load() -> int:
        loading = LoopLoading()
        await loading.finished()
        before = threading.active_count()
        await loading.finished()
        return threading.active_count() - before

    assert asyncio.run(load()) == 0
