"""Read Scrapy's feeds from the store, so that a resumed crawl has each kept page once."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from contextlib import closing, suppress
from itertools import count
from typing import TYPE_CHECKING, Any

from scrapy.extensions.feedexport import FeedExporter

from crawler.feeds.feed_files import FeedFile
from crawler.items import Page
from crawler.pages.export import KEPT_FILTER, export_pages
from crawler.spiders.page_spider import PageSpider
from crawler.storage.database import open_for_reading

if TYPE_CHECKING:
    from pathlib import Path

    from scrapy import Spider

logger = logging.getLogger(__name__)

_BREATH = 50
"""Pages that are written in a row, before the event loop runs other tasks."""


class StoredFeeds(FeedExporter):
    """Writes all kept pages to the feeds of our spiders, however often the crawl was stopped.

    In a new crawl directory pages are written as they come. Where an earlier
    process stored pages, in an interrupted visit or a finished one, the pages of this
    run are not written as they come; at its end every kept page is, from ``crawl.db``,
    through the same exporters, filters, batches and storages. Items that are no
    ``Page``, and those of other spiders, are written as they come.
    """

    _whole = False

    def open_spider(self, spider: Spider) -> None:
        """Choose between pages as they come and pages from the store."""
        self._whole = isinstance(spider, PageSpider) and spider.job.store.had_pages
        super().open_spider(spider)

    def item_scraped(self, item: Any, spider: Spider) -> None:
        """Write an item, unless the store will provide it."""
        if not (self._whole and isinstance(item, Page)):
            super().item_scraped(item, spider)

    async def close_spider(self, spider: Spider) -> None:
        """Write the kept pages, and close the feeds."""
        if self._whole:
            assert isinstance(spider, PageSpider)
            assert spider.job.folder is not None
            spider.job.end_visit()
            try:
                await self._export_kept(spider.job.folder, spider)
            except (OSError, sqlite3.Error) as error:
                self._give_up()
                # The run may have ended for an earlier reason, which is told instead.
                logger.error("a feed cannot be written: %s", error)  # noqa: TRY400
                spider.job.result.stop(f"a feed cannot be written: {error}")
        await super().close_spider(spider)

    async def _export_kept(self, folder: Path, spider: PageSpider) -> None:
        with closing(open_for_reading(folder)) as connection:
            for written, page in zip(count(1), export_pages(connection, KEPT_FILTER), strict=False):
                try:
                    super().item_scraped(Page(**page), spider)
                except OSError:
                    raise
                except Exception:
                    # As in a first run, where Scrapy's signals ensure that a page which an
                    # exporter cannot write costs no other.
                    logger.exception("%s is not in a feed", page["url"])
                    spider.job.result.stop("a page is stored and not in a feed, see above")
                if written % _BREATH == 0:
                    await asyncio.sleep(0)

    def _give_up(self) -> None:
        """Leave files as they were, and discard half-written ones."""
        for slot in self.slots:
            if slot.file is not None:
                with suppress(OSError):  # what is still buffered has nowhere to go either
                    slot.file.close()
            if isinstance(slot.storage, FeedFile):
                slot.storage.discard()
        self.slots = []
