"""Write feeds to local files; a resumed crawl replaces its last feed, whole."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import shutil
import sqlite3
from contextlib import closing, suppress
from itertools import count
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from scrapy.extensions.feedexport import (
    FeedExporter,
    FeedSlot,
    FileFeedStorage,
    StdoutFeedStorage,
)

from crawler.console.command_line import words_of
from crawler.console.escaping import plain_stdout
from crawler.pages.export import KEPT_FILTER, PageFilter, chosen_pages
from crawler.pages.items import Page, with_markdown
from crawler.spiders.page_spider import PageSpider
from crawler.storage import meta_names
from crawler.storage.database import open_for_reading
from crawler.storage.errors import CrawlStorageError, JobError
from crawler.storage.output_files import check_output
from neardup.files.durable import new_file

if TYPE_CHECKING:
    from scrapy import Spider
    from twisted.internet.defer import Deferred

    from crawler.job import Job

logger = logging.getLogger(__name__)


class FeedPart(NamedTuple):
    """The part of a file with a crawl's pages, in bytes; its end is None while they are written."""

    start: int
    end: int | None


class FeedParts:
    """The parts of files that feeds of this crawl take, stored in ``crawl.db``."""

    def __init__(self, job: Job) -> None:
        self._job = job

    def find(self, path: Path) -> FeedPart | None:
        """Return the part that this crawl has in a file, None where it never wrote to it."""
        known = self._all().get(str(path))
        if known is None:
            return None
        start, end = known
        return FeedPart(start or 0, end)

    def note(self, path: Path, part: FeedPart) -> None:
        """Store a part, durably; do nothing where the directory can no longer be written to."""
        with suppress(CrawlStorageError):
            noted = json.dumps({**self._all(), str(path): part})
            self._job.database.set_meta(meta_names.FEEDS, noted)
            self._job.commit()

    def _all(self) -> dict[str, list[int | None]]:
        found: dict[str, list[int | None]] = json.loads(
            self._job.database.meta(meta_names.FEEDS) or "{}"
        )
        return found


def part_start(known: FeedPart | None, size_bytes: int) -> int:
    """Return the offset from which a file that is appended to may be overwritten.

    Data of others is never overwritten: if the file grew or shrank since this crawl
    closed it, all of it stays, and the crawl's pages are appended once more.

    Args:
        known: The part that the crawl had.
        size_bytes: Size of the file now, 0 where there is none.
    """
    if known is None or known.start > size_bytes:
        return size_bytes
    if known.end is not None and known.end != size_bytes:
        return size_bytes
    return known.start


class PlainStdout(StdoutFeedStorage):
    """Standard output without characters that a terminal would obey."""

    def __init__(
        self, uri: str, _stdout: IO[bytes] | None = None, *, feed_options: dict[str, Any]
    ) -> None:
        stdout = _stdout or plain_stdout(feed_options["format"])
        super().__init__(uri, stdout, feed_options=feed_options)


