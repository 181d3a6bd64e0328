"""Requests that are written down and read again say the same."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy import FormRequest, Request, Spider
from scrapy.http import JsonRequest

from crawler.frontier.order import QueuedRequest
from crawler.stored_requests import UnstorableRequestError, pack, unpack


class Storing(Spider):
    """Has methods of every kind."""

    name = "storing"

    def parse_page(self, response: Any) -> None:
        """A callback."""

    def failed(self, failure: Any) -> None:
        """An errback."""

    other_name = failed


SPIDER = Storing()


def stored(request: Request) -> Request:
    """Write a request down and read it again."""
    packed = pack(request, SPIDER)
    return unpack(QueuedRequest(1, 2, request.url, request.priority, packed), SPIDER)


def same(request: Request) -> bool:
    again = stored(request)
    return type(again) is type(request) and again.to_dict(spider=SPIDER) == request.to_dict(
        spider=SPIDER
    )


PLAIN = st.dictionaries(st.text(max_size=5), st.one_of(st.integers(), st.text(max_size=5)))


class TestStoredRequestsProperties:
    @given(
        method=st.sampled_from(["GET", "POST", "HEAD"]),
        body=st.binary(max_size=20),
        meta=PLAIN,
        cb_kwargs=PLAIN,
        priority=st.integers(-1000, 1000),
        dont_filter=st.booleans(),
        flags=st.lists(st.text(max_size=3), max_size=2),
        callback=st.sampled_from([None, SPIDER.parse_page, SPIDER.other_name]),
        errback=st.sampled_from([None, SPIDER.failed]),
        encoding=st.sampled_from(["utf-8", "latin-1"]),
        headers=st.dictionaries(st.sampled_from(["Referer", "X-Any"]), st.text("ab", max_size=3)),
        cookies=st.dictionaries(st.text("ab", max_size=3), st.text("cd", max_size=3)),
    )
    def test_round_trip(self, **parts: Any) -> None:
        assert same(Request("http://example.com/page", **parts))


def test_subclasses_come_back_as_what_they_were() -> None:
    assert same(FormRequest("http://example.com/", formdata={"a": "b"}, callback=SPIDER.parse_page))
    assert same(JsonRequest("http://example.com/", data={"a": [1]}, priority=3))


def test_what_every_request_has_is_not_stored() -> None:
    assert pickle.loads(pack(Request("http://example.com/"), SPIDER)) == {}


class AnotherSpider(Storing):
    """The same class is not the same spider's method, where it is overridden."""

    def parse_page(self, response: Any) -> None:
        """Another one."""


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"callback": lambda _: None}, "is not an instance method"),
        ({"errback": lambda _: None}, "is not an instance method"),
        ({"callback": AnotherSpider().parse_page}, "is not an instance method"),
        ({"callback": print}, "is not an instance method"),
        ({"meta": {"file": (n for n in [1])}}, "pickle"),
        ({"cb_kwargs": {"spider": lambda: None}}, "pickle"),
    ],
)
def test_what_cannot_be_stored_is_named(parts: dict[str, Any], message: str) -> None:
    with pytest.raises(UnstorableRequestError, match=message):
        pack(Request("http://example.com/", **parts), SPIDER)
