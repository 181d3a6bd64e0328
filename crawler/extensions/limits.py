"""Bound a crawl: its time, its bytes, the disk, the hours of a day, the delay that a site wants."""

from __future__ import annotations

import logging
import shutil
import time
from datetime import datetime
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from rich.filesize import decimal
from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.utils.asyncio import create_looping_call

from crawler.console.crawl_run import duration_words
from crawler.console.escaping import say_or_go_on
from crawler.crawl_numbers import CrawlNumbers
from crawler.downloadermiddlewares.retries import LimitReachedError, leased_host
from crawler.job_registry import CrawlerComponent, job_of
from crawler.options import Options

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.robotstxt import RobotParser

    from crawler.downloading.pace import Hours

logger = logging.getLogger(__name__)

_LOOK_SECS = 0.5
"""Look at clock and disk at this interval, in seconds: what comes meanwhile may pass a limit."""


class Budgets(CrawlerComponent):
    """Requests nothing more at a limit; what is under way ends, and the same command goes on.

    Outside of the hours of ``--hours`` it requests nothing either, and goes on within them.

    Answers under way count as what they announce, or have brought where they announce nothing. One
    of them is stopped, and its request returns to the queue, if the limit of bytes is reached
    without it: thus the limit is exceeded by one answer at most.
    """

    def __init__(self, crawler: Crawler) -> None:
        options = Options(crawler.settings)
        self._crawler = crawler
        self._job = job_of(crawler)
        self._numbers = CrawlNumbers.of(crawler)
        self._min_free_bytes = options.integer("CRAWL_MIN_FREE_BYTES")
        self._max_answer_bytes = crawler.settings.getint("DOWNLOAD_MAXSIZE")
        self._of_unknown_length: WeakSet[Request] = WeakSet()
        self._loop: Any = create_looping_call(self._look)
        crawler.signals.connect(self._opened, signals.spider_opened)
        crawler.signals.connect(self._closed, signals.spider_closed)

    def _opened(self) -> None:
        if self._job.run.max_bytes is not None:
            self._crawler.signals.connect(self._announced, signals.headers_received)
            self._crawler.signals.connect(self._came, signals.bytes_received)
        self._loop.start(_LOOK_SECS)

    def _closed(self) -> None:
        if self._loop.running:
            self._loop.stop()

    @property
    def _bytes_there(self) -> int:
        return (self._job.run.bytes_before or 0) + self._job.result.bytes

    def _announced(self, request: Request, body_length: int | str) -> None:
        """Count what an answer announces, unless it will be refused for its size."""
        if leased_host(self._crawler, request) is None:
            return  # robots.txt, for example
        if not isinstance(body_length, int):
            self._of_unknown_length.add(request)
            self._count(request, 0)
        elif not self._max_answer_bytes or body_length <= self._max_answer_bytes:
            self._count(request, body_length)

    def _came(self, request: Request, data: bytes) -> None:
        if request in self._of_unknown_length:
            so_far = self._job.result.under_way.get(request, 0)
            self._count(request, so_far + len(data))

    def _count(self, request: Request, size: int) -> None:
        """Count the bytes of an answer under way. Complexity: O(answers under way).

        Raises:
            LimitReachedError: The limit is reached without it.
        """
        job, under_way = self._job, self._job.result.under_way
        under_way.pop(request, None)
        others = self._bytes_there + sum(under_way.values())
        if job.run.max_bytes is not None and others >= job.run.max_bytes:
            self._stop_at_bytes(others)
            raise LimitReachedError
        under_way[request] = size
        self._stop_at_bytes(others + size)

    def _stop_at_bytes(self, count: int) -> None:
        limit, result = self._job.run.max_bytes, self._job.result
        if limit is None or count < limit or result.limit_reason is not None:
            return
        reason = f"the limit of --max-bytes, {decimal(limit)}, is reached"
        if self._job.run.bytes_before is not None:
            reason += "; with a larger one it goes on"
        result.stop_requests(reason)

    def _look(self) -> None:
        job, run = self._job, self._job.run
        if run.hours is not None:
            self._keep_hours(run.hours)
        self._stop_at_bytes(self._bytes_there)
        if job.result.limit_reason is not None or self._numbers.is_closing:
            job.callbacks.ending()
            return
        if run.max_secs is not None and time.monotonic() - job.result.started >= run.max_secs:
            job.result.stop_requests("the time of --max-time is over")
        elif shortage := self._shortage():
            job.result.stop_requests(shortage)
            job.result.shortage = shortage

    def _keep_hours(self, hours: Hours) -> None:
        """Pause outside of the hours of ``--hours``, and go on within them."""
        engine, now = self._crawler.engine, datetime.now().astimezone()
        assert engine is not None
        is_open, is_ending = hours.is_open(now), self._job.result.limit_reason is not None
        if engine.paused and (is_open or is_ending):  # at its limit it goes on to its end
            engine.unpause()
            if is_open:
                words = f"{now:%H:%M}: within --hours {hours.written}, goes on"
                say_or_go_on(words, to_stderr=True)
        elif not engine.paused and not is_open and not is_ending:
            engine.pause()
            wait = duration_words(hours.secs_until_open(now))
            say_or_go_on(
                f"{now:%H:%M}: outside of --hours {hours.written}, pauses for {wait}; Ctrl-C ends "
                "it, and the same command goes on",
                to_stderr=True,
            )

    def _shortage(self) -> str | None:
        """Say that the disk is nearly full, or return None."""
        folder = self._job.folder
        if folder is None or not self._min_free_bytes:
            return None
        try:
            free = shutil.disk_usage(folder).free
        except OSError:  # of a share that is away for a moment; SQLite says it if that lasts
            return None
        if free >= self._min_free_bytes:
            return None
        return (
            f"{decimal(free)} are free on the disk of {folder}, fewer than CRAWL_MIN_FREE_BYTES "
            f"({decimal(self._min_free_bytes)}); make room, or let it fill the disk further: "
            "-s CRAWL_MIN_FREE_BYTES=10000000"
        )


