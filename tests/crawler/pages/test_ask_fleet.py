"""A worker asks the fleet for the bytes of a page before it reads it, where copies are frequent."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from crawler.reading.reading import Reading
from neardup import Parameters
from tests.crawler.pages.sharing import OneMemory, fleet, workers_of
from tests.crawler.pages.test_capture import OPTIONS, fetched, html, verdicts
from tests.sites.prose import prose

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from crawler.job import Job
    from crawler.pages.page_context import Captured

FEW, MANY = 20, 220


def page(number: int) -> bytes:
    return html(prose(f"page {number}", 60), title=f"Page {number}")


async def capture(job: Job, numbers: range, place: str) -> list[Captured]:
    return [
        await job.processor.capture(fetched(job, f"/{place}/{number}", page(number)))
        for number in numbers
    ]


@asynccontextmanager
async def two_crawls(folder: Path, memory: OneMemory) -> AsyncIterator[list[Job]]:
    with fleet([folder / "one", folder / "two"], OPTIONS, memory) as jobs:
        async with workers_of(jobs):
            yield jobs


async def test_bytes_are_asked_for_first_only_while_copies_are_frequent(tmp_path: Path) -> None:
    memory = OneMemory(Parameters())
    async with two_crawls(tmp_path, memory) as (one, two):
        await capture(one, range(FEW), "one")
        memory.asked.clear()
        # Nothing is known of the site yet.
        assert verdicts(await capture(two, range(FEW), "two")) == ["exact_duplicate"] * FEW
        assert memory.asked == ["payload"] * FEW
        await capture(two, range(FEW, MANY), "two")
        memory.asked.clear()
        assert verdicts(await capture(two, range(MANY, MANY + FEW), "two")) == ["new"] * FEW
        assert memory.asked == ["text"] * FEW
        # The other crawl has the same pages: the question for the text finds their bytes too.
        memory.asked.clear()
        copies = await capture(one, range(FEW, 2 * FEW), "one")
        assert verdicts(copies) == ["exact_duplicate"] * FEW
        assert {copy.kept_url for copy in copies} == {
            f"http://example.com/two/{number}" for number in range(FEW, 2 * FEW)
        }


async def test_a_copy_that_cannot_be_read_here_is_known_by_its_bytes(tmp_path: Path) -> None:
    memory = OneMemory(Parameters())
    async with two_crawls(tmp_path, memory) as (one, two):
        await capture(one, range(MANY), "one")
        await capture(two, range(MANY, MANY + 1), "two")
        memory.asked.clear()
        found = []
        for number in (MANY, MANY + 1):
            answer = fetched(one, f"/one/{number}", page(number))
            broken = Reading(answer.url, failure="it takes too long")
            found.append(await one.processor.capture_read(answer, broken))
        assert verdicts(found) == ["exact_duplicate", "unreadable"]
        assert memory.asked == ["payload"] * 2


async def test_bytes_are_asked_for_first_again_once_copies_come(tmp_path: Path) -> None:
    memory = OneMemory(Parameters())
    async with two_crawls(tmp_path, memory) as (one, two):
        await capture(one, range(MANY), "one")
        memory.asked.clear()
        await capture(one, range(MANY, MANY + FEW), "one")
        assert "payload" not in memory.asked
        await capture(two, range(MANY + FEW, MANY + 2 * FEW), "two")
        memory.asked.clear()
        copies = await capture(one, range(MANY + FEW, MANY + 2 * FEW), "one")
        assert verdicts(copies) == ["exact_duplicate"] * FEW
        # A page that was read before the question costs no verdict, only its reading.
        first = memory.asked.index("payload")
        assert memory.asked == ["text"] * first + ["payload"] * (FEW - first)
        assert first < FEW // 2
