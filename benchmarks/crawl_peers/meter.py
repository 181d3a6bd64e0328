"""A Scrapy extension that has a crawl weigh itself, whichever spider runs."""

from __future__ import annotations

import atexit
import json
import os
import resource
import time
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.exceptions import NotConfigured

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.http import Response

FILE_VARIABLE = "CRAWL_METER_FILE"
MARK_PAGES = 100
"""Pages from one look at the clock and the memory to the next."""


def _cpu_secs() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def _resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize()


class Meter:
    """Counts HTML pages and, when the process ends, writes what the process alone has used.

    Files: the one that ``CRAWL_METER_FILE`` names, JSON; times in seconds, CPU split where the
    spider opens into start-up and crawl.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._pages = 0
        self._marks: list[dict[str, float]] = []
        self._opened_cpu = self._opened_at = 0.0
        # At the very end, when everybody else has closed files and ended workers.
        atexit.register(self._write)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Listen to the engine."""
        name = os.environ.get(FILE_VARIABLE)
        if not name:
            raise NotConfigured(f"{FILE_VARIABLE} is not set")
        meter = cls(Path(name))
        crawler.signals.connect(meter._spider_opened, signals.spider_opened)
        crawler.signals.connect(meter._response_received, signals.response_received)
        return meter

    def _spider_opened(self) -> None:
        self._opened_cpu, self._opened_at = _cpu_secs(), time.monotonic()

    def _response_received(self, response: Response) -> None:
        content_type = response.headers.get(b"Content-Type", b"") or b""
        if response.status == 200 and content_type.startswith(b"text/html"):
            self._pages += 1
            if self._pages % MARK_PAGES == 0:
                self._mark()

    def _mark(self) -> None:
        self._marks.append(
            {
                "pages": self._pages,
                "secs": time.monotonic() - self._opened_at,
                "cpu_secs": _cpu_secs() - self._opened_cpu,
                "bytes": _resident_bytes(),
            }
        )

    def _write(self) -> None:
        measured = {
            "pages": self._pages,
            "start_cpu_secs": self._opened_cpu,
            "crawl_cpu_secs": _cpu_secs() - self._opened_cpu,
            "crawl_secs": time.monotonic() - self._opened_at,
            "marks": self._marks,
            "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        }
        self._file.write_text(json.dumps(measured))
