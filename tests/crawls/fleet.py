"""Workers of one fleet as processes of their own, and what they have together."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import redis

from tests.crawls.command import scrapy, start_scrapy
from tests.crawls.crawled import exported
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from tests.sites.hosts import ManyHosts

LEASE_SECS = 3
MAX_SECS = 120.0
NAME = "test"


@dataclass
class Fleet:
    """Any number of workers over one site.

    Args:
        site: What is crawled.
        url: Of the Redis.
        parent: Where their directories go.
        arguments: Further ones of the command.
    """

    site: ManyHosts
    url: str
    parent: Path
    arguments: tuple[str, ...] = ()
    _started: Counter[int] = field(default_factory=Counter)

    def folder(self, number: int) -> Path:
        """The directory of a worker."""
        return self.parent / f"worker-{number}"

    def start(self, number: int, *arguments: str) -> subprocess.Popen[str]:
        """Start a worker, to be stopped by the test."""
        return start_scrapy(*self._command(number, *arguments))

    def run(self, number: int, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a worker to its end."""
        return scrapy(*self._command(number, *arguments))

    def _command(self, number: int, *arguments: str) -> tuple[str, ...]:
        """Return the command of a worker, which names itself by number and process to the site."""
        self._started[number] += 1
        settings = fleet_settings(self.url, self.folder(number)) | {
            "USER_AGENT": f"worker-{number}-{self._started[number]}",
            "READING_WORKERS": "1",
            "READING_TIMEOUT_SECS": "120",
            "DOWNLOAD_DELAY": "0",
            "RETRY_TIMES": "5",
        }
        options = [part for pair in settings.items() for part in ("-s", "=".join(pair))]
        seeds = ("-a", f"url={self.site.seeds}", "-a", "scope=host")
        return ("crawl", "site", *seeds, *options, *self.arguments, *arguments)

    @contextmanager
    def running(self, workers: int) -> Iterator[list[subprocess.Popen[str]]]:
        """So many workers, which are killed at the end where they still run."""
        with ExitStack() as stack:
            processes = []
            for number in range(1, workers + 1):
                process = self.start(number)
                stack.callback(end, process)
                processes.append(process)
            yield processes

    def crawl(self, workers: int) -> list[str]:
        """Let workers crawl the site to its end; what each of them printed."""
        if workers == 1:
            return [self.crawl_into(1)]
        with self.running(workers) as processes:
            return self.finish(processes)

    def finish(self, processes: Sequence[subprocess.Popen[str]]) -> list[str]:
        """Wait for the end of workers; what each of them printed.

        All are read at once, since one that nobody reads stops at 64 KiB. Where one does not end,
        the failure says what Redis holds and what all of them printed.
        """
        with ThreadPoolExecutor(len(processes)) as readers:
            outputs = list(readers.map(_read, processes))
        if None in outputs:
            held = redis_state(self.url)
            printed = "\n".join(map(end, processes))
            raise AssertionError(f"a worker did not end\n{held}\n{printed}")
        return [
            _checked(process, output) for process, output in zip(processes, outputs, strict=True)
        ]

    def crawl_into(self, number: int) -> str:
        """Let one worker crawl the site to its end; what it printed."""
        done = self.run(number)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "Traceback" not in done.stderr, done.stderr
        return done.stdout + done.stderr

    @property
    def folders(self) -> list[Path]:
        """The directories of all workers."""
        return sorted(self.parent.glob("worker-*"))

    def rows(self) -> list[dict[str, Any]]:
        """What all workers captured."""
        found: list[dict[str, Any]] = []
        for folder in self.folders:
            found += exported(folder).values()
        return found

    def kept(self) -> dict[str, str]:
        """Text by URL of what is kept; what two workers kept of one URL is one."""
        return {row["url"]: row["text"] for row in self.rows() if row["text"] is not None}


def fleet_settings(url: str, folder: Path) -> dict[str, str]:
    """What makes a crawl a worker."""
    return {
        "FLEET_ENABLED": "True",
        "FLEET_NAME": NAME,
        "FLEET_REDIS_URL": url,
        "FLEET_LEASE_SECS": str(LEASE_SECS),
        "JOBDIR": str(folder),
    }


def finish(process: subprocess.Popen[str], status: int = 0) -> str:
    """Wait for the end of the only worker that prints; what it printed."""
    return _checked(process, _read(process) or end(process), status)


def _read(process: subprocess.Popen[str]) -> str | None:
    """Read what a worker prints to its end; None: it does not end."""
    try:
        return "".join(process.communicate(timeout=MAX_SECS))
    except subprocess.TimeoutExpired:
        return None


def _checked(process: subprocess.Popen[str], output: str | None, status: int = 0) -> str:
    assert output is not None
    assert process.returncode == status, output
    assert "Traceback" not in output, output
    return output


def end(process: subprocess.Popen[str]) -> str:
    """Kill a worker where it still runs; what it printed and nobody read."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    return "".join(process.communicate())


def redis_state(url: str) -> str:
    """What a Redis holds but for texts, a line for each key."""
    lines = []
    with redis.Redis.from_url(url) as client:
        for key in sorted(client.scan_iter(count=1000)):
            command, *arguments = _READING[client.type(key).decode()]
            if b":t:" not in key and command:
                lines.append(f"{key!r}: {client.execute_command(command, key, *arguments)!r:.2000}")
    return "\n".join(lines)


_READING: dict[str, tuple[str | int, ...]] = defaultdict(
    lambda: ("",),
    hash=("HGETALL",),
    string=("GETRANGE", 0, 200),
    set=("SMEMBERS",),
    zset=("ZRANGE", 0, 20),
)
"""The commands that read a key, by its type."""


def shown(url: str) -> dict[str, dict[str, Any]]:
    """What ``crawl-once fleet --json`` says."""
    done = scrapy("fleet", url, "--json")
    assert done.returncode == 0, done.stderr
    found: dict[str, dict[str, Any]] = json.loads(done.stdout)
    return found


def wait_for(site: ManyHosts, total: int) -> None:
    """Wait until a site was asked for so many pages."""
    wait_until(lambda: site.total >= total)


def assert_nothing_lost_or_kept_twice(fleet: Fleet) -> None:
    """Every page has its row, every text is held by somebody, and no two are near each other."""
    site = fleet.site
    wanted = {site.url_of(number) for number in range(site.pages)}
    found = {row["url"] for row in fleet.rows()}
    assert found == wanted, f"{len(wanted - found)} pages lost: {sorted(wanted - found)[:5]}"
    clusters: dict[str, set[str]] = {}
    kept = fleet.kept()
    for number in range(site.pages):
        url = site.url_of(number)
        clusters.setdefault(site.cluster_of(number), set()).update({url} & kept.keys())
    lost = [name for name, urls in clusters.items() if not urls]
    assert not lost, f"{len(lost)} texts lost: {lost[:5]}"
    twice = {name: urls for name, urls in clusters.items() if len(urls) > 1}
    assert not twice, f"{len(twice)} kept twice: {list(twice.items())[:5]}"


def assert_no_worker_fetched_twice(site: ManyHosts) -> None:
    """A worker that a host went to fetches a page once more if a shorter way to it is found."""
    for path in {f"/{number}.html" for number, count in site.counts.items() if count > 1}:
        agents = [asked.agent for asked in site.asked if asked.path == path]
        assert len(agents) == len(set(agents)), f"{path} by {agents}"


def moments(seed: int, count: int, pages: int) -> list[int]:
    """When to kill: after so many pages."""
    chance = random.Random(seed)
    return sorted(chance.randrange(pages // 20, pages * 9 // 10) for _ in range(count))
