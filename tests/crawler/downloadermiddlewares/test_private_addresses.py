"""Which requests are kept out of private networks. Nothing is sent to anybody here."""

from __future__ import annotations

from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
from scrapy import Request, Spider
from scrapy.exceptions import NotConfigured
from scrapy.http import Response
from scrapy.utils.test import get_crawler

from crawler.downloadermiddlewares.limits import PrivateAddressError, PrivateAddresses
from crawler.request_meta import LED_BY

if TYPE_CHECKING:
    from pathlib import Path

PUBLIC = "https://www.example.com/page"
ADDRESS = "93.184.215.14"

PRIVATE_URLS = [
    "http://169.254.169.254/latest/meta-data/",
    "http://[::1]/",
    "http://[::1]:8080/x",
    "http://10.0.0.1/",
    "http://127.0.0.1:6800/",
    "http://127.1/",
    "http://2130706433/",  # 127.0.0.1 as one number
    "http://0x7f.1/",
    "http://017700000001/",
    "http://[::ffff:10.0.0.1]/",
    "http://[fe80::1]/",
    "http://[64:ff9b::a9fe:a9fe]/",
    "http://0.0.0.0/",
    "http://192.168.1.1/",
    "http://localhost:9200/",
    "http://LOCALHOST./",
    "http://metadata.google.internal/",
    "http://printer/",
    "https://user:secret@10.0.0.1/",
]
PUBLIC_URLS = [
    "http://example.org/",
    f"http://{ADDRESS}/",
    "http://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]/",
    "http://10.0.0.1.example.org/",
    "http://localhost.example.org/",
    "http://169.254.169.254@example.org/",
]


def guard(*seeds: str, **settings: Any) -> PrivateAddresses:
    crawler = get_crawler(settings_dict=settings)
    if seeds:
        crawler.spider = Spider("seeded", seeds=seeds)
    return PrivateAddresses.from_crawler(crawler)


def redirected(url: str, *sources: str) -> Request:
    return Request(url, meta={"redirect_urls": list(sources), "depth": 0})


def linked(url: str, source: str) -> Request:
    return Request(url, headers={"Referer": source}, meta={"depth": 1})


def unreferred(url: str) -> Request:
    """A link on a page with ``Referrer-Policy: no-referrer``."""
    return Request(url, meta={"depth": 1})


def start(url: str) -> Request:
    return Request(url, meta={"depth": 0})


def for_robots(url: str) -> Request:
    return Request(url, meta={"dont_obey_robotstxt": True})


def answer(request: Request, address: str | None) -> Response:
    return Response(request.url, ip_address=None if address is None else ip_address(address))


@pytest.mark.parametrize("url", PRIVATE_URLS)
class TestFromPublicToPrivate:
    @pytest.mark.parametrize(
        "request_from",
        [
            lambda url: redirected(url, PUBLIC),
            lambda url: redirected(url, PUBLIC, "http://10.9.9.9/"),
            lambda url: linked(url, PUBLIC),
            lambda url: Request(url, meta={LED_BY: PUBLIC}),
        ],
        ids=["redirect", "two redirects", "link", "robots.txt"],
    )
    def test_is_refused_before_anything_is_sent(self, url: str, request_from: Any) -> None:
        with pytest.raises(PrivateAddressError, match=r"refused: \S* is a private address, to "):
            guard().process_request(request_from(url))

    def test_is_allowed_where_the_seed_is_private(self, url: str) -> None:
        middleware = guard()
        for request in (start(url), redirected("http://10.0.0.2/", url), linked(url, url)):
            middleware.process_request(request)

    def test_is_refused_where_the_page_hides_itself(self, url: str) -> None:
        middleware = guard()
        middleware.process_request(start(PUBLIC))
        with pytest.raises(PrivateAddressError):
            middleware.process_request(unreferred(url))


@pytest.mark.parametrize("url", PUBLIC_URLS)
def test_public_addresses_may_be_led_to(url: str) -> None:
    for request in (start(url), redirected(url, PUBLIC), linked(url, PUBLIC), unreferred(url)):
        guard().process_request(request)


