"""The programs ``scrapy`` and ``crawl-once`` as a user runs them: processes of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.crawls.forking import run_forked

if TYPE_CHECKING:
    from collections.abc import Iterator

PROJECT = Path(__file__).parents[2]
TIMEOUT_SECS = 300
READ_AT_START = {"PYTHONPATH", "XDG_CACHE_HOME"}
"""Variables that imports read: a program that is given one of them is started from nothing."""


def scrapy(
    *arguments: str,
    cwd: Path = PROJECT,
    stdin: str | None = None,
    environment: dict[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a command of ``scrapy`` to its end, in a folder with a project; the output is text."""
    return _run("scrapy", arguments, cwd, stdin, environment or {})


def crawl_once(
    *arguments: str | Path, cwd: Path = PROJECT, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command of ``crawl-once`` to its end; the output is text."""
    return _run("crawler", tuple(map(str, arguments)), cwd, None, environment or {})


def _run(
    program: str,
    arguments: tuple[str, ...],
    cwd: Path,
    stdin: str | None,
    environment: dict[str, str],
) -> subprocess.CompletedProcess[str]:
    variables = {**os.environ, "PYTHONPATH": str(PROJECT), **environment}
    if sys.platform == "linux" and not READ_AT_START & environment.keys():
        return run_forked(
            program, arguments, cwd=cwd, stdin=stdin, environment=variables, timeout=TIMEOUT_SECS
        )
    return subprocess.run(
        [sys.executable, "-m", program, *arguments],
        cwd=cwd,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECS,
        check=False,
        env=variables,
    )


def start_scrapy(*arguments: str, cwd: Path = PROJECT) -> subprocess.Popen[str]:
    """Start a command in a process group of its own, to be stopped by the test."""
    return subprocess.Popen(
        [sys.executable, "-m", "scrapy", *arguments],
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )


@contextmanager
def killed(*arguments: str, cwd: Path = PROJECT) -> Iterator[subprocess.Popen[str]]:
    """Start a command, and kill it behind the block, which waits for a state."""
    process = start_scrapy(*arguments, cwd=cwd)
    try:
        yield process
    finally:
        process.kill()
        _, errors = process.communicate()
    assert "Traceback" not in errors, errors


def crawl(url: str, jobdir: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Crawl a site into a directory and expect that it ran."""
    done = scrapy("crawl", "site", "-a", f"url={url}", "-s", f"JOBDIR={jobdir}", *arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    return done


def report(jobdir: Path) -> dict[str, Any]:
    """What ``crawl-once report --json`` says."""
    done = scrapy("report", str(jobdir), "--json")
    assert done.returncode == 0, done.stderr
    loaded: dict[str, Any] = json.loads(done.stdout)
    return loaded


def pages(jobdir: Path, *arguments: str) -> list[dict[str, Any]]:
    """What ``crawl-once pages`` exports."""
    done = scrapy("pages", str(jobdir), *arguments)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]