class FeedFile(FileFeedStorage):
    """Scrapy's feed files, replaced at once by a crawl that is resumed.

    A crawl in a new directory writes as its pages come. Later runs write all
    kept pages, at their end, and then replace the file: with ``-O`` all
    of it, with ``-o`` the part that this crawl wrote before.

    Attributes:
        failure: Why the file could not be completed, None where it could.

    Files:
        .NAME.part: The new file, beside the old one; a kill leaves it, the next run removes it.
    """

    def __init__(self, uri: str, *, feed_options: dict[str, Any] | None = None) -> None:
        super().__init__(uri, feed_options=feed_options)
        self._place = Path(self.path).resolve()
        self.failure: OSError | None = None
        self._temporary: Path | None = None
        self._parts: FeedParts | None = None
        self._start = 0

    def open(self, spider: Spider) -> IO[bytes]:
        """Open the file itself, or the one that will replace it.

        Raises:
            OSError: It cannot be written, or is one that a crawl lives on.
        """
        try:
            check_output(Path(self.path))
        except JobError as error:
            raise OSError(str(error)) from None
        is_file = self._place.is_file() or not self._place.exists()
        if not isinstance(spider, PageSpider) or spider.job.folder is None or not is_file:
            return super().open(spider)
        self._parts = FeedParts(spider.job)
        self._start = self._find_start(self._parts)
        self._parts.note(self._place, FeedPart(self._start, None))
        return self._open_beside() if spider.job.store.had_pages else super().open(spider)

    def _find_start(self, parts: FeedParts) -> int:
        if self.write_mode == "wb" or not self._place.exists():
            return 0
        known, size = parts.find(self._place), self._place.stat().st_size
        start = part_start(known, size)
        if known is not None and start != known.start:
            logger.warning(
                "%s was changed by others since this crawl wrote to it: what it holds stays, "
                "and every kept page is added at its end",
                self.path,
            )
        return start

    def _open_beside(self) -> IO[bytes]:
        self._place.parent.mkdir(parents=True, exist_ok=True)
        self._temporary = self._place.with_name(f".{self._place.name}.part")
        file = new_file(self._temporary)
        if self._start:
            with self._place.open("rb") as before:
                shutil.copyfileobj(before, file)
            file.seek(self._start)
            file.truncate()
        if self._place.exists():
            shutil.copymode(self._place, self._temporary)
        return file

    def store(self, file: IO[bytes]) -> Deferred[None] | None:
        """Complete the file; an error goes to ``failure``, since Scrapy would only log it."""
        try:
            self._store(file)
        except OSError as error:
            self.failure = error
            with suppress(OSError):  # what is still buffered has nowhere to go either
                file.close()
            with suppress(OSError):
                self.discard()
        return None

    def _store(self, file: IO[bytes]) -> None:
        if self._temporary is not None:
            file.flush()
            os.fsync(file.fileno())
            file.close()
            self._temporary.replace(self._place)
        else:
            super().store(file)
        if self._parts is not None:
            size = self._place.stat().st_size
            self._parts.note(self._place, FeedPart(self._start, size))

    def discard(self) -> None:
        if self._temporary is not None:
            self._temporary.unlink(missing_ok=True)


_BREATH = 50
"""Pages that are written in a row, before the event loop runs other tasks."""


class StoredFeeds(FeedExporter):
    """Writes all kept pages to the feeds of our spiders, however often the crawl was stopped.

    In a new crawl directory pages are written as they come. Where an earlier
    process stored pages, in an interrupted visit or a finished one, the pages of this
    run are not written as they come; at its end every kept page is, from ``crawl.db``,
    through the same exporters, filters, batches and storages. Items that are no
    ``Page``, and those of other spiders, are written as they come.

    A feed that cannot be written ends the crawl: the next process writes it from ``crawl.db``.
    """

    _whole = False
    _has_failed = False

    def open_spider(self, spider: Spider) -> None:
        self._whole = isinstance(spider, PageSpider) and spider.job.store.had_pages
        super().open_spider(spider)

    def item_scraped(self, item: Any, spider: Spider) -> None:
        if self._has_failed or (self._whole and isinstance(item, Page)):
            return
        try:
            super().item_scraped(item, spider)
        except OSError as error:
            if not isinstance(spider, PageSpider):
                raise
            self._give_up()
            self._fail(spider, error)

    async def close_spider(self, spider: Spider) -> None:
        if self._whole:
            assert isinstance(spider, PageSpider)
            assert spider.job.folder is not None
            spider.job.end_visit()
            try:
                await self._export_kept(spider.job.folder, spider)
            except (OSError, sqlite3.Error, ValueError) as error:  # or what is stored is damaged
                self._give_up()
                self._fail(spider, error)
        await super().close_spider(spider)

    async def _close_slot(self, slot: FeedSlot, spider: Spider) -> None:
        try:
            await super()._close_slot(slot, spider)
        except Exception as error:  # also of an exporter, which Scrapy would not report
            if not isinstance(spider, PageSpider):
                raise
            self._fail(spider, error)
            return
        failure = slot.storage.failure if isinstance(slot.storage, FeedFile) else None
        if failure is not None and isinstance(spider, PageSpider):
            self._fail(spider, failure)

    def _fail(self, spider: PageSpider, error: Exception) -> None:
        """End the crawl since a feed cannot be written."""
        self._has_failed = True
        message = f"a feed cannot be written: {words_of(error)}"
        if spider.job.failure is not None:  # an earlier reason is told at the end
            logger.error(message)
        spider.job.result.stop(message)

    async def _export_kept(self, folder: Path, spider: PageSpider) -> None:
        with closing(open_for_reading(folder)) as connection:
            pages = chosen_pages(connection, PageFilter(KEPT_FILTER))
            for written, (page, content) in zip(count(1), pages, strict=False):
                has_markdown = spider.job.options.markdown
                item = with_markdown(page, content) if has_markdown else Page(**page)
                try:
                    super().item_scraped(item, spider)
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
