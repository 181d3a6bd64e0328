"""The spider that judges the pages of an archive, or of other files, without a network."""

from __future__ import annotations

import asyncio
import os
from collections import deque
from dataclasses import replace
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from scrapy import Request
from scrapy.exceptions import CloseSpider
from scrapy.http import Headers, Response
from scrapy.responsetypes import responsetypes
from scrapy.settings import SETTINGS_PRIORITIES

from crawler.downloader.large_bodies import DATA_LOSS
from crawler.downloadermiddlewares.limits import decompressed
from crawler.downloading.encodings import AnswerError
from crawler.options import Options
from crawler.pages.items import page_of_capture
from crawler.pages.page_context import Fetched, Way
from crawler.pages.reasons import Reason, Stored
from crawler.pages.verdicts import FAILED, UNREADABLE
from crawler.spiders.argument_table import REPLAY
from crawler.spiders.arguments import check_archive, sources_of
from crawler.spiders.file_pages import FilePage, PageFiles, page_files
from crawler.spiders.page_spider import PageSpider
from crawler.storage import meta_names
from crawler.storage.errors import CrawlStorageError
from crawler.urls.canonical import TRIED, MalformedUrl
from crawler.warc.sources import FOLDER as RECORDED_IN
from neardup.errors import InputError
from neardup.fingerprints.digest import payload_digest
from neardup.plurals import many

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

    from crawler.pages.items import Page
    from crawler.pages.page_context import Captured
    from crawler.spiders.argument_table import Argument
    from crawler.warc.captures import Capture, Captures
    from crawler.warc.sources import WarcFile

_AHEAD = 2
"""Pages that are read ahead of their turn, for each worker."""

_NO_LIMIT = 2**30


