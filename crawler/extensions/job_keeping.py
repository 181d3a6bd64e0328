"""Keep the job of a crawl: commit, store its state, warn of settings, close it."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from scrapy import signals
from scrapy.exceptions import DontCloseSpider, NotConfigured
from scrapy.extensions.feedexport import FeedExporter
from scrapy.settings import SETTINGS_PRIORITIES
from scrapy.utils.asyncio import create_looping_call

from crawler.job_registry import CrawlerComponent, job_of
from crawler.options import our_settings
from crawler.pages.items import page_of_capture
from crawler.scheduling.host_loads import Alarm
from crawler.scheduling.request_codec import UnstorableError, check_json
from crawler.spiders.page_spider import PageSpider
from crawler.storage import meta_names
from crawler.storage.database import COMMIT_INTERVAL_SECS
from crawler.storage.errors import CrawlStorageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.settings import BaseSettings

    from crawler.pages.page_context import Captured

logger = logging.getLogger(__name__)

_COLLECTED_AFTER = 10_000, 3, 10
"""Thresholds of the garbage collector during a crawl: new objects, then collections."""

_USUAL = gc.get_threshold()

_OF_SLOTS = {"DOWNLOAD_DELAY": "delay", "CONCURRENT_REQUESTS_PER_DOMAIN": "concurrency"}
"""Map settings for every host to what DOWNLOAD_SLOTS calls them for one."""

_NEEDED = {
    "CRAWL_LEARN_ACROSS_DOMAINS": "CRAWL_LEARN_URL_RULES",
    "CRAWL_MAX_CRAWL_DELAY_SECS": "CRAWL_OBEY_CRAWL_DELAY",
    "CRAWL_MAX_PAGES_PER_CLUSTER": "CRAWL_LEARN_URL_RULES",
    "CRAWL_URL_RULE_CONFIDENCE": "CRAWL_LEARN_URL_RULES",
    "METRICS_HOST": "METRICS_PORT",
    "NEARDUP_DOCUMENT_LINKS": "NEARDUP_DOCUMENTS",
    "NEARDUP_MIN_SIMILARITY": "NEARDUP_VERIFY",
    "WARC_FOLDER": "WARC_ENABLED",
    "WARC_MAX_FILE_BYTES": "WARC_ENABLED",
    "WARC_NETWORK": "WARC_ENABLED",
    **{
        name: "FLEET_ENABLED"
        for name in our_settings()
        if name.startswith("FLEET_") and name != "FLEET_ENABLED"
    },
}
"""Map settings to the one without which they have no effect."""


class JobKeeper(CrawlerComponent):
    """Commits at intervals and closes the job when the spider has closed."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._job = job_of(crawler)
        self._loop = create_looping_call(self._job.commit_if_due)
        self._alarm = Alarm(crawler)
        self._sending: set[asyncio.Future[None]] = set()
        connect = crawler.signals.connect
        connect(self._opened, signals.spider_opened)
        connect(_spare_collector, signals.engine_started)
        connect(self._broke, signals.spider_error)
        connect(self._job.result.count_error, signals.item_error)
        connect(self._idle, signals.spider_idle)
        connect(self._closed, signals.spider_closed)
        # After whatever else ends with the spider: feeds are written from the store, and noted.
        connect(self._stopped, signals.engine_stopped)

    async def _opened(self) -> None:
        if (feeds := self._crawler.get_extension(FeedExporter)) is not None:
            self._job.database.before_commit.append(partial(_flush, feeds))
        await self._job.start_pool()
        if self._job.visits.number == 0:  # another scheduler than ours begins no visit
            self._job.begin_visit()
        self._loop.start(COMMIT_INTERVAL_SECS, now=False)

    def _broke(self, response: Response | None) -> None:
        if response is None:  # out of ``start``, which the engine logs
            return
        request_broke = getattr(self._crawler.engine.scheduler, "request_broke", None)
        request = self._job.frontier.leased.request_of(response)
        self._job.result.broken_requests += 1
        if request_broke is not None and request is not None:
            request_broke(request)

    def _idle(self) -> None:
        """Promote siblings before the crawl ends, some at a time.

        Raises:
            DontCloseSpider: Some are left, or on their way through the item pipelines.
        """
        try:
            promoted = self._job.promote_siblings(is_last=True)
            is_more = self._job.processor.promote_superseded() if promoted is None else True
        except CrawlStorageError:  # the job remembers it
            return
        if isinstance(self._crawler.spider, PageSpider):
            for captured in promoted or ():
                sending = asyncio.ensure_future(self._send(captured))
                self._sending.add(sending)
                sending.add_done_callback(self._sending.discard)
        self._job.commit_if_due()
        if is_more:
            self._alarm.wake()
        if promoted is not None:
            raise DontCloseSpider

    async def _send(self, captured: Captured) -> None:
        """Send a page through the item pipelines."""
        page = page_of_capture(captured, markdown=self._job.options.markdown)
        await self._crawler.engine.scraper.start_itemproc_async(page, response=None)
        self._alarm.wake()

    def _closed(self, reason: str) -> None:
        self._loop.stop()
        self._job.result.close_reason = reason
        self._job.end_visit()

    async def _stopped(self) -> None:
        await self._job.close_pool()
        self._job.close()
        gc.unfreeze()
        gc.set_threshold(*_USUAL)