def test_switched_off_by_its_setting() -> None:
    with pytest.raises(NotConfigured):
        guard(CRAWL_PRIVATE_ADDRESSES=True)


class TestNamesThatResolveToPrivateAddresses:
    """Known only from the answer."""

    url = "http://inside.example.com/"

    @pytest.mark.parametrize("address", ["10.0.0.1", "127.0.0.1", "::1", "::ffff:10.0.0.1"])
    @pytest.mark.parametrize("lead", [redirected, linked])
    def test_answer_is_thrown_away(self, lead: Any, address: str) -> None:
        middleware = guard()
        request = lead(self.url, PUBLIC)
        middleware.process_request(request)
        with pytest.raises(PrivateAddressError, match=r"inside\.example\.com is a private"):
            middleware.process_response(request, answer(request, address))

    def test_answer_to_a_link_of_a_page_that_hides_itself_too(self) -> None:
        middleware = guard(PUBLIC)
        request = unreferred(self.url)
        with pytest.raises(PrivateAddressError):
            middleware.process_response(request, answer(request, "10.0.0.1"))

    def test_its_robots_txt_makes_it_no_start(self) -> None:
        middleware = guard(PUBLIC)
        robots = for_robots(f"{self.url}robots.txt")
        middleware.process_request(robots)
        middleware.process_response(robots, answer(robots, "10.0.0.1"))
        with pytest.raises(PrivateAddressError):
            middleware.process_request(redirected("http://10.0.0.1/", self.url))

    def test_seed_may_be_one(self) -> None:
        middleware = guard()
        for request in (start(self.url), linked(f"{self.url}x", self.url), unreferred(self.url)):
            middleware.process_request(request)
            response = answer(request, "10.0.0.1")
            assert middleware.process_response(request, response) is response
        middleware.process_request(redirected("http://10.0.0.2/", self.url))

    def test_seed_that_was_public_stays_public(self) -> None:
        middleware = guard(self.url)
        for address, is_refused in ((ADDRESS, False), ("10.0.0.1", True), (ADDRESS, False)):
            request = start(self.url)
            if not is_refused:
                middleware.process_request(request)
                middleware.process_response(request, answer(request, address))
                continue
            with pytest.raises(PrivateAddressError, match="was at a public one before"):
                middleware.process_response(request, answer(request, address))

    def test_seed_that_was_public_stays_public_in_the_next_process(self, tmp_path: Path) -> None:
        request = start(self.url)
        first = guard(self.url, JOBDIR=str(tmp_path))
        first.process_response(request, answer(request, ADDRESS))
        first._job.close()
        second = guard(self.url, JOBDIR=str(tmp_path))
        assert second._guard.allows(urlsplit(self.url).hostname or "") is False
        with pytest.raises(PrivateAddressError, match="was at a public one before"):
            second.process_response(request, answer(request, "10.0.0.1"))
        second._job.close()

    def test_seed_may_be_one_in_a_crawl_that_goes_on(self) -> None:
        middleware = guard(self.url)
        request = linked(f"{self.url}x", self.url)
        middleware.process_request(request)
        response = answer(request, "10.0.0.1")
        assert middleware.process_response(request, response) is response

    @pytest.mark.parametrize("address", [None, ADDRESS])
    def test_other_answers_pass(self, address: str | None) -> None:
        request = linked(self.url, PUBLIC)
        response = answer(request, address)
        assert guard().process_response(request, response) is response

    def test_address_of_a_proxy_says_nothing(self) -> None:
        request = linked(self.url, PUBLIC)
        request.meta["proxy"] = "http://127.0.0.1:3128"
        response = answer(request, "127.0.0.1")
        assert guard().process_response(request, response) is response


def test_private_crawl_may_follow_links_of_pages_that_hide_themselves() -> None:
    middleware = guard("http://10.0.0.1/")
    middleware.process_request(unreferred("http://10.0.0.1/x"))


def test_one_public_seed_among_private_ones_takes_that_away() -> None:
    middleware = guard("http://10.0.0.1/", PUBLIC)
    with pytest.raises(PrivateAddressError, match="to which a page led"):
        middleware.process_request(unreferred("http://10.0.0.1/x"))
