"""Adapt redirects that browsers follow, and Scrapy does not."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

from scrapy.exceptions import NotConfigured

from crawler.job_registry import CrawlerComponent

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response


class ReadRedirects(CrawlerComponent):
    """Lets Scrapy read redirects as others do: HTTP 300, backslashes, an empty Location.

    Answers name their requests, of which the target of a redirect has the Referer. The Location of
    HTTP 300 is the page that the server prefers. An answer is left as it came where the spider
    wants to see its status.
    """

    def __init__(self, crawler: Crawler) -> None:
        if not crawler.settings.getbool("REDIRECT_ENABLED"):
            raise NotConfigured
        self._handled = frozenset(getattr(crawler.spider, "handle_httpstatus_list", ()))

    def process_response(self, request: Request, response: Response) -> Response:
        location = response.headers.get(b"Location")
        if location is None or self._is_for_spider(request, response):
            return response
        response.request = response.request or request
        if not location.strip():  # it would be the URL itself, again and again
            del response.headers[b"Location"]
            return response
        path, mark, query = location.partition(b"?")
        if b"\\" in path:
            response.headers[b"Location"] = path.replace(b"\\", b"/") + mark + query
        if response.status == HTTPStatus.MULTIPLE_CHOICES:
            return response.replace(status=HTTPStatus.FOUND)
        return response

    def _is_for_spider(self, request: Request, response: Response) -> bool:
        meta = request.meta
        if meta.get("dont_redirect") or meta.get("handle_httpstatus_all"):
            return True
        return response.status in self._handled.union(meta.get("handle_httpstatus_list", ()))
