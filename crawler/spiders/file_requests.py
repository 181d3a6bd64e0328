"""Adapt ``crawler.frontier.file_links`` to Scrapy: requests for links that may lead to no page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from scrapy import signals
from scrapy.exceptions import DontCloseSpider, StopDownload
from scrapy.http.request import NO_CALLBACK

from crawler.frontier.file_links import FILE_PRIORITY, FileLinks, ending_of
from crawler.pages.verdicts import DUPLICATES, KEPT, NOT_HTML, UNCHANGED
from crawler.reading.content_types import SNIFFED_BYTES, is_told_by_type, why_not_html
from crawler.reading.documents.kinds import ENDINGS, may_be_document, may_begin_document
from crawler.request_meta import FOR_A_PAGE, GUESS, LINK_KIND

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Headers

    from crawler.frontier.file_links import Released
    from crawler.job import Job
    from crawler.pages.page_context import Captured


class FileRequests:
    """Requests links last that may lead to no page, and stops answers that turn out to be files.

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
        self._documents = job.options.reading.documents
        read = {ending for ending, kind in ENDINGS.items() if kind in self._documents}
        self._links = FileLinks(job.database, endings - read)
        self._endings = endings
        self._crawler = crawler
        self._job = job
        self._make = make
        self._looked_at: WeakKeyDictionary[Request, tuple[str, bytearray]] = WeakKeyDictionary()
        # Even if nothing looks like a file any more: links put aside before are released.
        crawler.signals.connect(self._idle, signals.spider_idle)
        job.callbacks.after_capture.append(self._note)
        if endings:
            crawler.signals.connect(self._headers_received, signals.headers_received)
            crawler.signals.connect(self._bytes_received, signals.bytes_received)

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

    def _headers_received(self, headers: Headers, request: Request) -> None:
        # What a rendered page requests has no callback, and is wanted whole.
        if request.callback is NO_CALLBACK or ending_of(request.url) not in self._endings:
            return
        said = headers.get(b"Content-Type") or b""
        content_type = said.decode("latin-1")
        by_type = is_told_by_type(content_type)
        if by_type and not (self._documents and may_be_document(content_type)):
            if why_not_html(content_type, b"") is not None:
                raise StopDownload(fail=False)
        elif b"Content-Encoding" not in headers:
            self._looked_at[request] = (content_type, bytearray())

    def _bytes_received(self, data: bytes, request: Request) -> None:
        if request not in self._looked_at:
            return
        content_type, start = self._looked_at[request]
        start += data
        if len(start) >= SNIFFED_BYTES:
            del self._looked_at[request]
            if self._is_file(content_type, bytes(start)):
                raise StopDownload(fail=False)

    def _is_file(self, content_type: str, start: bytes) -> bool:
        if why_not_html(content_type, start) is None:
            return False
        return not may_begin_document(content_type, start, self._documents)
