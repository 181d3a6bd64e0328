"""Requests that are written down and read again say the same, and run no code."""

from __future__ import annotations

import pickle
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy import FormRequest, Request, Spider
from scrapy.http import JsonRequest, XmlRpcRequest

from crawler.frontier.request_records import (
    FIXED,
    MalformedRequestError,
    decode_parts,
    encode_parts,
)
from crawler.scheduling.request_codec import UnstorableError, decode_request, encode_request

if TYPE_CHECKING:
    from collections.abc import Callable


def unnamed(method: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a method that forgets its name."""

    def wrapper(self: Any, response: Any) -> Any:
        return method(self, response)

    return wrapper


class Coding(Spider):
    """Has methods of every kind."""

    name = "coding"
    thing = print

    def parse_page(self, response: Any) -> None:
        """A callback."""

    def failed(self, failure: Any) -> None:
        """An errback."""

    @unnamed
    def decorated(self, response: Any) -> None:
        """A callback under a name that it does not know."""

    def __hidden(self, response: Any) -> None:
        """A callback whose name Python changes."""

    def hidden(self) -> Callable[..., Any]:
        return self.__hidden

    other_name = failed


class Overriding(Coding):
    """Has another method under the name."""

    def parse_page(self, response: Any) -> None:
        """Another one."""


class Special(Request):
    """A class that only this process knows."""


SPIDER = Coding()
URL = "http://example.com/page"


def decoded(request: Request) -> Request:
    """Write a request down and make it again."""
    return decode_request(encode_request(request, SPIDER), request.url, request.priority, SPIDER)


VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5), st.floats(-9, 9)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)
MAPPINGS = st.dictionaries(st.text(max_size=5), VALUES, max_size=3)


class TestRequestCodecProperties:
    @given(
        method=st.sampled_from(["GET", "POST", "HEAD"]),
        body=st.binary(max_size=20),
        meta=MAPPINGS,
        cb_kwargs=MAPPINGS,
        priority=st.integers(-1000, 1000),
        dont_filter=st.booleans(),
        flags=st.lists(st.text(max_size=3), max_size=2),
        callback=st.sampled_from([None, SPIDER.parse_page, SPIDER.other_name, SPIDER.decorated]),
        errback=st.sampled_from([None, SPIDER.failed]),
        encoding=st.sampled_from(["utf-8", "latin-1"]),
        headers=st.dictionaries(st.sampled_from(["Referer", "X-Any"]), st.binary(max_size=4)),
        cookies=st.dictionaries(st.text("ab", max_size=3), st.text("cd", max_size=3)),
    )
    def test_round_trip(self, **parts: Any) -> None:
        request = Request(URL, **parts)
        assert decoded(request).to_dict(spider=SPIDER) == request.to_dict(spider=SPIDER)

    @given(st.binary(max_size=30))
    def test_any_bytes_give_a_request_or_our_error(self, stored: bytes) -> None:
        with suppress(MalformedRequestError):
            assert isinstance(decode_request(stored, URL, 0, SPIDER), Request)


@pytest.mark.parametrize(
    "request_",
    [
        FormRequest(URL, formdata={"a": "b"}, callback=SPIDER.parse_page),
        JsonRequest(URL, data={"a": [1]}, priority=3),
        XmlRpcRequest(URL, methodname="ask", params=(1,)),
    ],
)
def test_a_form_comes_back_as_the_same_post(request_: Request) -> None:
    again = decoded(request_)
    assert (again.method, again.body) == (request_.method, request_.body)
    assert (again.headers, again.callback) == (request_.headers, request_.callback)


def test_a_method_is_found_by_whatever_name_the_spider_has_it() -> None:
    for method in (SPIDER.decorated, SPIDER.hidden(), SPIDER.other_name):
        assert decoded(Request(URL, callback=method)).callback == method


def test_only_what_differs_from_a_plain_get_is_written() -> None:
    assert encode_request(Request(URL), SPIDER) == b"{}"
    link = Request(URL, errback=SPIDER.failed, meta={"depth": 3})
    assert encode_request(link, SPIDER) == b'{"meta":{"depth":3},"errback":"failed"}'


def test_says_that_no_rule_may_skip_it() -> None:
    encoded = encode_request(Request(URL), SPIDER, is_fixed=True)
    assert decode_parts(encoded) == {FIXED: True}
    assert decode_request(encoded, URL, 0, SPIDER).meta == {}


NO_METHOD = "is no method of the spider; make it one, and put what a lambda"
OBJECT = "which JSON cannot say; put strings, numbers, lists and dicts there"


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (Request(URL, callback=print), ["its callback", NO_METHOD]),
        (Request(URL, errback=lambda _: None), ["its errback", NO_METHOD]),
        (Request(URL, callback=Overriding().parse_page), [NO_METHOD]),
        (Request(URL, meta={"deep": [{"x": object()}]}), ["meta['deep'][0]['x'] holds", OBJECT]),
        (Request(URL, meta={"n": float("nan")}), ["meta['n'] holds nan", OBJECT]),
        (Request(URL, meta={"body": b"bytes"}), ["meta['body'] holds b'bytes'", OBJECT]),
        (Request(URL, meta={"names": {"a"}}), ["meta['names'] holds {'a'}", OBJECT]),
        (Request(URL, cb_kwargs={"d": {1: 2}}), ["cb_kwargs['d'] has the key 1", "make it str(1)"]),
        (Request(URL, cb_kwargs={"n": 10**5000}), ["4300 digits"]),
        (Special(URL), ["it is a Special", "yield a Request"]),
    ],
)
def test_refuses_what_would_come_back_as_something_else(
    request_: Request, words: list[str]
) -> None:
    with pytest.raises(UnstorableError) as refusal:
        encode_request(request_, SPIDER)
    for word in words:
        assert word in str(refusal.value)


def test_refuses_what_holds_itself() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(UnstorableError, match="JSON cannot say"):
        encode_request(Request(URL, meta={"endless": endless}), SPIDER)


@pytest.mark.parametrize(
    "stored",
    [
        pickle.dumps({"callback": print}),
        b'{"callback": "thing"}',
        b'{"callback": "__init__"}',
        b'{"callback": "from_crawler"}',
        b'{"callback": "logger"}',
        b'{"callback": 3}',
        b'{"cls": "os.system"}',
        b'{"_class": "os.system"}',
        b'{"body": "%"}',
        b'{"headers": 1}',
        b'{"encoding": "unheard of", "body": "YQ=="}',
        b"[1]",
        b"[" * 100_000,
        b"\xff",
    ],
)
def test_stored_bytes_name_no_code(stored: bytes) -> None:
    with pytest.raises(MalformedRequestError):
        decode_request(stored, URL, 0, SPIDER)


def test_parts_keep_any_text() -> None:
    parts = {"meta": {"lone": "\ud800", "quote": '"\\\x00\x1b'}}
    assert decode_parts(encode_parts(parts)) == parts
