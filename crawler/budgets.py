"""End a crawl at the limits of its time, its bytes and the disk."""

from __future__ import annotations

import shutil
import time
from typing import TYPE_CHECKING, Any

from rich.filesize import decimal
from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.utils.asyncio import create_looping_call

from crawler.job_registry import CrawlerComponent, job_of
from crawler.options import Options

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

_LOOK_SECS = 0.5
"""Look at the limits so often: what comes between two looks may go beyond them."""


class Budgets(CrawlerComponent):
    """Requests nothing more at a limit; what is under way ends, and the same command goes on."""

    def __init__(self, crawler: Crawler) -> None:
        options = Options(crawler.settings)
        if not options.boolean("NEARDUP_ENABLED"):
            raise NotConfigured("NEARDUP_ENABLED is False")
        self._job = job_of(crawler)
        self._min_free_bytes = options.integer("CRAWL_MIN_FREE_BYTES")
        self._loop: Any = create_looping_call(self._look)
        crawler.signals.connect(self._opened, signals.spider_opened)
        crawler.signals.connect(self._closed, signals.spider_closed)

    def _opened(self) -> None:
        self._loop.start(_LOOK_SECS)

    def _closed(self) -> None:
        if self._loop.running:
            self._loop.stop()

    def _look(self) -> None:
        job, run = self._job, self._job.run
        if job.result.limit_reason is not None:
            return
        if run.max_secs is not None and time.monotonic() - job.result.started >= run.max_secs:
            job.result.stop_requests("the time of --max-time is over")
        elif run.max_bytes is not None and job.result.bytes >= run.max_bytes:
            job.result.stop_requests(f"{decimal(job.result.bytes)} came, the limit of --max-bytes")
        elif shortage := self._shortage():
            job.result.stop_requests(shortage)
            job.result.shortage = shortage

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
