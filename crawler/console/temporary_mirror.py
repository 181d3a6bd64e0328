"""Run ``crawl-once mirror`` for ``--dry-run`` and ``--single-file``, in a temporary folder."""

from __future__ import annotations

import base64
import re
from collections import defaultdict
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from rich.filesize import decimal

from crawler.console.command_line import INTERRUPTED
from crawler.console.crawl_run import DONE, INCOMPLETE, SpiderRun
from crawler.console.crawling import canonical_seed, mirrored_urls
from crawler.console.escaping import say_or_go_on
from crawler.console.mirror_run import SHOWN
from crawler.console.options import CommandError
from crawler.console.report_text import example_lines, table_lines
from crawler.maintenance.tally import count_queued
from crawler.mirror.documents.linked_document import (
    DocumentType,
    absolute_address,
    document_type,
    may_be_document,
    may_hold_links,
    read_document,
)
from crawler.mirror.documents.places import LinkRole
from crawler.mirror.errors import MirrorError
from crawler.mirror.file_store import media_type, original
from crawler.mirror.file_table import FileTable
from crawler.mirror.mirror_files import open_mirror
from crawler.mirror.paths import STATE_FOLDER
from crawler.reading.content_types import VAGUE_TYPES, why_not_html
from crawler.run import BYTES
from crawler.spiders.mirror import MirrorSpider
from crawler.storage.database import FILE_NAME, open_for_reading
from neardup.files.durable import named_file
from neardup.plurals import many

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterator, Sequence
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from crawler.console.crawl_run import Caller
    from crawler.job import Job
    from crawler.mirror.documents.linked_document import DocumentLink, LinkedDocument
    from crawler.mirror.file_table import FileRow
    from crawler.mirror.mirror_files import OpenMirror
    from crawler.pages.page_context import Captured, Fetched
    from crawler.warc.archive import Archive


class TemporaryMirror(SpiderRun):
    """One run in a folder that exists until it is concluded.

    Args:
        spidercls: The spider.
        arguments: Its arguments.
        caller: The command.
        what: Line that is printed before the crawl.
    """

    _folder: Path

    def __init__(
        self,
        spidercls: type[MirrorSpider],
        arguments: dict[str, str],
        caller: Caller,
        what: str,
    ) -> None:
        super().__init__(spidercls, arguments, caller)
        self._what = what
        self._settings.set("WARC_ENABLED", False, priority="cmdline")

    def run(self) -> int:
        with TemporaryDirectory(prefix="crawl-once-") as place:
            self._folder = Path(place) / "mirror"
            self._settings.set("JOBDIR", str(self._folder / STATE_FOLDER), priority="cmdline")
            return super().run()

    def _begins(self, job: Job, before: str | None, archive: Archive | None) -> bool:
        self._tell(self._what)
        return True


_HEADINGS = ("host", "pages", "other files", "bytes")


@dataclass(slots=True)
class HostCount:
    """Pages and files that a mirror would fetch of a host.

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


def dry_run(folder: Path, arguments: dict[str, str], caller: Caller) -> int:
    """Say what a mirror would fetch; write nothing into its folder, return the exit status.

    Args:
        folder: The folder that the mirror would have.
        arguments: The arguments of the spider.
        caller: The command.

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
    return _DryRun(CountingSpider, arguments, caller, what).run()


class _DryRun(TemporaryMirror):
    def _conclude(self, job: Job, crawler: Crawler) -> int:
        if not isinstance(crawler.spider, CountingSpider):
            return INCOMPLETE
        with closing(open_for_reading(self._folder / STATE_FOLDER)) as connection:
            waiting = count_queued(connection)
        for line in _walk_lines(crawler.spider, waiting):
            self._tell(line)
        return self._exit_status(job, is_open=bool(waiting))


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
        for file in FileTable(connection.execute).pages():
            count = counts[urlsplit(file.url).netloc]
            count.pages += file.is_page
            count.files += not file.is_page
            count.bytes += file.size
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


def single_file(out: Path, arguments: dict[str, str], caller: Caller) -> int:
    """Fetch a page with what it needs and write one file; return the exit status.

    Args:
        out: The file, which is replaced if it is there.
        arguments: The arguments of the spider, with one URL.
        caller: The command.

    Raises:
        CommandError: The file cannot be written.
        ValueError: A setting or an argument is wrong.
        MirrorError: The page with what it needs is too large.
    """
    if out.is_dir() or not out.absolute().parent.is_dir():
        raise CommandError(f"{out}: is a directory, or in none; give a file such as page.html")
    # One page, and not the site around it.
    arguments |= {"max_depth": "0", "sitemaps": "no"}
    arguments.setdefault("requisites", "all")
    return _SingleFileRun(out, arguments, caller).run()


