"""Compiled loops are loaded once, in a thread, and compiled before there is an event loop."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from crawler.pages.loop_loading import LoopLoading

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
    done = subprocess.run(
        [sys.executable, "-c", _OPENS_A_JOB, str(folder)],
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout.strip(), done.stderr


@pytest.mark.slow
def test_a_job_compiles_when_it_is_opened_and_loads_later(tmp_path: Path) -> None:
    is_loaded, told = open_a_job(tmp_path / "first", tmp_path / "cache")
    assert is_loaded == "True"
    lines = told.splitlines()
    assert [line.partition(":")[0] for line in lines[:4]] == [
        "compiling what compares texts, once per installation"
    ] * 4
    assert lines[4].startswith("compiled what compares texts in ")
    assert open_a_job(tmp_path / "second", tmp_path / "cache") == ("False", "")


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
        first.cancel()
        await loading.finished()
        assert first.cancelled()

    asyncio.run(load())


def test_it_waits_for_no_thread_where_all_is_loaded() -> None:
    async def load() -> int:
        loading = LoopLoading()
        await loading.finished()
        before = threading.active_count()
        await loading.finished()
        return threading.active_count() - before

    assert asyncio.run(load()) == 0
