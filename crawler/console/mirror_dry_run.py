"""Run ``crawl-once mirror --dry-run``: how much a mirror would fetch, and from which hosts."""

from __future__ import annotations

from collections import defaultdict
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from rich.filesize import decimal

from crawler.console.command_line import CommandError
from crawler.console.count_tables import table_lines
from crawler.console.crawl_run import DONE, INCOMPLETE, SpiderRun, exit_status
from crawler.console.escaping import say_or_go_on
from crawler.console.mirror_run import MIRROR_TELLER, canonical_seed, mirrored_urls
from crawler.maintenance.tally import count_queued
from crawler.mirror.documents.linked_document import (
    may_be_document,
    may_hold_links,
    read_document,
)
from crawler.mirror.paths import STATE_FOLDER
from crawler.reading.content_types import why_not_html
from crawler.run import BYTES
from crawler.spiders.mirror import MirrorSpider
from crawler.storage.database import FILE_NAME, open_for_reading
from neardup.plurals import many

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator
    from typing import Self

    from scrapy.crawler import Crawler, CrawlerProcessBase
    from scrapy.http import Response
    from scrapy.settings import BaseSettings

    from crawler.job import Job
    from crawler.mirror.documents.linked_document import LinkedDocument
    from crawler.pages.page_context import Captured, Fetched
    from crawler.warc.archive import Archive


class TemporaryMirror(SpiderRun):
    """One run in a folder that exists until it is concluded.

    Args:
        spidercls: The spider.
        arguments: Its arguments.
        settings: The project's settings.
        what: Line that is printed before the crawl.
    """

    _folder: Path

    def __init__(
        self,
        spidercls: type[MirrorSpider],
        arguments: dict[str, str],
        settings: BaseSettings,
        what: str,
    ) -> None:
        super().__init__(spidercls, arguments, settings, MIRROR_TELLER)
        self._what = what
        settings.set("WARC_ENABLED", False, priority="cmdline")

    def run(self, process: Callable[[], CrawlerProcessBase]) -> int:
        with TemporaryDirectory(prefix="crawl-once-") as place:
            self._folder = Path(place) / "mirror"
            self._settings.set("JOBDIR", str(self._folder / STATE_FOLDER), priority="cmdline")
            return super().run(process)

    def _begins(self, job: Job, before: str | None, archive: Archive | None) -> bool:
        self._tell(self._what)
        return True


_HEADINGS = ("host", "pages", "other files", "bytes")
_HELD = "SELECT url, is_page, size FROM files WHERE state = 'own'"


@dataclass(slots=True)
class HostCount:
    """What a mirror would fetch of a host.

    Attributes:
        pages: Number of pages.
        files: Number of other files.
        bytes: Bytes of both, as far as they are known.
        unknown: Number of files whose size the server does not say.
        too_large: Number of files beyond ``DOWNLOAD_MAXSIZE``, which are not fetched.
        too_large_bytes: Bytes of those.
    """

    pages: int = 0
    files: int = 0
    bytes: int = 0
    unknown: int = 0
    too_large: int = 0
    too_large_bytes: int = 0


class CountingSpider(MirrorSpider):
    """Walks along a mirror's way, and writes no file.

    Pages, styles and what else may lead to files are read. Of any other file the head of the answer
    tells the size, and the connection is closed.
    """

    counts: defaultdict[str, HostCount]
    received: int
    _max_file_bytes: int
    _counted: set[bytes]

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        spider = super().from_crawler(crawler, *args, **kwargs)
        spider.large_bodies = None  # nothing is stored
        spider.counts, spider.received = defaultdict(HostCount), 0
        spider._max_file_bytes = crawler.settings.getint("DOWNLOAD_MAXSIZE")
        spider._counted = set()
        return spider

    def is_unwanted(self, content_type: str, size: int | None) -> bool | None:
        """Return whether an answer is a large file that holds no links."""
        if 0 < self._max_file_bytes < (size or 0) or not may_hold_links(content_type):
            return True
        return None

    def begins_unwanted(self, content_type: str, start: bytes, url: str) -> bool:
        """Return whether an answer holds no links by its first bytes."""
        return not may_be_document(start, url, content_type)

    async def captured(
        self, fetched: Fetched, response: Response, turn: Awaitable[object] | None = None
    ) -> Captured:
        self.received += len(fetched.body)
        size = len(fetched.body)
        if fetched.is_stopped:
            declared = response.headers.get(b"Content-Length") or b""
            size = int(declared) if declared.isdigit() else -1
        self.result.fetched_bytes[BYTES] += max(size - len(fetched.body), 0)
        if fetched.key not in self._counted:
            self._counted.add(fetched.key)
            self._count_host(fetched, size)
        return await super().captured(fetched, response, turn)

    def _count_host(self, fetched: Fetched, size: int) -> None:
        count = self.counts[urlsplit(fetched.url).netloc]
        if self._max_file_bytes and size > self._max_file_bytes:
            count.too_large += 1
            count.too_large_bytes += size
            return
        is_page = why_not_html(fetched.content_type, fetched.body) is None
        count.pages += is_page
        count.files += not is_page
        count.bytes += max(size, 0)
        count.unknown += size < 0

    def _keep(self, fetched: Fetched, *, is_seed: bool) -> LinkedDocument | None:
        return read_document(fetched.body, fetched.url, fetched.content_type)


