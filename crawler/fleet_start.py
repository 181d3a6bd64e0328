"""A long list of URLs goes to the fleet as fast as Redis takes it, and not into memory."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from scrapy.exceptions import NotConfigured

from crawler.job_registry import job_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from scrapy.crawler import Crawler

    from crawler.fleet.fleet import Fleet
    from crawler.job import Job

_LOOK_SECS = 0.05


class PacedStart:
    """Lets a spider's start wait while too many of its requests are still to be sent.

    Where the crawl has failed, nothing is sent any more, and the start is over.
    """

    def __init__(self, job: Job, fleet: Fleet) -> None:
        self._job = job
        self._fleet = fleet

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> PacedStart:
        """Share the crawl's part in a fleet."""
        job = job_of(crawler)
        if job.fleet is None:
            raise NotConfigured
        return cls(job, job.fleet)

    async def process_start(self, start: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """Pass on everything, and wait in between."""
        async for each in start:
            if self._job.failure is not None:
                return
            yield each
            while self._fleet.outbox.is_full and self._job.failure is None:
                await asyncio.sleep(_LOOK_SECS)
