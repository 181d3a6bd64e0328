"""Request known pages on the condition that they have changed, and note which ones moved."""

from __future__ import annotations

from contextlib import suppress
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

from scrapy.exceptions import NotConfigured
from w3lib.url import safe_url_string

from crawler.downloader.large_bodies import (
    DATA_LOSS,
    FileResponse,
    LargeBodies,
    body_size,
    without_file,
)
from crawler.downloadermiddlewares.limits import OF_RANGES, REDIRECTS, content_range
from crawler.downloadermiddlewares.retries import leased_host
from crawler.job_registry import CrawlerComponent
from crawler.pages.gates import GateError
from crawler.request_meta import ASKED_IF, WAITED, WHOLE
from crawler.spiders.page_spider import PageSpider
from crawler.storage.errors import CrawlStorageError

if TYPE_CHECKING:
    from weakref import WeakKeyDictionary

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from crawler.pages.page_context import StoredPart

CONDITIONS = (b"If-None-Match", b"If-Modified-Since")
_OF_PARTS = (b"If-Range", b"Range")
_PERMANENT = frozenset({301, 308})


class ConditionalRequests(CrawlerComponent):
    """Sends ``If-None-Match`` and ``If-Modified-Since`` where the last version of a page is stored.

    It is nearer to the network than Scrapy's redirects, which pass the headers of a
    page on to the target: there they would be those of another page.
    """

    def __init__(self, crawler: Crawler) -> None:
        if not isinstance(crawler.spider, PageSpider):
            raise NotConfigured
        self._crawler = crawler
        self._spider = crawler.spider
        self._job = crawler.spider.job
        self._parts: WeakKeyDictionary[Request, StoredPart] = LargeBodies.of(crawler).parts

    async def process_request(self, request: Request) -> None:
        """Add what a known page is to be compared with: a stored part, or its last version."""
        if request.meta.pop(ASKED_IF, False):
            for name in (*CONDITIONS, *_OF_PARTS):
                request.headers.pop(name, None)
        part = await self._part_of(request)
        if part is not None:
            self._parts[request] = part
            self._add(request, _OF_PARTS, (part.etag, f"bytes={part.size}-"))
        elif self._is_for_known(request) and not request.meta.get(WHOLE):
            validators = self._job.processor.validators(self._spider.key_of(request))
            self._add(request, CONDITIONS, validators or ())

    def _add(
        self, request: Request, names: tuple[bytes, ...], values: tuple[str | None, ...]
    ) -> None:
        for name, value in zip(names, values, strict=False):
            if value is not None:
                request.meta[ASKED_IF] = True
                request.headers[name] = value.encode("latin-1")

    def process_response(self, request: Request, response: Response) -> Request | Response:
        """Note a redirect, whatever its final target; join the rest of a part to it."""
        if ASKED_IF in request.meta and request.headers.pop(b"If-Range", None):
            response = self._joined(request, response)
        location = response.headers.get(b"Location")
        if not location or response.status not in REDIRECTS or not self._is_for_page(request):
            return response
        target = urljoin(request.url, safe_url_string(location))
        if self._must_wait(request, target):
            return request
        self._spider.note_redirected(request)
        if self._is_for_known(request):
            statuses = {*request.meta.get("redirect_reasons", ()), response.status}
            for url in {request.url, *request.meta.get("redirect_urls", ())[:1]}:
                with suppress(CrawlStorageError):  # the job remembers it, and the crawl ends
                    is_permanent = statuses <= _PERMANENT
                    self._job.note_moved(url, target, response.status, permanent=is_permanent)
        return response

    def _must_wait(self, request: Request, target: str) -> bool:
        """Let the request of a known page that is led elsewhere wait, until it is no gate's."""
        if not self._is_for_known(request) or leased_host(self._crawler, request) is None:
            return False
        key = self._job.canonicalizer.key_of(
            (*request.meta.get("redirect_urls", ())[:1], request.url)[0]
        )
        previous = self._job.store.previous(key)
        if previous is None or self._job.visits.known.moved_to(key) == target:
            return False
        if key == self._job.canonicalizer.key_of(target):
            return False
        try:
            pending = len(self._job.frontier.queue) + len(self._crawler.engine.downloader.active)
            must = self._job.processor.gates.must_wait(previous, target, pending)
        except GateError as error:
            self._job.result.stop(str(error))
            must = True
        # It then waits behind the other requests of its host.
        scheduler: Any = self._crawler.engine.scheduler  # ours, which handed it out
        waited = request.meta.get(WAITED)
        secs = None if waited is None else 1.0
        return must and bool(scheduler.ask_later(request, {WAITED: waited or 0.0}, secs))

    async def _part_of(self, request: Request) -> StoredPart | None:
        return await self._spider.part_of(request) if self._is_for_page(request) else None

    def _joined(self, request: Request, response: Response) -> Response:
        """Return the whole answer where the rest came; another part was not asked for.

        What is still a part then is kept, and continued by the next run.
        """
        del request.headers[b"Range"]
        part = self._parts.pop(request, None)
        if part is None or response.status not in OF_RANGES:
            return response
        is_portion = is_in_portions(response)
        if not is_portion and not continues(response, part):
            self._spider.drop_part(request)
            return without_file(response)
        del response.headers[b"Content-Range"]
        if is_portion:
            response = response.replace(flags=[*response.flags, DATA_LOSS])
        if part.body is None:
            return response.replace(status=HTTPStatus.OK)
        if DATA_LOSS in response.flags:
            request.meta["dont_retry"] = True
        return response.replace(status=HTTPStatus.OK, body=part.body + response.body)

    def _is_for_known(self, request: Request) -> bool:
        return self._job.visits.number > 1 and self._is_for_page(request)

    def _is_for_page(self, request: Request) -> bool:
        is_page = request.callback is None or request.callback == self._spider.parse
        return is_page and request.method == "GET"


def is_in_portions(response: Response) -> bool:
    """Return whether an answer has the next bytes of a file, but not all that were asked for.

    A server may divide a file into ranges of its own. The file of the body has the whole so far.
    """
    found = content_range(response)
    return (
        isinstance(response, FileResponse)
        and found is not None
        and not found.is_to_end
        and body_size(response) == found.last + 1 < found.size
    )


def continues(response: Response, part: StoredPart) -> bool:
    """Return whether an answer is the rest of a part, of the same version and in no coding.

    An answer without an ETag is not known to be: some servers take no notice of If-Range.
    """
    if response.status != HTTPStatus.PARTIAL_CONTENT or b"Content-Encoding" in response.headers:
        return False
    if part.body is None and not isinstance(response, FileResponse):
        return False  # the file was not as it was noted, or nothing came
    etag = response.headers.get(b"ETag")
    if etag is None or etag.decode("latin-1") != part.etag:
        return False
    found = content_range(response)
    size = body_size(response) + (0 if part.body is None else part.size)
    is_all = DATA_LOSS in response.flags or (found is not None and found.size == size)
    return found is not None and found.first == part.size and found.is_to_end and is_all
