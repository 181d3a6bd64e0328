"""Parts of Scrapy that do the same in less time for each page; ``settings.crawl`` names them."""

from __future__ import annotations

import logging
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pydispatch import dispatcher
from scrapy import Request
from scrapy.http import Headers
from scrapy.logformatter import LogFormatter
from scrapy.signalmanager import SignalManager
from scrapy.spidermiddlewares.depth import DepthMiddleware
from scrapy.spidermiddlewares.referer import RefererMiddleware
from scrapy.statscollectors import MemoryStatsCollector
from twisted.internet.endpoints import HostnameEndpoint

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from typing import Self

    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.logformatter import LogFormatterResult


# Of a few names each: that of a header as it is stored, and that of a host as it is sent.
_remembered = lru_cache(1024)
Headers.normkey = staticmethod(_remembered(Headers().normkey))  # type: ignore[assignment, method-assign]
HostnameEndpoint._hostAsBytesAndText = staticmethod(  # type: ignore[method-assign]
    _remembered(HostnameEndpoint._hostAsBytesAndText)
)


class DepthsAndReferers(RefererMiddleware):
    """Scrapy's middlewares for depths and for referers as one.

    Each middleware wraps the output of a callback into three asynchronous generators, which asyncio
    notes when they begin and end, and resumes them for every request. Redirects ask it for the
    referer alone, so that it is a ``RefererMiddleware``, and get what browsers send: the page that
    led to the redirect, where Scrapy sends the URL that redirects.
    """

    _depths: DepthMiddleware
    _has_referers: bool

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        made = cls(crawler.settings)
        made._depths = DepthMiddleware.from_crawler(crawler)
        made._has_referers = crawler.settings.getbool("REFERER_ENABLED")
        return made

    async def process_spider_output_async(
        self, response: Response | None, result: AsyncIterator[Any], spider: Spider | None = None
    ) -> AsyncIterator[Any]:
        """Set depths and referers of requests; leave out those beyond ``DEPTH_LIMIT``."""
        if response is not None and "depth" not in response.meta:
            response.meta["depth"] = 0
            if self._depths.verbose_stats:
                self._depths.stats.inc_value("request_depth_count/0")
        async for output in result:
            kept = output
            if isinstance(output, Request):
                kept = self._depths.get_processed_request(output, response)
                if kept is not None and self._has_referers:
                    kept = super().get_processed_request(kept, response)
            if kept is not None:
                yield kept

    def get_processed_request(self, request: Request, response: Response | None) -> Request | None:
        """Set the referer of a redirected request to that of the request that was redirected."""
        source = None if response is None or response.request is None else response.request.headers
        referer = None if source is None else source.get(b"Referer")
        if self._has_referers and referer is not None:
            led_by = referer.decode("latin-1")
            sent = self.policy(response, request).referrer(led_by, request.url)
            if sent is not None:
                request.headers["Referer"] = sent
        return request


def refer(crawler: Crawler, request: Request, source: str | None) -> Request:
    """Set the Referer of a request that no callback yields, as ``REFERRER_POLICY`` has it.

    Args:
        crawler: The crawler that is to make the request.
        request: The request, which is returned.
        source: The URL that led to it; None: that is not known.
    """
    if source and crawler.settings.getbool("REFERER_ENABLED"):
        middleware = crawler.get_spider_middleware(RefererMiddleware)
        policy = None if middleware is None else middleware.default_policy()
        referer = None if policy is None else policy.referrer(source, request.url)
        if referer is not None:
            request.headers.setdefault("Referer", referer)
    return request


class HeardSignals(SignalManager):
    """Scrapy's signals, of which those without a receiver cost next to nothing."""

    def send_catch_log(self, signal: Any, **kwargs: Any) -> list[tuple[Any, Any]]:
        for sender in (kwargs.get("sender", self.sender), dispatcher.Any):
            heard = dispatcher.connections.get(id(sender), ())
            if signal in heard or dispatcher.Any in heard:
                return super().send_catch_log(signal, **kwargs)
        return []


class PlainStats(MemoryStatsCollector):
    """Scrapy's statistics, without its search for deprecated arguments at every access."""

    __getattribute__ = object.__getattribute__


class ShownLogs(LogFormatter):
    """Scrapy's messages about single pages, made only where ``LOG_LEVEL`` shows them.

    Scrapy makes a record of each, three a page, and its handlers leave out what is below the level.
    """

    _level: int

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        made = super().from_crawler(crawler)
        level = crawler.settings["LOG_LEVEL"]
        made._level = level if isinstance(level, int) else logging.getLevelNamesMapping()[level]
        return made

    def crawled(self, *told: Any) -> LogFormatterResult | None:  # type: ignore[override]
        return super().crawled(*told) if self._level <= logging.DEBUG else None

    def scraped(self, *told: Any) -> LogFormatterResult | None:  # type: ignore[override]
        return super().scraped(*told) if self._level <= logging.DEBUG else None

    def dropped(self, *told: Any) -> LogFormatterResult | None:  # type: ignore[override]
        """Return the message about a dropped item where the level of its exception is shown."""
        made = super().dropped(*told)
        return made if made is not None and made["level"] >= self._level else None
