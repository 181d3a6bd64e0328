"""Pages that resemble one of another name, in directories that are merged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.crawler.maintenance.merge.crawls import merged, rows
from tests.crawler.pages.sharing import OneMemory, fleet, workers_of
from tests.crawler.pages.test_capture import LONG, OPTIONS, fetched, html

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.job import Job

_RESEMBLING = """
SELECT pages.url, other.url, pages.reason FROM pages
JOIN pages AS other ON other.id = pages.resembles ORDER BY pages.id
"""


async def _captured(job: Job, path: str, body: bytes) -> None:
    answer = fetched(job, path, body)
    await job.processor.capture(answer)
    job.frontier.seen.add(answer.key)


async def test_a_page_names_the_one_that_it_resembles_wherever_that_was(tmp_path: Path) -> None:
    folders = [tmp_path / "one", tmp_path / "other"]
    with fleet(folders, OPTIONS, OneMemory(OPTIONS.parameters)) as jobs:
        one, other = jobs
        async with workers_of(jobs):
            await _captured(other, "/first", html("Only a few words.", "First"))
            await _captured(one, "/red", html(LONG, "Red lamp"))
            await _captured(other, "/blue", html(f"{LONG} Blue.", "Blue lamp"))
            await _captured(one, "/green", html(f"{LONG} Green.", "Green lamp"))
        for job in jobs:
            job.visits.end_queueing()
    merged(tmp_path, *folders)
    found = rows(tmp_path / "out", _RESEMBLING)
    red, blue, green = (f"http://example.com/{name}" for name in ("red", "blue", "green"))
    assert found[0] == (blue, red, None)
    assert found[1] in {(green, red, None), (green, blue, None)}
    assert len(found) == 2
