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

from crawler.downloading.cookie_files import read_cookies
from crawler.downloading.cookie_limits import BoundedJar, shortened
from crawler.options import Options
from crawler.spiders.page_spider import PageSpider

if TYPE_CHECKING:
    from collections.abc import Iterable
    from http.cookiejar import Cookie

    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response


class Cookies(CookiesMiddleware):
    """Scrapy's middleware with bounds: the cookies of sites fill neither memory nor requests.

    Every jar begins with the cookies of ``-a cookies=FILE``.
    """

    def __init__(
        self, max_cookies: int, *, debug: bool = False, given: Iterable[Cookie] = ()
    ) -> None:
        super().__init__(debug)
        self._max_cookies = max_cookies
        cookies = tuple(given)
        self.jars = defaultdict(lambda: _BoundedCookies(max_cookies, cookies))

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Cookies:
        if not crawler.settings.getbool("COOKIES_ENABLED"):
            raise NotConfigured
        max_cookies = Options(crawler.settings).integer("CRAWL_MAX_COOKIES")
        spider = crawler.spider
        name = getattr(spider, "cookies", "") if isinstance(spider, PageSpider) else ""
        given = read_cookies(name) if name else ()
        debug = crawler.settings.getbool("COOKIES_DEBUG")
        middleware = cls(max_cookies, debug=debug, given=given)
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
    def __init__(self, max_cookies: int, given: Iterable[Cookie]) -> None:
        super().__init__()
        self.jar = BoundedJar(max_cookies, self.policy)
        for cookie in given:
            self.jar.set_cookie(cookie)
