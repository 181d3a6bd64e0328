"""Crawl directories that are merged, and what is asked of the result."""

from __future__ import annotations

import asyncio
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

from crawler.job import Job
from crawler.maintenance.merge.merging import Merged, merge
from crawler.storage.database import open_for_reading
from neardup import Parameters
from tests.crawler.maintenance.merge.test_any_deal import problems
from tests.crawler.pages.test_capture import OPTIONS
from tests.crawler.pages.test_sharing import said
from tests.no_watch import NoWatch
from tests.sites.prose import prose

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from crawler.run import JobOptions
    from tests.crawler.maintenance.rejudge.captured import Said

PARAMETERS = Parameters()
LONG, OTHER = prose("long", 200), prose("other", 200)
NEAR = f"{LONG} And a few words more."


def crawled(
    folder: Path, pages: Iterable[tuple[str, Said | bytes]], options: JobOptions = OPTIONS
) -> Path:
    """A crawl that is alone; each call is a visit of its own."""
    with closing(Job(folder, options)) as job:
        job.claim("one plan")
        job.run = replace(job.run, revisit="yes")
        job.begin_visit()
        for path, page in pages:
            asyncio.run(said(job, path, page))
            job.frontier.seen.add(job.canonicalizer.key(f"http://example.com{path}"))
        job.visits.end_queueing()
    return folder


def merged(tmp_path: Path, *folders: Path) -> Merged:
    found = merge(tmp_path / "out", folders, NoWatch())
    assert problems(tmp_path / "out") == ()
    return found


def rows(folder: Path, sql: str) -> list[tuple[object, ...]]:
    with closing(open_for_reading(folder)) as connection:
        return [tuple(row) for row in connection.execute(sql)]
