"""A whole crawl with our scheduler, and the same with Scrapy's and no JOBDIR.

With JOBDIR the pages too are stored for good; our scheduler without one shows what that costs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from crawl_peers import meter
from process_watch import ProcessWatch

if TYPE_CHECKING:
    from frontier_peers.processes import Figures

ROOT = Path(__file__).resolve().parents[2]

OURS, OURS_IN_MEMORY, SCRAPYS = "ours, JOBDIR", "ours, in memory", "Scrapy's, in memory"
SCHEDULERS = (OURS, OURS_IN_MEMORY, SCRAPYS)

PAGES_PER_SEC, ALL_CPU = "pages/s", "CPU s per 1,000 pages, all processes"

_SETTINGS = {
    "CONCURRENT_REQUESTS": 16,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 16,
    "DOWNLOAD_SLOTS": {},
    "DOWNLOAD_DELAY": 0,
    "LOG_LEVEL": "WARNING",
    "PROGRESS_ENABLED": False,
    "EXTENSIONS": {f"{meter.__name__}.{meter.Meter.__name__}": 0},
}

# Not "scrapy crawl", which gives every crawl of ours a JOBDIR.
_RUN = """
import json, sys
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.utils.project import get_project_settings

settings = get_project_settings()
settings.setdict(json.loads(sys.argv[2]), priority="cmdline")
process = AsyncCrawlerProcess(settings)
process.crawl("site", url=sys.argv[1], sitemaps="no")
process.start()
"""


class CrawlFailedError(Exception):
    """A crawl ended badly; the message holds the end of what it said."""


def crawl(scheduler: str, url: str) -> Figures:
    """Crawl a site with one of the ``SCHEDULERS`` in a process of its own.

    Raises:
        CrawlFailedError: The process failed, or fetched nothing.
    """
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        own: dict[str, str] = {}
        if scheduler == OURS:
            own["JOBDIR"] = str(folder / "job")
        elif scheduler == SCRAPYS:
            own["SCHEDULER"] = "scrapy.core.scheduler.Scheduler"
        measured = folder / "measured.json"
        paths = [str(ROOT / "benchmarks"), str(ROOT)]
        with ProcessWatch() as watch:
            done = subprocess.run(
                [sys.executable, "-c", _RUN, url, json.dumps({**_SETTINGS, **own})],
                cwd=ROOT,
                env={
                    **os.environ,
                    "PYTHONPATH": os.pathsep.join(paths),
                    meter.FILE_VARIABLE: str(measured),
                },
                capture_output=True,
                text=True,
                check=False,
            )
        figures = json.loads(measured.read_text()) if measured.exists() else {"pages": 0}
        if done.returncode or not figures["pages"]:
            raise CrawlFailedError(f"{scheduler}: {done.stderr[-2000:]}")
    return {
        "pages": figures["pages"],
        PAGES_PER_SEC: figures["pages"] / figures["crawl_secs"],
        "CPU s per 1,000 pages, main process": figures["crawl_cpu_secs"] / figures["pages"] * 1000,
        ALL_CPU: watch.cpu_secs / figures["pages"] * 1000,
        "peak MB, main": figures["peak_bytes"] / 2**20,
    }