class _SingleFileRun(TemporaryMirror):
    def __init__(self, out: Path, arguments: dict[str, str], caller: Caller) -> None:
        super().__init__(MirrorSpider, arguments, caller, f"single file: {arguments['url']}")
        self._out = out

    def _conclude(self, job: Job, crawler: Crawler) -> int:
        status = self._exit_status(job, is_open=False)
        if job.result.is_interrupted or crawler.spider is None:
            return INTERRUPTED if crawler.spider is not None else INCOMPLETE
        if status != DONE:
            return status
        url, out = self._arguments["url"], self._out
        with open_mirror(self._folder) as mirror:
            found = mirror.targets.find(url)
            row = None if found is None else mirror.table.get(found.id)
            if row is None:
                raise CommandError(f"{url}: gave no page")
            single = SingleFile(mirror)
            body = single.document(row)
        with named_file(out) as file:
            file.write(body)
        needed = many(single.files, "file")
        self._tell(f"{out}: {decimal(len(body))}, with {needed} that it needs")
        _say_missing(sorted(single.missing))
        return DONE


def _say_missing(urls: Sequence[str]) -> None:
    if not urls:
        return
    say_or_go_on(f"{many(len(urls), 'file')} of it could not be had, and load from the network:")
    for line in example_lines(urls[:SHOWN], len(urls), 2):
        say_or_go_on(line)


MAX_BYTES = 2**29
"""The most bytes of a page with all it needs."""

_NEEDED = frozenset({LinkRole.REQUISITE, LinkRole.FRAME})
_NOTHING = {LinkRole.REQUISITE: "data:,", LinkRole.FRAME: "about:blank"}
_TYPES = {DocumentType.CSS: "text/css", DocumentType.SCRIPT: "text/javascript"}
_TYPE = re.compile(r"[a-z0-9!#$&^_.+-]+/[a-z0-9!#$&^_.+-]+")
_BYTES = "application/octet-stream"


class SingleFile:
    """Makes one document of a page of a mirror and of the files that it needs.

    Styles come with their imports, fonts and pictures, frames with all that their pages need. What
    leads back to a document that it is within is left out, and what the mirror does not hold leads
    to the network.

    Args:
        mirror: The mirror.

    Attributes:
        missing: URLs that have no file in the mirror.
        files: Number of files within.
    """

    def __init__(self, mirror: OpenMirror) -> None:
        self.missing: set[str] = set()
        self._folder, self._table, self._targets, _ = mirror
        self._data: dict[int, str] = {}
        self._room = MAX_BYTES

    @property
    def files(self) -> int:
        return len(self._data)

    def document(self, row: FileRow) -> bytes:
        """Return the page of a row with all it needs.

        Complexity: O(bytes), all in memory.

        Raises:
            MirrorError: It is no document, is changed, or is too large with what it needs.
        """
        return self._whole(row, original(self._folder, row), ())

    def _whole(self, row: FileRow, body: bytes, around: tuple[int, ...]) -> bytes:
        document = read_document(body, row.url, row.content_type)
        if document is None:
            return body

        def address(link: DocumentLink) -> str | None:
            if link.url is None:
                return None
            found = self._targets.find(link.url)
            if found is not None and found.id == row.id and link.kind not in _NEEDED:
                # Within the page, whose URL is that of the file.
                return f"#{link.fragment}" if "#" in link.written else absolute_address(link)
            if link.kind not in _NEEDED:
                return absolute_address(link)
            if found is None:
                self.missing.add(link.url)
                return absolute_address(link)
            if found.id == row.id or found.id in around:
                return _NOTHING[link.kind]
            data = self._data_url(found.id, (*around, row.id))
            return f"{data}#{link.fragment}" if link.fragment else data

        return document.rewrite(address).body

    def _data_url(self, file_id: int, around: tuple[int, ...]) -> str:
        known = self._data.get(file_id)
        if known is None:
            row = self._table.get(file_id)
            assert row is not None  # a target is a file
            body = original(self._folder, row)
            kind = _data_type(row, body)
            whole = base64.b64encode(self._whole(row, body, around)).decode()
            known = self._data[file_id] = f"data:{kind};base64,{whole}"
        self._room -= len(known)
        if self._room < 0:
            raise MirrorError(f"with all it needs the page has more than {MAX_BYTES:,} bytes")
        return known


def _data_type(row: FileRow, body: bytes) -> str:
    """Return the type of a ``data:`` URL, with the encoding that the server's header says."""
    declared, _, parameters = (row.content_type or "").partition(";")
    essence = declared.strip().lower()
    if essence in VAGUE_TYPES:
        kind = document_type(body, row.url, row.content_type)
        essence = _TYPES.get(kind, essence) if kind is not None else essence
    essence = media_type(essence, body) or essence
    if essence and _TYPE.fullmatch(essence) is None:  # a comma would begin the data
        essence = _BYTES
    name, equals, charset = parameters.strip().partition("=")
    if name.strip().lower() != "charset" or not equals:
        return essence
    plain = "".join(char for char in charset if char.isalnum() or char in "-_.")
    return f"{essence};charset={plain}"
