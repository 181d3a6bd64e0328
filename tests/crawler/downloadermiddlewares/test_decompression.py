"""Compressed answers: opened, marked where they break off, never guessed at."""

from __future__ import annotations

import gzip
import zlib

import pytest
from scrapy import Request
from scrapy.http import HtmlResponse, Response, TextResponse
from scrapy.utils.test import get_crawler

from crawler.downloadermiddlewares.limits import (
    FALSE_CODING,
    STREAM_CUT,
    Decompression,
    decompressed,
    why_unopened,
)

URL = "http://example.org/"
PAGE = b"<!DOCTYPE html><title>Page</title>" + bytes(range(32, 127)) * 90
PACKED = gzip.compress(PAGE, mtime=0)


def opened(
    body: bytes, encoding: str = "gzip", method: str = "GET", kind: type[Response] = HtmlResponse
) -> Response:
    headers = {"Content-Encoding": encoding, "Content-Type": "text/html"}
    middleware = Decompression.from_crawler(get_crawler())
    request = Request(URL, method=method)
    response = middleware.process_response(request, kind(URL, headers=headers, body=body))
    assert isinstance(response, Response)
    return response


@pytest.mark.parametrize(
    ("body", "encoding"),
    [
        (PACKED, "gzip"),
        (PACKED, "X-GZIP"),
        (gzip.compress(PAGE[:50], mtime=0) + gzip.compress(PAGE[50:], mtime=0), "gzip"),
        (PACKED + bytes(512), "gzip"),
        (PACKED + b"<!-- 0.2 s -->", "gzip"),
        (zlib.compress(PAGE), "deflate"),
        (zlib.compress(PAGE)[2:-4], "deflate"),
        (zlib.compress(PACKED), "gzip, deflate"),
    ],
)
def test_whole_stream_is_opened(body: bytes, encoding: str) -> None:
    response = opened(body, encoding)
    assert response.body == PAGE
    assert response.flags == []
    assert b"Content-Encoding" not in response.headers
    assert isinstance(response, TextResponse)


@pytest.mark.parametrize(
    ("name", "kind", "is_file"),
    [
        ("a.tar.gz", "application/x-tar", True),
        ("a.TGZ", "application/x-gzip; x=y", True),
        ("a.txt.gz", "text/plain", False),
        ("a.pdf.gz", "application/pdf", False),
        ("a.tar", "application/x-tar", False),
    ],
)
def test_coding_of_a_file_is_left_where_its_name_has_it(
    name: str, kind: str, *, is_file: bool
) -> None:
    headers = {"Content-Encoding": "gzip", "Content-Type": kind}
    response = Response(URL + name, headers=headers, body=PACKED)
    found = decompressed(response, 2**20)
    assert found.body == (PACKED if is_file else PAGE)
    assert b"Content-Encoding" not in found.headers


def test_coding_on_top_of_a_packed_file_is_opened() -> None:
    headers = {"Content-Encoding": "gzip", "Content-Type": "application/gzip"}
    response = Response(f"{URL}a.gz", headers=headers, body=gzip.compress(PACKED))
    assert decompressed(response, 2**20).body == PACKED


@pytest.mark.parametrize("missing", [1, 4, 8, 9, 40])
def test_stream_that_breaks_off_gives_what_it_has_and_is_marked(missing: int) -> None:
    response = opened(PACKED[:-missing])
    assert PAGE.startswith(response.body[:100])
    assert response.flags == [STREAM_CUT]


def test_second_member_that_breaks_off_is_noticed() -> None:
    response = opened(gzip.compress(PAGE) + PACKED[:-9])
    assert response.body.startswith(PAGE)
    assert response.flags == [STREAM_CUT]


def test_wrong_checksum_is_noticed() -> None:
    response = opened(PACKED[:-8] + bytes(8))
    assert response.flags == [STREAM_CUT]


@pytest.mark.parametrize("kind", [Response, HtmlResponse])
def test_what_is_no_gzip_is_left_as_it_came(kind: type[Response]) -> None:
    response = opened(PAGE, kind=kind)
    assert response.body == PAGE
    assert response.flags == [FALSE_CODING]
    assert b"Content-Encoding" not in response.headers
    assert isinstance(response, HtmlResponse)


@pytest.mark.parametrize(
    ("body", "encoding"),
    [
        (b"\x1f\x8b\x08" + b"x" * 99, "gzip"),
        (PACKED[:20] + b"x" * 99, "gzip"),
        (b"no deflate\0", "deflate"),
        (b"no brotli\0", "br"),
        (b"\x28\xb5\x2f\xfdno zstd", "zstd"),
    ],
)
def test_damage_is_named(body: bytes, encoding: str) -> None:
    response = opened(body, encoding)
    assert str(why_unopened(response)).startswith(f"damaged {encoding}: ")
    assert response.body == body


@pytest.mark.parametrize("body", [b"", PAGE])
def test_what_is_not_compressed_passes(body: bytes) -> None:
    response = opened(body, "identity")
    assert response.body == body
    assert response.flags == []


def test_empty_body_is_empty() -> None:
    assert opened(b"").body == b""
    assert opened(b"").flags == []


def test_answer_to_head_is_left_alone() -> None:
    response = opened(b"", method="HEAD")
    assert response.headers[b"Content-Encoding"] == b"gzip"
