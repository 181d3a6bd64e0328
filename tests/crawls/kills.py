"""A crawl that is killed again and again, and what came of it."""

from __future__ import annotations

import json
import os
import random
import signal
from contextlib import closing, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from crawler.pages.export import KEPT_FILTER, PageFilter, export_pages
from crawler.run import answers_in
from crawler.storage import meta_names
from crawler.storage.database import open_for_reading
from tests.crawls.command import start_scrapy
from tests.sites.many import page_text
from tests.waiting import some_moment, wait_until

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator
    from pathlib import Path

    from tests.sites.many import ManyPages

MAX_SECS = 120.0


@dataclass
class KilledCrawl:
    """A crawl of one site into one directory, however many processes it takes.

    Args:
        site: What is crawled.
        jobdir: Where to.
        seed: Of the moments; print it, so that they can be had again.
        arguments: Further ones of the command.
    """

    site: ManyPages
    jobdir: Path
    seed: int
    arguments: tuple[str, ...] = ()
    chance: random.Random = field(init=False)
    kills: int = 0

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)

    def start(self) -> subprocess.Popen[str]:
        return start_scrapy(*crawl_command(self.site, self.jobdir), *self.arguments)

    def run_until(self, pages: int) -> bool:
        """Kill the crawl when it has asked for so many pages more; False where it ended before.

        With 0 pages it is killed at some moment before it asks for anything.
        """
        target = self.site.total + pages
        process = self.start()
        try:
            if pages:
                wait_for(self.site, target, process)
            some_moment(self.chance, 0.05 if pages else 1.0)
            if process.poll() is not None:
                assert process.returncode == 0, process.communicate()
                return False
            os.kill(process.pid, signal.SIGKILL)
            self.kills += 1
            return True
        finally:
            process.kill()
            _, errors = process.communicate()
            assert "Traceback" not in errors, errors

    def finish(self) -> tuple[str, str]:
        """Let the crawl run to its end."""
        process = self.start()
        output, errors = process.communicate(timeout=MAX_SECS)
        assert process.returncode == 0, output + errors
        assert "Traceback" not in errors, errors
        return output, errors

    @property
    def fetched_again(self) -> int:
        """Requests beyond the first one a page, as the server counted them."""
        asked = self.site.asked
        return asked.total() - len(asked)


def crawl_command(site: ManyPages, jobdir: Path) -> tuple[str, ...]:
    """The arguments of a crawl whose pages are never given up for slowness: machines differ."""
    settings = ("-s", f"JOBDIR={jobdir}", "-s", "READING_TIMEOUT_SECS=120")
    return ("crawl", "site", "-a", f"url={site.url}", *settings)


def assert_nothing_lost_or_kept_twice(site: ManyPages, jobdir: Path) -> None:
    """Every page has its row, every text is held, and held once."""
    wanted = set(site.pages)
    with closing(open_for_reading(jobdir)) as connection:
        rows = list(export_pages(connection))
        held = [page["text"] for page in export_pages(connection, PageFilter(KEPT_FILTER))]
    paths = [row["url"].removeprefix(site.url.rstrip("/")) for row in rows]
    assert set(paths) == wanted, f"{len(wanted - set(paths))} pages lost"
    assert len(paths) == len(wanted), "a URL has two rows"
    said = {page_text(number) for number in range(len(wanted))}
    assert len(set(held)) == len(held), "a text is kept twice"
    without = [(row["url"], row["verdict"], row["reason"]) for row in rows if not row["text"]]
    assert len(held) == len(said), f"{len(said) - len(held)} texts lost: {without}"


def answers_of(jobdir: Path) -> int:
    """The pages that the numbers of a directory count, in all its runs."""
    with closing(open_for_reading(jobdir)) as connection:
        sql = "SELECT value FROM meta WHERE name = ?"
        (stored,) = connection.execute(sql, (meta_names.ANSWERS,)).fetchone()
    return int(answers_in(json.loads(stored)))


def wait_for(site: ManyPages, total: int, process: subprocess.Popen[str]) -> None:
    """Wait until a site was asked so often, or the crawl has ended."""
    wait_until(lambda: site.total >= total or process.poll() is not None, pause_secs=0.002)


def children(pid: int) -> Iterator[int]:
    """The child processes of a process, as Linux tells them."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            yield from map(int, file.read().split())
    except FileNotFoundError:
        return


def workers_of(pid: int) -> list[int]:
    """The reading workers of a process, which its child forks."""
    return [worker for server in children(pid) for worker in children(server)]


def kill_workers(process: subprocess.Popen[str], *, by_server: bool) -> int:
    """Kill all workers of a crawl at one moment for it, or what forks them; how many."""
    process.send_signal(signal.SIGSTOP)
    try:
        workers = workers_of(process.pid)
        for killed in children(process.pid) if by_server else workers:
            with suppress(ProcessLookupError):  # one that is replaced may just have ended
                os.kill(killed, signal.SIGKILL)
        # A signal is on its way for a while, and a worker that is not dead may get another page.
        wait_until(lambda: all(map(_is_dead, workers)))
    finally:
        process.send_signal(signal.SIGCONT)
    return len(workers)


def _is_dead(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(") ")[2].startswith(("Z", "X"))
    except FileNotFoundError:
        return True
