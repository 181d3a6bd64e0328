"""Requests that go from worker to worker say the same, and run no code."""

from __future__ import annotations

import pickle
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy import FormRequest, Request, Spider
from scrapy.http import JsonRequest

from crawler.carried_requests import FIXED, CarriedRequestError, from_json, parts_of, to_json
from crawler.stored_requests import UnstorableRequestError


class Carrying(Spider):
    """Has methods of every kind."""

    name = "carrying"
    thing = print

    def parse_page(self, response: Any) -> None:
        """A callback."""

    def failed(self, failure: Any) -> None:
        """An errback."""


SPIDER = Carrying()
URL = "http://example.com/page"


def carried(request: Request) -> Request:
    """Write a request down and make it again."""
    said = to_json(request, SPIDER, is_fixed=False)
    return from_json(said, request.url, request.priority, SPIDER)


VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5), st.floats(-9, 9)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)
MAPPINGS = st.dictionaries(st.text(max_size=5), VALUES, max_size=3)


class TestCarriedRequestsProperties:
    @given(
        method=st.sampled_from(["GET", "POST", "HEAD"]),
        body=st.binary(max_size=20),
        meta=MAPPINGS,
        cb_kwargs=MAPPINGS,
        priority=st.integers(-1000, 1000),
        dont_filter=st.booleans(),
        flags=st.lists(st.text(max_size=3), max_size=2),
        callback=st.sampled_from([None, SPIDER.parse_page]),
        errback=st.sampled_from([None, SPIDER.failed]),
        headers=st.dictionaries(st.sampled_from(["Referer", "X-Any"]), st.binary(max_size=4)),
        cookies=st.dictionaries(st.text("ab", max_size=3), st.text("cd", max_size=3)),
    )
    def test_round_trip(self, **parts: Any) -> None:
        request = Request(URL, **parts)
        assert carried(request).to_dict(spider=SPIDER) == request.to_dict(spider=SPIDER)

    @given(st.binary(max_size=30))
    def test_anything_in_redis_gives_a_request_or_our_error(self, said: bytes) -> None:
        with suppress(CarriedRequestError):
            assert isinstance(from_json(said, URL, 0, SPIDER), Request)


def test_a_form_comes_back_as_the_same_post() -> None:
    for request in (FormRequest(URL, formdata={"a": "b"}), JsonRequest(URL, data={"a": [1]})):
        again = carried(request)
        assert (again.method, again.body) == (request.method, request.body)
        assert again.headers == request.headers


def test_what_every_request_has_is_not_carried() -> None:
    assert to_json(Request(URL), SPIDER, is_fixed=False) == b"{}"


def test_says_that_no_rule_may_skip_it() -> None:
    said = to_json(Request(URL), SPIDER, is_fixed=True)
    assert parts_of(said) == {FIXED: True}
    assert from_json(said, URL, 0, SPIDER).meta == {}


class Special(Request):
    """A class that only this process knows."""


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        (Request(URL, callback=print), "no method of the spider"),
        (Request(URL, meta={"deep": [{"x": object()}]}), "meta['deep']['x'] holds"),
        (Request(URL, meta={"n": float("nan")}), "meta['n'] holds nan"),
        (Request(URL, meta={"body": b"bytes"}), "JSON cannot say"),
        (Request(URL, cb_kwargs={"d": {1: 2}}), "cb_kwargs['d'] holds"),
        (Special(URL), "it is a Special"),
    ],
)
def test_refuses_what_would_come_back_as_something_else(request_: Request, said: str) -> None:
    with pytest.raises(UnstorableRequestError, match=said.replace("[", r"\[")):
        to_json(request_, SPIDER, is_fixed=False)


@pytest.mark.parametrize(
    "said",
    [
        pickle.dumps({"callback": print}),
        b'{"callback": "thing"}',
        b'{"callback": "__init__"}',
        b'{"callback": "from_crawler"}',
        b'{"callback": "logger"}',
        b'{"callback": 3}',
        b'{"cls": "os.system"}',
        b'{"body": "%"}',
        b'{"headers": 1}',
        b"[1]",
        b"[" * 100_000,
        b"\xff",
    ],
)
def test_nothing_in_redis_names_code(said: bytes) -> None:
    with pytest.raises(CarriedRequestError):
        from_json(said, URL, 0, SPIDER)
