"""The start of a crawl is excluded from garbage collections, and only while the crawl lasts."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

CRAWL = """
import gc
from scrapy import Spider
from scrapy.crawler import AsyncCrawlerProcess

class Probe(Spider):
    name = "probe"
    start_urls = ()

    def closed(self, reason):
        print(reason, gc.get_freeze_count() > 0)

settings = {"ADDONS": {"crawler.addon.NearDuplicates": 300}, "PROGRESS_ENABLED": False}
process = AsyncCrawlerProcess({**settings, "LOG_LEVEL": "ERROR", "READING_WORKERS": 1})
process.crawl(Probe)
process.start()
print(gc.get_freeze_count())
"""


def test_objects_of_the_start_are_frozen_until_the_crawl_has_ended(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CRAWL], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.stdout.splitlines() == ["finished True", "0"], done.stderr