class ReplaySpider(PageSpider):
    """Yields every page of an archive, or of other files, in their order, judged as in a crawl.

    Pages are read by all workers and judged one after the other, so that differences between
    two replays come from their settings.
    """

    name = "replay"
    fits_fleet = False
    arguments: ClassVar[Mapping[str, Argument]] = REPLAY
    planned = ("warc",)
    adds_when_finished = "what is new in the archive is judged"

    warc: str

    _captures: Captures | PageFiles
    _max_bytes: int
    _ahead: int

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        """Switch off the rules of URLs that a crawl would try: the answers of both are here."""
        super().update_settings(settings)
        name = "URLS_DISABLED_RULES"
        disabled = {*Options(settings).names(name), *(rule.name for rule in TRIED)}
        priority = max(settings.getpriority(name) or 0, SETTINGS_PRIORITIES["spider"])
        settings.set(name, sorted(disabled), priority)

    @classmethod
    def check_arguments(cls, arguments: Mapping[str, str]) -> None:
        check_archive(arguments, cls.arguments)

    @classmethod
    def folder_name(cls, arguments: Mapping[str, str]) -> str:
        first = Path(arguments["warc"].partition(",")[0]).resolve()
        named = first.parent if first.name == RECORDED_IN else first
        return f"replay-{named.name.split('.')[0]}"

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        # Scrapy imports every spider for each of its commands; warcio can wait.
        from crawler.warc.captures import Captures  # noqa: PLC0415

        spider = super().from_crawler(crawler, *args, **kwargs)
        spider._max_bytes = crawler.settings.getint("DOWNLOAD_MAXSIZE") or _NO_LIMIT
        workers = Options(crawler.settings).integer("READING_WORKERS") or os.cpu_count() or 1
        spider._ahead = _AHEAD * workers
        files = page_files(kwargs["warc"])
        spider._captures = (
            PageFiles(files, spider._max_bytes, lambda url: spider._named(url)[1])
            if files
            else Captures(sources_of(kwargs), spider._max_bytes)
        )
        spider.job.callbacks.at_close.append(spider._captures.close)
        return spider

    async def start(self) -> AsyncIterator[Any]:
        """Yield the items of all pages; no request is ever made."""
        captures = self._captures
        # An archive has no further answers to wait for, and each page waits for the one before it.
        self.processor.gates.is_on = False
        try:
            for _ in captures.look_through():
                await asyncio.sleep(0)
            async for page in self._judged(captures.pages(self._position)):
                yield page
        except (InputError, OSError) as error:
            self.result.stop(str(error))
            raise CloseSpider("input") from error
        self.result.has_started = True
        if captures.left_out:
            counts = "; ".join(f"{what}: {count:,}" for what, count in captures.left_out.items())
            self.logger.warning("left out as no pages: %s", counts)
        if captures.skipped and isinstance(captures, PageFiles):
            lost = many(captures.skipped, "file or line", "files or lines")
            self.result.missing.append(f"{lost} gave no page, see above")
        elif captures.skipped:
            places = many(captures.skipped, "place")
            self.result.missing.append(f"{places} of the archive could not be read, see above")

    def _position(self, source: WarcFile) -> int:
        """Return the offset in bytes up to which earlier processes judged a file."""
        return int(
            self.job.database.meta(meta_names.replayed(source.path.resolve(), source.start)) or 0
        )

    async def _judged(self, captures: Iterator[Capture | FilePage]) -> AsyncIterator[Page]:
        """Read some pages ahead, judge each when the one before it is judged."""
        waiting: deque[asyncio.Task[Page | None]] = deque()
        before = asyncio.Event()
        before.set()
        try:
            for capture in captures:
                if len(waiting) == self._ahead and (page := await waiting.popleft()):
                    yield page
                own = asyncio.Event()
                waiting.append(asyncio.create_task(self._judge(capture, before, own)))
                before = own
            while waiting:
                if page := await waiting.popleft():
                    yield page
        finally:
            for task in waiting:
                task.cancel()

    async def _judge(
        self, capture: Capture | FilePage, before: asyncio.Event, own: asyncio.Event
    ) -> Page | None:
        """Judge a page in its turn; return None where that fails, which ends nothing else."""
        with self.closing:
            captured = await self._taken(capture, before)
            self.job.database.set_meta(
                meta_names.replayed(capture.source.path.resolve(), capture.source.start),
                str(capture.end),
            )
        own.set()
        if captured is None:
            return None
        self.job.database.count_work(1)
        return page_of_capture(captured, markdown=self.job.options.markdown)

    async def _taken(self, capture: Capture | FilePage, before: asyncio.Event) -> Captured | None:
        try:
            if isinstance(capture, FilePage):
                return await self._take_file(capture, before)
            return await self._take(capture, before)
        except (CloseSpider, CrawlStorageError):
            raise
        except Exception as error:
            words = "%s: %s could not be judged: %s"
            told = None if isinstance(error, MalformedUrl) else error
            self.logger.error(words, capture.source.name, capture.url, error, exc_info=told)  # noqa: TRY400
            self._captures.skipped += 1
            await before.wait()
            return None

    async def _take(self, capture: Capture, before: asyncio.Event) -> Captured:
        if capture.status >= HTTPStatus.BAD_REQUEST:
            await before.wait()
            return self._failure(
                capture, FAILED, Reason.HTTP_STATUS.stored(capture.status), capture.status
            )
        try:
            response = self._response(capture)
        except AnswerError as error:
            await before.wait()
            return self._failure(capture, UNREADABLE, Reason.BAD_ANSWER.stored(error), 0)
        captured = await self._capture(response, before.wait())
        assert captured is not None  # what was not modified comes with what it was
        self._count(captured, captured.row.body_bytes)
        return captured

    async def _take_file(self, page: FilePage, before: asyncio.Event) -> Captured:
        canonical_url, key = self._named(page.url)
        fetched = Fetched(page.url, canonical_url, key, 0, HTTPStatus.OK, page.body)
        if page.content_type is not None:
            fetched = replace(fetched, content_type=page.content_type)
            captured = await self.processor.capture(fetched, turn=before.wait())
        else:
            await before.wait()
            reading = self.processor.read_text(page.url, page.body, page.title)
            captured = await self.processor.capture_read(fetched, reading)
        self._count(captured, captured.row.body_bytes)
        return captured

    def _named(self, url: str) -> tuple[str, bytes]:
        """Return the canonical URL and the key of a page that may have any name."""
        canonical_url, key = self.job.canonicalizer.named(url)
        return canonical_url, key or payload_digest(url.encode("utf-8", "surrogatepass"))

    def _failure(self, capture: Capture, verdict: str, reason: Stored, status: int) -> Captured:
        self.crawler.stats.inc_value(f"neardup/{verdict}")
        return self.job.store_failure(
            capture.url, verdict, reason, status=status, way=Way(capture.depth)
        )

    def _response(self, capture: Capture) -> Response:
        """Return the response that Scrapy would have made of the answer."""
        headers = Headers()
        for name, value in capture.headers:
            headers.appendlist(name.encode(), value.encode())
        kind = responsetypes.from_args(headers=headers, url=capture.url, body=capture.body)
        response = kind(
            url=capture.url,
            status=capture.status,
            headers=headers,
            body=capture.body,
            flags=[DATA_LOSS] if capture.is_cut else [],
            request=Request(capture.url, meta={"depth": capture.depth}),
        )
        return decompressed(response, self._max_bytes)
