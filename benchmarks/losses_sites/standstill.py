"""A Scrapy extension that measures how long the event loop does nothing else."""

from __future__ import annotations

import asyncio
import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.exceptions import NotConfigured

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler

FILE_VARIABLE = "CRAWL_STANDSTILL_FILE"
TICK_SECS = 0.02


class Standstill:
    """Asks the loop for a call every 20 ms and keeps the longest delay of one.

    Files: the one that ``CRAWL_STANDSTILL_FILE`` names, JSON: ``wall_secs``, the longest time
    between two calls, and ``cpu_secs``, the most CPU time of the thread between two calls.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._wall = self._cpu = 0.0
        self._is_open = False

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Measure from the opening of the spider until the engine stops."""
        name = os.environ.get(FILE_VARIABLE)
        if not name:
            raise NotConfigured(f"{FILE_VARIABLE} is not set")
        meter = cls(Path(name))
        crawler.signals.connect(meter._begin, signals.spider_opened)
        crawler.signals.connect(meter._write, signals.engine_stopped)
        return meter

    def _begin(self) -> None:
        self._is_open = True
        self._again()

    def _again(self) -> None:
        self._at, self._used = time.monotonic(), time.thread_time()
        asyncio.get_running_loop().call_later(TICK_SECS, self._tick)

    def _tick(self) -> None:
        self._wall = max(self._wall, time.monotonic() - self._at - TICK_SECS)
        self._cpu = max(self._cpu, time.thread_time() - self._used)
        if self._is_open:
            self._again()

    def _write(self) -> None:
        self._is_open = False
        self._file.write_text(json.dumps({"wall_secs": self._wall, "cpu_secs": self._cpu}))
