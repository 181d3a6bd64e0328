"""Bound the number of cookies.

The module stands alone and is imported only after the add-on has run: Scrapy's cookies ask
tldextract at their import for the list of public suffixes.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from scrapy.downloadermiddlewares.cookies import CookiesMiddleware
from scrapy.exceptions import NotConfigured
from scrapy.http.cookies import CookieJar

from crawler.downloading.cookie_limits import BoundedJar, shortened
from crawler.options import Options

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response


class Cookies(CookiesMiddleware):
    """Scrapy's middleware with bounds: the cookies of sites fill neither memory nor requests."""

    def __init__(self, max_cookies: int, *, debug: bool = False) -> None:
        super().__init__(debug)
        self._max_cookies = max_cookies
        self.jars = defaultdict(lambda: _BoundedCookies(max_cookies))

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Cookies:
        if not crawler.settings.getbool("COOKIES_ENABLED"):
            raise NotConfigured
        max_cookies = Options(crawler.settings).integer("CRAWL_MAX_COOKIES")
        middleware = cls(max_cookies, debug=crawler.settings.getbool("COOKIES_DEBUG"))
        middleware.crawler = crawler
        return middleware

    def process_request(self, request: Request, spider: Spider | None = None) -> None:
        super().process_request(request)
        sent = request.headers.get(b"Cookie")
        if sent is not None:
            request.headers[b"Cookie"] = shortened(sent)

    def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Request | Response:
        cookies = response.headers.getlist(b"Set-Cookie")
        if len(cookies) > self._max_cookies:
            response.headers.setlist(b"Set-Cookie", cookies[: self._max_cookies])
        return super().process_response(request, response)


class _BoundedCookies(CookieJar):
    def __init__(self, max_cookies: int) -> None:
        super().__init__()
        self.jar = BoundedJar(max_cookies, self.policy)
