"""Delay start requests while many wait, and links until their page is judged; name items' URLs."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.exceptions import NotConfigured

from crawler.foreign_items import ForeignItems
from crawler.items import Page
from crawler.job_registry import CrawlerComponent, job_of
from crawler.options import Options

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from crawler.fleet.fleet import Fleet
    from crawler.job import Job

_LOOK_SECS = 0.05


class PacedStart:
    """Delays a spider's start requests while too many of them are still to be sent.

    If the crawl has failed, no more requests are sent, and the start ends.
    """

    def __init__(self, job: Job, fleet: Fleet) -> None:
        self._job = job
        self._fleet = fleet

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> PacedStart:
        job = job_of(crawler)
        if job.fleet is None:
            raise NotConfigured
        return cls(job, job.fleet)

    async def process_start(self, start: AsyncIterator[Any]) -> AsyncIterator[Any]:
        async for each in start:
            if self._job.failure is not None:
                return
            yield each
            while self._fleet.outbox.is_full and self._job.failure is None:
                await asyncio.sleep(_LOOK_SECS)


class ForeignOutput(CrawlerComponent):
    """Tells of which response an item came, and may hold requests back until items are judged.

    With ``NEARDUP_FOLLOW_DUPLICATES = False`` none of a response's requests is queued if one of
    its items is a duplicate. A ``Page`` counts for none: our own spiders leave its links out, and
    what else they request is wanted, such as the probe of its host.
    """

    def __init__(self, crawler: Crawler) -> None:
        options = Options(crawler.settings)
        if not options.boolean("NEARDUP_ENABLED"):
            raise NotConfigured("NEARDUP_ENABLED is False")
        self._holds_links = not options.boolean("NEARDUP_FOLLOW_DUPLICATES")
        if not self._holds_links and hasattr(crawler.spider, "links_of"):
            raise NotConfigured  # all that our own spiders yield are pages, which name their URLs
        self._foreign = ForeignItems.of(crawler)
        self._stats = crawler.stats

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        """Yield items as they come, and requests that are held at the end unless one is a copy."""
        requests: list[Request] = []
        duplicate = False
        async for output in result:
            if not isinstance(output, Request):
                self._foreign.note_url(output, response.url)
                duplicate |= self._holds_links and await self._is_duplicate(output, response.url)
            elif self._holds_links:
                requests.append(output)
                continue
            yield output
        if duplicate:
            self._stats.inc_value("neardup/links_not_followed", len(requests))
            return
        for request in requests:
            yield request

    async def _is_duplicate(self, item: Any, url: str) -> bool:
        if isinstance(item, Page):
            return False
        captured = await self._foreign.judge_ahead(item, url)
        return captured is not None and captured.is_duplicate
