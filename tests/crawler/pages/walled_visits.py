"""Visits of a crawl whose answers are walls, and what is stored of their pages."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import closing
from dataclasses import replace
from multiprocessing import get_context
from typing import TYPE_CHECKING

from crawler.job import Job
from crawler.maintenance.crawl_directory import CrawlDirectory
from crawler.maintenance.rejudge.rejudging import rejudge
from crawler.pages.stored_texts import text_of_page, unpack
from crawler.pages.wall_clusters import unknown_urls
from crawler.storage.database import open_for_reading
from tests.crawler.pages.test_capture import OPTIONS, fetched, html
from tests.no_watch import NoWatch
from tests.sites.prose import prose

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from crawler.maintenance.rejudge.rejudging import Rejudgement
    from crawler.pages.page_context import Captured
    from crawler.run import JobOptions

FORM = '<form><input type="password"></form>'
LOGIN = html(f"Please log in to go on.{FORM}", "Members")
LONGER = prose("why you should join", 70)
NAMES = prose("names", 60).lower().replace(".", "").split()


def names(count: int) -> list[str]:
    return [f"{name}{number}" for number, name in enumerate(NAMES[:count])]


def in_folders(count: int) -> list[str]:
    return [f"/{('a', 'b')[n % 2]}/{name}" for n, name in enumerate(names(count))]


def visit(
    folder: Path,
    answers: Iterable[tuple[str, bytes]],
    options: JobOptions = OPTIONS,
    probed: bytes | None = None,
    *,
    dies: bool = False,
) -> list[Captured]:
    """One visit in which these answers come, and then perhaps that to a URL that cannot exist.

    With ``dies`` the process ends after a commit, and closes nothing.
    """

    async def crawl() -> list[Captured]:
        job = Job(folder, options)
        try:
            job.run = replace(job.run, revisit="yes")
            job.begin_visit()
            await job.start_pool()
            made = [(path, replace(fetched(job, path, body), depth=1)) for path, body in answers]
            seeds = [replace(one, depth=0) if path == "/" else one for path, one in made]
            captured = [await job.processor.capture(one) for one in seeds]
            if probed is not None:
                url = unknown_urls("http://example.com/a/b")[1]
                reading = await job.processor.pool.read(url, probed, None, known=lambda _: None)
                job.processor.walls.note_probe(url, reading.signs)
            if dies:
                job.database.commit()
                os.kill(os.getpid(), signal.SIGKILL)
            job.visits.end_queueing()
            return captured
        finally:
            await job.close_pool()
            job.close()

    return asyncio.run(crawl())


def visit_and_die(
    folder: Path, answers: Iterable[tuple[str, bytes]], probed: bytes | None = None
) -> None:
    """One visit in a process that is killed after its last commit."""
    arguments = (folder, list(answers), OPTIONS, probed)
    process = get_context("spawn").Process(target=visit, args=arguments, kwargs={"dies": True})
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL


def stored(folder: Path) -> dict[str, tuple[str, str | None]]:
    """The verdict and the text of each page, wherever that is, by its path."""
    with closing(open_for_reading(folder)) as connection:
        rows = connection.execute("SELECT id, url, verdict FROM pages WHERE latest = 1").fetchall()
        found = {}
        for page, url, verdict in rows:
            stored = text_of_page(connection.execute, page)
            text = None if stored is None else unpack(stored.text)
            found[url.removeprefix("http://example.com")] = (verdict, text)
        return found


def verdicts(folder: Path) -> set[str]:
    return {verdict for verdict, _ in stored(folder).values()}


def judged_again(folder: Path, path: str, *, dry_run: bool = False) -> Rejudgement:
    with closing(CrawlDirectory(folder)) as directory:
        urls = [f"http://example.com{path}"]
        return rejudge(directory, NoWatch(), dry_run=dry_run, no_walls=urls)
