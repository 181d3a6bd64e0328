"""Crawl directories of texts, as a replay of JSON lines makes them."""

from __future__ import annotations

import asyncio
from contextlib import closing
from typing import TYPE_CHECKING

from crawler.job import Job
from crawler.pages.page_context import Fetched
from crawler.reading.reading import reading_of_text
from tests.crawler.pages.test_revisits import OPTIONS

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


def make_text_crawl(folder: Path, rows: Iterable[tuple[str, str]]) -> Path:
    """Make a crawl of texts with their URLs; return its directory."""
    with closing(Job(folder, OPTIONS)) as job:
        job.begin_visit()
        for url, text in rows:
            body, key = text.encode(), job.canonicalizer.key(url)
            fetched = Fetched(url, job.canonicalizer(url), key, 0, 200, body)
            reading = reading_of_text(url, body, job.options.parameters)
            asyncio.run(job.processor.capture_read(fetched, reading))
        job.commit()
    return folder