class CrawlDelay(CrawlerComponent):
    """Obeys the ``Crawl-delay`` of robots.txt, which Scrapy reads and does not apply."""

    def __init__(self, crawler: Crawler) -> None:
        options = Options(crawler.settings)
        if not options.boolean("CRAWL_OBEY_CRAWL_DELAY"):
            raise NotConfigured
        self._longest_secs = options.number("CRAWL_MAX_CRAWL_DELAY_SECS")
        self._crawler = crawler
        self._delays: dict[str, float] = {}
        crawler.signals.connect(self._robots_parsed, signals.robots_parsed)
        if crawler.settings.getbool("AUTOTHROTTLE_ENABLED"):
            # Extensions with a lower number, as AutoThrottle is, hear of it before.
            crawler.signals.connect(self._downloaded, signals.response_downloaded)

    def _robots_parsed(self, robotparser: RobotParser, request: Request) -> None:
        settings = self._crawler.settings
        agent = settings["ROBOTSTXT_USER_AGENT"] or settings["USER_AGENT"]
        delay = robotparser.crawl_delay(agent)
        if not delay:
            return
        downloader = self._crawler.engine.downloader
        key = downloader.get_slot_key(request)
        slot = downloader.slots.get(key)
        chosen = downloader.per_slot_settings.get(key, {}).get(
            "delay", settings.getfloat("DOWNLOAD_DELAY")
        )
        delay = max(min(float(delay), self._longest_secs), chosen)
        pace = {"delay": delay, "concurrency": 1, "jitter": 0.0}
        # For the slot that is there, and for the one made after that was swept up.
        downloader.per_slot_settings[key] = pace
        self._delays[key] = delay
        if slot is not None:
            slot.delay, slot.jitter, slot.concurrency = delay, 0.0, 1
        logger.info("%s asks for %s s between requests", key, delay)

    def _downloaded(self, request: Request) -> None:
        """Restore a delay that AutoThrottle reduced: it knows no other bound than its own."""
        key = str(request.meta.get("download_slot"))
        slot = self._crawler.engine.downloader.slots.get(key)
        if slot is not None:
            slot.delay = max(slot.delay, self._delays.get(key, 0.0))
