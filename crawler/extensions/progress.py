"""Show how a crawl goes: on the terminal, and in ``status.json`` for scripts and monitors."""

from __future__ import annotations

import json
import logging
import os
import socket
import sys
import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.utils.asyncio import create_looping_call

from crawler.console.escaping import plain_json
from crawler.console.progress import REDRAW_SECS, LiveProgress, PlainProgress, is_drawable
from crawler.crawl_numbers import CrawlNumbers, ending_of
from crawler.job_registry import CrawlerComponent
from crawler.options import JSON, Options
from crawler.pages.items import iso_time
from crawler.storage import meta_names
from crawler.storage.output_files import STATUS_FILE, feeds_stdout
from neardup.files.durable import write_whole

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler

    from crawler.crawl_numbers import Numbers

logger = logging.getLogger(__name__)

FORMAT = "crawl status 1"

_WORDS = ("title", "promoted", "resting", "fleet", "is_new", "is_stored", "state", "paused")
"""Numbers of a panel that the file has under another name, or not at all."""


class Progress(CrawlerComponent):
    """Shows how the crawl goes: live on a terminal, plain lines elsewhere."""

    def __init__(self, crawler: Crawler) -> None:
        options = Options(crawler.settings)
        if not options.boolean("PROGRESS_ENABLED"):
            raise NotConfigured
        self._numbers = CrawlNumbers.of(crawler)
        self._log_is_json = options.text("CRAWL_LOG_FORMAT") == JSON
        self._feeds_stdout = feeds_stdout(crawler.settings.getdict("FEEDS"))
        self._interval_secs = options.number("PROGRESS_INTERVAL_SECS")
        self._display: LiveProgress | PlainProgress | None = None
        self._loop: Any = None
        crawler.signals.connect(self._opened, signals.spider_opened)
        crawler.signals.connect(self._closed, signals.spider_closed)
        # A second Ctrl-C ends the engine without that signal; the terminal is to be left whole.
        self._numbers.job.callbacks.at_close.append(self._closed)

    def _opened(self, spider: Spider) -> None:
        if is_drawable(sys.stderr) and not self._fills_terminal:
            live = LiveProgress(self._numbers.read)
            live.start()
            self._show(live, REDRAW_SECS)
        else:
            plain = PlainProgress(self._numbers.read, is_json=self._log_is_json)
            self._show(plain, self._interval_secs)

    @property
    def _fills_terminal(self) -> bool:
        """Whether a feed goes to the terminal, between whose lines a panel would be drawn."""
        return self._feeds_stdout and sys.stdout.isatty()

    def _show(self, display: LiveProgress | PlainProgress, interval_secs: float) -> None:
        self._display = display
        self._loop = create_looping_call(display.show)
        self._loop.start(interval_secs, now=False)

    def _closed(self) -> None:
        if self._loop is not None and self._loop.running:
            self._loop.stop()
        if self._display is not None:
            self._display.stop()
            self._display = None


class StatusFile(CrawlerComponent):
    """Writes the numbers of the crawl at an interval, and last how it ended.

    A killed process leaves the state ``running``: ``pid`` does not run any more, and ``updated_at``
    is older than ``interval_secs``.

    Files:
        status.json: JSON, replaced as a whole; status.json.tmp: the next one, for a moment.
    """

    def __init__(self, crawler: Crawler) -> None:
        options = Options(crawler.settings)
        self._numbers = CrawlNumbers.of(crawler)
        folder = self._numbers.job.folder
        if folder is None or not options.boolean("PROGRESS_STATUS_FILE"):
            raise NotConfigured
        self._path = folder / STATUS_FILE
        self._interval_secs = options.number("PROGRESS_INTERVAL_SECS")
        self._loop = create_looping_call(self._write)
        self._is_over = False
        crawler.signals.connect(self._opened, signals.spider_opened)
        crawler.signals.connect(self._closed, signals.spider_closed)
        # A second Ctrl-C ends the engine without that signal.
        self._numbers.job.callbacks.at_close.append(self._stopped)

    def _opened(self) -> None:
        self._loop.start(self._interval_secs)

    def _closed(self, reason: str) -> None:
        if not self._is_over:
            self._is_over = True
            if self._loop.running:
                self._loop.stop()
            self._write(*ending_of(self._numbers.job, reason))

    def _stopped(self) -> None:
        self._closed("shutdown")

    def _write(self, state: str = "", stopped_by: str = "") -> None:
        numbers = self._numbers.read()
        status = {
            **status_of(numbers, self._numbers.job.result.started_at, self._interval_secs),
            "state": state or numbers.state,
            "stopped_by": stopped_by or None,
            "visit": self._numbers.job.visits.number,
            "browser": self._numbers.job.database.meta(meta_names.BROWSER),
        }
        try:
            text = plain_json(json.dumps(status, indent=2, ensure_ascii=False))
            write_whole(self._path, f"{text}\n".encode())
        except OSError as error:  # crawl.db says it aloud, where the disk is full
            logger.info("%s cannot be written: %s", self._path, error.strerror)


def status_of(numbers: Numbers, started_at: float, interval_secs: float) -> dict[str, Any]:
    """Return what the file says of a running crawl."""
    counted = asdict(numbers)
    for name in _WORDS:
        del counted[name]
    return {
        "format": FORMAT,
        "state": numbers.state,
        "pid": os.getpid(),
        "machine": socket.gethostname(),
        "started_at": iso_time(started_at),
        "updated_at": iso_time(time.time()),
        "interval_secs": interval_secs,
        **{name: _rounded(value) for name, value in counted.items()},
        "kept_after_all": numbers.promoted,
        "paused_hosts": numbers.paused,
        "limit": numbers.limit or None,
    }


def _rounded(value: Any) -> Any:
    return round(value, 3) if isinstance(value, float) else value
