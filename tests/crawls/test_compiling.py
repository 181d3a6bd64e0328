"""Commands that wait for loops to be compiled say so, once per installation."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from crawler.demo import DemoServer
from neardup.compiling import COMPILING, COMPILING_MORE
from tests.crawls.command import PROJECT
from tests.sites.prose import prose

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow


def run(cache: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a command as on a machine where ``cache`` holds all that was ever compiled."""
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=PROJECT,
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done


def test_neardup_compares_two_files(tmp_path: Path) -> None:
    names = [str(tmp_path / name) for name in ("one.txt", "two.txt")]
    for name, words in zip(names, (prose("a"), prose("b")), strict=True):
        (tmp_path / name).write_text(words, encoding="utf-8")
    first = run(tmp_path / "cache", "neardup", "compare", *names)
    assert first.stderr.splitlines() == [f"neardup: {COMPILING}"]
    again = run(tmp_path / "cache", "neardup", "compare", *names)
    assert again.stderr == ""
    assert again.stdout == first.stdout


def test_a_crawl_says_it_once_and_commands_over_it_what_they_add(tmp_path: Path) -> None:
    job, cache = tmp_path / "job", tmp_path / "cache"
    with DemoServer() as server:
        options = ("-a", f"url={server.url}", "-s", f"JOBDIR={job}")
        done = run(cache, "scrapy", "crawl", "site", *options)
    assert done.stderr.count(COMPILING) == 1
    first = run(cache, "scrapy", "verify", str(job))
    assert first.stderr.splitlines() == [f"scrapy verify: {COMPILING_MORE}"]
    first = run(cache, "scrapy", "pairs", str(job))
    assert first.stderr.splitlines() == [f"scrapy pairs: {COMPILING_MORE}"]
    assert run(cache, "scrapy", "pairs", str(job)).stderr == ""
    assert run(cache, "scrapy", "report", str(job)).stderr == ""
