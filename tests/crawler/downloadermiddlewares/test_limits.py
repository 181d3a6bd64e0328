"""Long URLs, refused names, and redirects that browsers follow."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy import Request
from scrapy.exceptions import CannotResolveHostError, NotConfigured
from scrapy.http import Response
from scrapy.utils.test import get_crawler

from crawler.downloadermiddlewares.limits import (
    LongUrlError,
    LongUrls,
    PrivateAddressError,
    PrivateAddresses,
    ReadRedirects,
)
from crawler.urls.private_hosts import may_resolve

URL = "http://www.example.com/"


class TestLongUrls:
    def test_too_long_is_refused(self) -> None:
        middleware = LongUrls.from_crawler(get_crawler(settings_dict={"URLLENGTH_LIMIT": 30}))
        middleware.process_request(Request(URL + "x" * 7))
        with pytest.raises(LongUrlError, match="its URL has 31 characters"):
            middleware.process_request(Request(URL + "x" * 8))

    def test_without_a_limit_it_stands_aside(self) -> None:
        with pytest.raises(NotConfigured):
            LongUrls.from_crawler(get_crawler(settings_dict={"URLLENGTH_LIMIT": 0}))


class TestNamesThatAreNotResolved:
    """The resolver refuses a name; the middleware says why."""

    inside = "http://inside.example.com/"

    def test_reason_is_the_private_address(self) -> None:
        middleware = PrivateAddresses.from_crawler(get_crawler())
        request = Request(self.inside, headers={"Referer": URL}, meta={"depth": 1})
        middleware.process_request(request)
        assert not may_resolve("inside.example.com", "10.0.0.1")
        with pytest.raises(PrivateAddressError, match=r"inside\.example\.com is a private"):
            middleware.process_exception(request, CannotResolveHostError("no"))

    def test_a_name_that_nobody_knows_is_just_that(self) -> None:
        middleware = PrivateAddresses.from_crawler(get_crawler())
        request = Request(self.inside, headers={"Referer": URL}, meta={"depth": 1})
        middleware.process_request(request)
        middleware.process_exception(request, CannotResolveHostError("no"))

    def test_a_start_may_be_resolved_to_one(self) -> None:
        middleware = PrivateAddresses.from_crawler(get_crawler())
        middleware.process_request(Request(self.inside, meta={"depth": 0}))
        middleware.process_request(
            Request(f"{self.inside}robots.txt", meta={"dont_obey_robotstxt": True})
        )
        assert may_resolve("inside.example.com", "10.0.0.1")

    def test_the_robots_txt_of_a_name_led_to_is_not_asked_for_either(self) -> None:
        middleware = PrivateAddresses.from_crawler(get_crawler())
        request = Request(self.inside, headers={"Referer": URL}, meta={"depth": 1})
        middleware.process_request(request)
        middleware.process_request(
            Request(f"{self.inside}robots.txt", meta={"dont_obey_robotstxt": True})
        )
        assert not may_resolve("inside.example.com", "10.0.0.1")


class TestReadRedirects:
    @pytest.mark.parametrize(
        ("status", "location", "found"),
        [
            (300, "/a", (302, b"/a")),
            (300, None, (300, None)),
            (302, "\\a\\b?c=\\d", (302, b"/a/b?c=\\d")),
            (302, " ", (302, None)),
            (307, "/a", (307, b"/a")),
            (201, None, (201, None)),
        ],
    )
    def test_it_leads_where_others_go(
        self, status: int, location: str | None, found: tuple[int, bytes | None]
    ) -> None:
        headers = {} if location is None else {"Location": location}
        answer = Response(URL, status=status, headers=headers)
        request = Request(URL)
        read = ReadRedirects.from_crawler(get_crawler()).process_response(request, answer)
        assert (read.status, read.headers.get(b"Location")) == found
        assert location is None or read.request is request

    @pytest.mark.parametrize(
        "meta",
        [
            {"dont_redirect": True},
            {"handle_httpstatus_all": True},
            {"handle_httpstatus_list": [300]},
        ],
    )
    def test_an_answer_that_the_spider_wants_stays_as_it_came(self, meta: dict[str, Any]) -> None:
        answer = Response(URL, status=300, headers={"Location": "\\a"})
        middleware = ReadRedirects.from_crawler(get_crawler())
        assert middleware.process_response(Request(URL, meta=meta), answer) is answer
        assert answer.headers[b"Location"] == b"\\a"
