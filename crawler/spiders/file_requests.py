"""Request links that may lead to no page last, and stop answers that turn out to be none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol
from weakref import WeakKeyDictionary

from scrapy import signals
from scrapy.exceptions import DontCloseSpider, StopDownload
from scrapy.http.request import NO_CALLBACK

from crawler.downloader.large_bodies import start_of, telling_bytes
from crawler.downloading.encodings import codings
from crawler.pages.verdicts import DUPLICATES, KEPT, NOT_HTML, UNCHANGED
from crawler.reading.content_types import SNIFFED_BYTES, is_endless, is_media
from crawler.reading.documents.kinds import ENDINGS
from crawler.request_meta import FOR_A_PAGE, GUESS, LINK_KIND
from crawler.url_rules.file_links import FILE_PRIORITY, FileLinks

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Headers, Response

    from crawler.job import Job
    from crawler.pages.page_context import Captured
    from crawler.url_rules.file_links import Released


class FileRequests:
    """Requests links last that may lead to no page.

    Args:
        crawler: The crawler of the answers.
        job: The job that stores the kinds of links.
        endings: Endings of files, as in ``FileLinks``.
        make: Makes the request for a link that was put aside; None for one not to request.
    """

    def __init__(
        self,
        crawler: Crawler,
        job: Job,
        endings: frozenset[str],
        make: Callable[[Released], Request | None],
    ) -> None:
        documents = job.options.reading.documents
        read = {ending for ending, kind in ENDINGS.items() if kind in documents}
        self._links = FileLinks(job.database, endings - read)
        self._crawler = crawler
        self._job = job
        self._make = make
        # Even if nothing looks like a file any more: links put aside before are released.
        crawler.signals.connect(self._idle, signals.spider_idle)
        job.callbacks.after_capture.append(self._note)

    def is_put_aside(self, url: str, key: bytes, depth: int, source: str) -> bool:
        """Put a link aside where many of its kind were files; return whether it was.

        A worker of a fleet puts none aside: killed, it would lose them, since no other worker
        requests the page again on which they were found.
        """
        if self._job.fleet is not None:
            return False
        kind = self._links.kind(url)
        return kind is not None and self._links.put_aside(kind, url, key, depth, source)

    def is_guess_put_aside(self, place: str, url: str, key: bytes, depth: int, source: str) -> bool:
        """Put a link aside where too few from such places led to pages; return whether it was.

        A worker of a fleet leaves it out altogether.
        """
        kind = self._links.place(url, place)
        if self._job.fleet is not None:
            return self._links.is_spent(kind, key)
        return self._links.put_aside(kind, url, key, depth, source)

    def note_guess(self, meta: Mapping[str, Any], url: str, *, is_page: bool) -> None:
        """Note what came of a guess."""
        first = (*meta.get("redirect_urls", ()), url)[0]
        self._links.note(self._links.place(first, meta[LINK_KIND]), is_page=is_page)

    def rank(self, request: Request) -> Request:
        """Return a request with the priority of a file if it looks like one."""
        if self._links.kind(request.url) is None:
            return request
        return request.replace(priority=FILE_PRIORITY)

    def _idle(self) -> None:
        """Request links that were put aside and may be pages after all.

        Where requests still wait, such as at ``max_pages``, so do these links.

        Raises:
            DontCloseSpider: There are some.
        """
        if len(self._job.frontier.queue):
            return
        released = self._links.release()
        for link in released:
            request = self._make(link)
            if request is not None:
                self._crawler.engine.crawl(self.rank(request))
        if released:
            raise DontCloseSpider

    def _note(self, meta: Mapping[str, Any], captured: Captured) -> None:
        row = captured.row
        if GUESS in meta:
            # Of a mirror any file that is there is one that was looked for.
            is_kept = row.verdict in KEPT or captured.verdict == UNCHANGED or FOR_A_PAGE in meta
            self.note_guess(meta, row.url, is_page=is_kept)
            return
        kind = self._links.kind((*meta.get("redirect_urls", ()), row.url)[0])
        if kind is not None:
            is_copy = row.verdict in DUPLICATES and row.text_digest is None
            is_page = row.verdict != NOT_HTML and not is_copy
            self._links.note(kind, is_page=is_page)


_READ_BYTES: Final = 2**16
"""Take a body of at most this size to its end: its connection then serves the next request."""


class JudgingSpider(Protocol):
    """A spider that says which answers are no pages, for all that come to its ``parse``."""

    crawler: Crawler

    @property
    def parse(self) -> Callable[[Response], object]: ...

    def is_unwanted(self, content_type: str, size: int | None) -> bool | None: ...

    def begins_unwanted(self, content_type: str, start: bytes, url: str) -> bool: ...


class StoppedAnswers:
    """Closes the connection of an answer whose head, or whose first bytes, show that it is no page.

    The spider says by ``is_unwanted`` and ``begins_unwanted`` what is none. What only it reads
    itself, such as a sitemap, is never judged by its URL, and stopped only where nothing could be
    read of it; so is what a rendered page requests, which has bounds of its own.
    """

    def __init__(self, spider: JudgingSpider) -> None:
        self._spider = spider
        self._begun: WeakKeyDictionary[Request, _Begun] = WeakKeyDictionary()
        spider.crawler.signals.connect(self._headers_received, signals.headers_received)
        spider.crawler.signals.connect(self._bytes_received, signals.bytes_received)

    def _headers_received(self, headers: Headers, body_length: Any, request: Request) -> None:
        is_told = isinstance(body_length, int)
        if request.callback is NO_CALLBACK or (is_told and body_length <= _READ_BYTES):
            return
        content_type = (headers.get(b"Content-Type") or b"").decode("latin-1")
        if is_endless(content_type) or b"Icy-Name" in headers or b"Icy-Br" in headers:
            raise StopDownload(fail=False)
        if request.callback is not None and request.callback != self._spider.parse:
            if is_media(content_type):
                raise StopDownload(fail=False)
            return
        is_unwanted = self._spider.is_unwanted(content_type, body_length if is_told else None)
        if is_unwanted:
            raise StopDownload(fail=False)
        if is_unwanted is None:
            declared = headers.getlist(b"Content-Encoding")
            layers = codings(value.decode("latin-1") for value in declared)
            self._begun[request] = _Begun(content_type, layers, bytearray())

    def _bytes_received(self, data: bytes, request: Request) -> None:
        begun = self._begun.get(request)
        if begun is None:
            return
        content_type, layers, came = begun
        came += data
        start = start_of(bytes(came), layers)
        if len(start) < SNIFFED_BYTES and len(came) < telling_bytes(layers, is_long=True):
            return
        del self._begun[request]
        if start and self._spider.begins_unwanted(content_type, start, request.url):
            raise StopDownload(fail=False)


class _Begun(NamedTuple):
    """The beginning of an answer of which the first bytes are to tell what it is."""

    content_type: str
    layers: list[str]
    came: bytearray
