"""Request known pages on the condition that they have changed, and note which ones moved."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from scrapy.exceptions import NotConfigured
from w3lib.url import safe_url_string

from crawler.job_registry import CrawlerComponent
from crawler.request_meta import ASKED_IF, WHOLE
from crawler.spiders.page_spider import PageSpider
from crawler.storage.errors import CrawlStorageError

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

_CONDITIONS = (b"If-None-Match", b"If-Modified-Since")
_PERMANENT = frozenset({301, 308})
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


class ConditionalRequests(CrawlerComponent):
    """Sends ``If-None-Match`` and ``If-Modified-Since`` where the last version of a page is stored.

    It is nearer to the network than Scrapy's redirects, which pass the headers of a
    page on to the target: there they would be those of another page.
    """

    def __init__(self, crawler: Crawler) -> None:
        if not isinstance(crawler.spider, PageSpider):
            raise NotConfigured
        self._spider = crawler.spider
        self._job = crawler.spider.job

    def process_request(self, request: Request) -> None:
        """Add the validators of the stored version to a request for a known page."""
        if request.meta.pop(ASKED_IF, False):
            for name in _CONDITIONS:
                request.headers.pop(name, None)
        if not self._is_for_known(request) or request.meta.get(WHOLE):
            return
        validators = self._job.archivist.unsent.validators(self._spider.key_of(request))
        if validators is None:
            return
        request.meta[ASKED_IF] = True
        for name, value in zip(_CONDITIONS, validators, strict=True):
            if value is not None:
                request.headers[name] = value.encode("latin-1")

    def process_response(self, request: Request, response: Response) -> Response:
        """Note a redirect, whatever its final target."""
        location = response.headers.get(b"Location")
        if location and response.status in _REDIRECTS and self._is_for_known(request):
            target = urljoin(request.url, safe_url_string(location))
            statuses = {*request.meta.get("redirect_reasons", ()), response.status}
            for url in {request.url, *request.meta.get("redirect_urls", ())[:1]}:
                with suppress(CrawlStorageError):  # the job remembers it, and the crawl ends
                    is_permanent = statuses <= _PERMANENT
                    self._job.note_moved(url, target, response.status, permanent=is_permanent)
        return response

    def _is_for_known(self, request: Request) -> bool:
        is_page = request.callback is None or request.callback == self._spider.parse
        return is_page and request.method == "GET" and self._job.visits.number > 1
