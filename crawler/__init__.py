"""A Scrapy project that keeps each page once.

A page passes these steps, the cheapest first:

1. ``scheduling/dupefilter.py``: the canonical URL, a Bloom filter and an exact set.
2. ``scheduling/scheduler.py``: the next request, of a host that has room for it.
3. ``downloadermiddlewares/``, ``downloader/``: bounds on an answer, and forbidden hosts.
4. ``spiders/page_spider.py``: the page is read in a worker process (``reading/``), and judged and
   stored with its links (``pages/capture.py``): payload digest, text digest, SimHash,
   verification.
5. ``pipelines.py``: drops pages that are not kept; judges the items of other people's spiders.
6. ``feeds/``: exports each kept page once.

``addon.py`` switches all of it on in any project. ``ARCHITECTURE.md`` has the whole tree.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from crawler.api import Crawl, CrawlError, Page, crawl, crawl_sync

__all__ = ["Crawl", "CrawlError", "Page", "crawl", "crawl_sync"]


def __getattr__(name: str) -> Any:
    """Import the Python interface where it is asked for; commands start without it."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from crawler import api  # noqa: PLC0415

    return getattr(api, name)
