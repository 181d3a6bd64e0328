"""Run ``crawl-once mirror --single-file``: one page with all it needs, in one file."""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING

from rich.filesize import decimal

from crawler.console.command_line import INTERRUPTED, CommandError
from crawler.console.count_tables import example_lines
from crawler.console.crawl_run import DONE, INCOMPLETE, exit_status
from crawler.console.escaping import say_or_go_on
from crawler.console.mirror_dry_run import TemporaryMirror
from crawler.console.mirror_run import SHOWN
from crawler.mirror.documents.linked_document import (
    DocumentType,
    absolute_address,
    document_type,
    read_document,
)
from crawler.mirror.documents.places import LinkKind
from crawler.mirror.errors import MirrorError
from crawler.mirror.file_store import media_type, original
from crawler.mirror.mirror_files import open_mirror
from crawler.reading.content_types import VAGUE_TYPES
from crawler.spiders.mirror import MirrorSpider
from neardup.files.durable import named_file
from neardup.plurals import many

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from scrapy.crawler import Crawler, CrawlerProcessBase
    from scrapy.settings import BaseSettings

    from crawler.job import Job
    from crawler.mirror.documents.linked_document import DocumentLink
    from crawler.mirror.mirror_files import FileRow, OpenMirror


def single_file(
    out: Path,
    arguments: dict[str, str],
    settings: BaseSettings,
    process: Callable[[], CrawlerProcessBase],
) -> int:
    """Fetch a page with what it needs and write one file; return the exit status.

    Args:
        out: The file, which is replaced if it is there.
        arguments: The arguments of the spider, with one URL.
        settings: The project's settings.
        process: Makes the process of Scrapy, when everything is checked.

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
    return _SingleFileRun(out, arguments, settings).run(process)


class _SingleFileRun(TemporaryMirror):
    def __init__(self, out: Path, arguments: dict[str, str], settings: BaseSettings) -> None:
        super().__init__(MirrorSpider, arguments, settings, f"single file: {arguments['url']}")
        self._out = out

    def _conclude(self, job: Job, crawler: Crawler) -> int:
        status = exit_status(job, self._teller.complain, is_open=False)
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
"""A page with all it needs has at most so many bytes."""

_NEEDED = frozenset({LinkKind.REQUISITE, LinkKind.FRAME})
_NOTHING = {LinkKind.REQUISITE: "data:,", LinkKind.FRAME: "about:blank"}
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
        missing: URLs of which the mirror holds no file.
        files: Number of files within.
    """

    def __init__(self, mirror: OpenMirror) -> None:
        self.missing: set[str] = set()
        self._folder, self._table, self._targets = mirror
        self._data: dict[int, str] = {}
        self._room = MAX_BYTES

    @property
    def files(self) -> int:
        return len(self._data)

    def document(self, row: FileRow) -> bytes:
        """Return the page of a row with all it needs.

        Complexity: O(bytes), of which all are in memory.

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
