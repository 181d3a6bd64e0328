from __future__ import annotations

from typing import Any

import pytest
from scrapy import Request
from scrapy.exceptions import NotConfigured
from scrapy.http import Response
from scrapy.utils.test import get_crawler

from crawler.downloadermiddlewares.cookies import Cookies

URL = "http://www.example.com/"


class TestCookies:
    @staticmethod
    def cookies(**settings: Any) -> Cookies:
        return Cookies.from_crawler(get_crawler(settings_dict=settings))

    @staticmethod
    def sent_after(middleware: Cookies, *cookies: str) -> bytes | None:
        answer = Response(URL, headers={"Set-Cookie": list(cookies)})
        middleware.process_response(Request(URL), answer)
        request = Request(f"{URL}next")
        middleware.process_request(request)
        return request.headers.get(b"Cookie")

    def test_are_sent_back(self) -> None:
        assert self.sent_after(self.cookies(), "a=1; Path=/", "b=2") == b"a=1; b=2"

    def test_so_many_are_taken(self) -> None:
        middleware = self.cookies(CRAWL_MAX_COOKIES=3)
        sent = self.sent_after(middleware, *(f"n{number}=v" for number in range(9)))
        assert sent == b"n0=v; n1=v; n2=v"

    def test_the_header_is_never_longer_than_servers_take(self) -> None:
        fat = [f"n{number}={'v' * 3000}" for number in range(9)]
        assert len(self.sent_after(self.cookies(), *fat) or b"") <= 8000

    def test_each_jar_is_bounded(self) -> None:
        middleware = self.cookies(CRAWL_MAX_COOKIES=1)
        request = Request(URL, meta={"cookiejar": "other"})
        answer = Response(URL, headers={"Set-Cookie": ["a=1", "b=2"]})
        middleware.process_response(request, answer)
        assert len(middleware.jars["other"]) == 1

    def test_switched_off_with_scrapys(self) -> None:
        with pytest.raises(NotConfigured):
            self.cookies(COOKIES_ENABLED=False)
