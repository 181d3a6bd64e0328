"""Long URLs and refused names; more of private addresses, and decompression, in their own files."""

from __future__ import annotations

import pytest
from scrapy import Request
from scrapy.exceptions import CannotResolveHostError, NotConfigured
from scrapy.utils.test import get_crawler

from crawler.downloadermiddlewares.limits import (
    LongUrlError,
    LongUrls,
    PrivateAddressError,
    PrivateAddresses,
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