def _flush(feeds: FeedExporter) -> None:
    """Write what feeds hold before the requests of it are through: a kill would lose it."""
    for slot in feeds.slots:
        if slot.file is not None and not slot.file.closed:
            with suppress(OSError):  # the next item meets it again
                slot.file.flush()


def _spare_collector() -> None:
    """Exclude the objects of the start from garbage collections until the crawl has ended.

    Imports leave 190,000 objects. Each full collection walked over them: they were 5 % of the CPU
    time of a crawl of 1,500 pages, and up to 0.15 s in one standstill of the event loop. Collecting
    after every 700 new objects, more than once a page, took 4 % of what was left.
    """
    if not gc.get_freeze_count():
        gc.freeze()  # no collection before: it would itself hold up the event loop for 0.1 s
        gc.set_threshold(*_COLLECTED_AFTER)


class StoredState(CrawlerComponent):
    """Keeps ``spider.state`` in ``crawl.db`` as JSON.

    Scrapy's own extension pickles it, and so would run the code of a directory's author.
    """

    def __init__(self, crawler: Crawler) -> None:
        if not crawler.settings["JOBDIR"]:
            raise NotConfigured
        self._database = job_of(crawler).database
        crawler.signals.connect(self._opened, signals.spider_opened)
        crawler.signals.connect(self._closed, signals.spider_closed)

    def _opened(self, spider: Spider) -> None:
        stored = self._database.meta(meta_names.SPIDER_STATE)
        spider.state = {} if stored is None else json.loads(stored)  # type: ignore[attr-defined]

    def _closed(self, spider: Spider) -> None:
        state = spider.state  # type: ignore[attr-defined]
        if not state and self._database.meta(meta_names.SPIDER_STATE) is None:
            return
        try:
            check_json(state, "spider.state")
            self._database.set_meta(meta_names.SPIDER_STATE, json.dumps(state))
        except UnstorableError as error:
            logger.error("the last state of the spider stays: %s", error)  # noqa: TRY400
        except CrawlStorageError:  # the job remembers it
            return
        self._database.commit()


class IgnoredSettings(CrawlerComponent):
    """Logs a warning for each ignored setting when a crawl begins."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        crawler.signals.connect(self._opened, signals.spider_opened)

    def _opened(self) -> None:
        seeds = job_of(self._crawler).run.seeds
        for warning in ignored_settings(self._crawler.settings, seeds):
            logger.warning(warning)


def _is_off(settings: BaseSettings, name: str) -> bool:
    if name == "METRICS_PORT":  # of which 0 is one
        return settings[name] in {None, ""}
    return not settings.getbool(name)


def ignored_settings(settings: BaseSettings, seeds: Iterable[str]) -> Iterator[str]:
    """Yield why a setting of the command line has no effect.

    Args:
        settings: The settings of a crawl.
        seeds: URLs where it starts.
    """
    given = {
        str(name)
        for name in settings
        if settings.getpriority(str(name)) == SETTINGS_PRIORITIES["cmdline"]
    }
    for name, needed in _NEEDED.items():
        if name in given and _is_off(settings, needed):
            yield f"{name} has no effect: {needed} is {settings[needed] or 'not set'}"
    if "DOWNLOAD_SLOTS" in given:
        return
    slots = settings.getdict("DOWNLOAD_SLOTS")
    for host in sorted({urlsplit(seed).hostname or "" for seed in seeds} & slots.keys()):
        for name, part in _OF_SLOTS.items():
            ours, other = settings.getfloat(name), slots[host].get(part)
            if name in given and other is not None and float(other) != ours:
                yield (
                    f"{name}={ours:g} has no effect on {host}: DOWNLOAD_SLOTS of the project gives "
                    f"it a {part} of {other}; -s 'DOWNLOAD_SLOTS={{}}' takes that away"
                )