def dry_run(
    folder: Path,
    arguments: dict[str, str],
    settings: BaseSettings,
    process: Callable[[], CrawlerProcessBase],
) -> int:
    """Say what a mirror would fetch; write nothing into its folder, return the exit status.

    Args:
        folder: The folder that the mirror would have.
        arguments: The arguments of the spider.
        settings: The project's settings.
        process: Makes the process of Scrapy, when everything is checked.

    Raises:
        CommandError: The folder holds a mirror of another URL.
        ValueError: A setting or an argument is wrong.
        JobError: The database of the mirror that is there cannot be read.
    """
    if (folder / STATE_FOLDER / FILE_NAME).is_file():
        known = mirrored_urls(folder)
        if known and known != [canonical_seed(arguments["url"])]:
            raise CommandError(f"{folder}: is a mirror of {known[0]}; give another directory")
        for line in _update_lines(folder):
            say_or_go_on(line)
        return DONE
    what = f"dry run: pages are read, nothing is written to {folder}"
    return _DryRun(CountingSpider, arguments, settings, what).run(process)


class _DryRun(TemporaryMirror):
    def _conclude(self, job: Job, crawler: Crawler) -> int:
        if not isinstance(crawler.spider, CountingSpider):
            return INCOMPLETE
        with closing(open_for_reading(self._folder / STATE_FOLDER)) as connection:
            waiting = count_queued(connection)
        for line in _walk_lines(crawler.spider, waiting):
            self._tell(line)
        return exit_status(job, self._teller.complain, is_open=bool(waiting))


def _walk_lines(spider: CountingSpider, waiting: int) -> Iterator[str]:
    yield from _host_lines(spider.counts)
    too_large = [count for count in spider.counts.values() if count.too_large]
    if too_large:
        number = many(sum(count.too_large for count in too_large), "file")
        size = decimal(sum(count.too_large_bytes for count in too_large))
        yield f"left out, since larger than --max-file-bytes: {number}, {size}"
    if unknown := sum(count.unknown for count in spider.counts.values()):
        yield f"{many(unknown, 'file')} of unknown size, since the server does not say it"
    if waiting:
        yield f"not all: {many(waiting, 'more URL is', 'more URLs are')} known and not asked for"
    yield f"{decimal(spider.received)} were fetched to count this, nothing is stored"


def _update_lines(folder: Path) -> Iterator[str]:
    """Yield what an update of a mirror would ask for, by its database alone."""
    counts: defaultdict[str, HostCount] = defaultdict(HostCount)
    with closing(open_for_reading(folder / STATE_FOLDER)) as connection:
        for url, is_page, size in connection.execute(_HELD):
            count = counts[urlsplit(url).netloc]
            count.pages += is_page
            count.files += not is_page
            count.bytes += size
        waiting = count_queued(connection)
    if waiting:
        yield f"{folder}: not finished; {many(waiting, 'URL')} queued, beside what is there:"
        yield from _host_lines(counts)
        return
    yield f"{folder}: an update asks for each file on condition that it changed:"
    yield from _host_lines(counts)
    yield "only what changed is sent, and what is new; nothing was asked for now"


def _host_lines(counts: dict[str, HostCount]) -> Iterator[str]:
    hosts = sorted(counts.items(), key=lambda one: (-one[1].bytes, one[0]))
    rows = [(host, one.pages, one.files, decimal(one.bytes)) for host, one in hosts]
    if len(rows) != 1:
        every = counts.values()
        sums = sum(one.pages for one in every), sum(one.files for one in every)
        rows.append(("all", *sums, decimal(sum(one.bytes for one in every))))
    yield from table_lines(_HEADINGS, rows)
