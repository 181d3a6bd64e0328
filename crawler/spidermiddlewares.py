"""Delay start requests while many wait, and links until the verdict on their page."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.exceptions import NotConfigured

from crawler.job_registry import CrawlerComponent, job_of
from crawler.options import Options
from crawler.pages.items import Page
from crawler.pipelines import ForeignItems

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from scrapy.crawler import Crawler
    from scrapy.http import Response

_LOOK_SECS = 0.05


class PacedStart(CrawlerComponent):
    """Delays a spider's start requests while too many of them are still to be sent.

    If the crawl has failed, no more requests are sent, and the start ends.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._job = job_of(crawler)
        if self._job.fleet is None:
            raise NotConfigured
        self._outbox = self._job.fleet.outbox

    async def process_start(self, start: AsyncIterator[Any]) -> AsyncIterator[Any]:
        async for each in start:
            if self._job.failure is not None:
                return
            yield each
            while self._outbox.is_full and self._job.failure is None:
                await asyncio.sleep(_LOOK_SECS)


class DuplicateLinks(CrawlerComponent):
    """Holds the requests of a callback back until its items are judged.

    It is on only with ``NEARDUP_FOLLOW_DUPLICATES = False``: if one of a response's
    items is a duplicate, none of the response's requests is queued. A ``Page``
    counts for none: our own spiders leave its links out, and what else they
    request is wanted, such as the probe of its host.
    """

    def __init__(self, crawler: Crawler) -> None:
        options = Options(crawler.settings)
        if options.boolean("NEARDUP_FOLLOW_DUPLICATES"):
            raise NotConfigured
        self._foreign = ForeignItems.of(crawler)
        self._stats = crawler.stats

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        """Yield items as they come, and requests at the end unless the page is a duplicate."""
        requests: list[Request] = []
        duplicate = False
        async for output in result:
            if isinstance(output, Request):
                requests.append(output)
                continue
            duplicate |= await self._is_duplicate(output)
            yield output
        if duplicate:
            self._stats.inc_value("neardup/links_not_followed", len(requests))
            return
        for request in requests:
            yield request

    async def _is_duplicate(self, item: Any) -> bool:
        if isinstance(item, Page):
            return False
        captured = await self._foreign.judge_ahead(item)
        return captured is not None and captured.is_duplicate
