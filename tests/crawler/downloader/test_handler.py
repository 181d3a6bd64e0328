from __future__ import annotations

import resource
from contextlib import nullcontext
from typing import Any, cast

import pytest
from scrapy import Request as ScrapyRequest
from scrapy import signals
from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from scrapy.utils.test import get_crawler
from twisted.internet.protocol import Protocol
from twisted.internet.testing import StringTransport
from twisted.web._newclient import HTTP11ClientProtocol, Request
from twisted.web.http import _MalformedChunkedDataError
from twisted.web.http_headers import Headers

from crawler.downloader.handler import (
    MAX_IDLE,
    BoundedHeadHandler,
    IdleConnections,
    max_idle,
)
from crawler.downloader.heads import CheckedChunks, ExchangeHeads, HeadKeeper, HeadWatch
from crawler.downloading.encodings import HeadTooLargeError

HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n"


class Connection:
    """Twisted's client on a transport of memory, watched."""

    def __init__(self, limit: int = 100, heads: ExchangeHeads | None = None) -> None:
        # Twisted has no types here.
        self.transport: Any = cast("Any", StringTransport)()
        self.protocol: Any = cast("Any", HTTP11ClientProtocol)()
        if heads is None:
            HeadWatch(self.protocol, limit)
        else:
            HeadKeeper(self.protocol, limit, heads)
        self.protocol.makeConnection(self.transport)

    def ask(self, *pieces: bytes) -> Any:
        """The answer that these pieces make, or the error."""
        found: list[Any] = []
        headers = Headers({b"host": [b"x"]})
        request = cast("Any", Request)(b"GET", b"/", headers, None, persistent=True)
        answered = self.protocol.request(request)
        answered.addCallbacks(found.append, lambda failure: found.append(failure.value))
        for piece in pieces:
            self.protocol.dataReceived(piece)
        if self.transport.disconnecting or self.transport.disconnected:
            self.protocol.connectionLost(None)
        return found[0] if found else None


def test_head_within_the_limit_passes_whatever_the_body() -> None:
    answer = Connection().ask(HEAD, b"\r\n", b"body")
    assert answer.code == 200


@pytest.mark.parametrize(
    "length",
    [b"Content-Length: none", b"Content-Length: -4", b"Content-Length:", b"A B: 1", b": 1"],
)
def test_header_that_says_nothing_is_left_out(length: bytes) -> None:
    found: list[bytes] = []
    connection = Connection()
    answer = connection.ask(b"HTTP/1.1 200 OK\r\n" + length + b"\r\n\r\n")
    body = cast("Any", Protocol)()
    body.dataReceived = found.append
    answer.deliverBody(body)
    connection.protocol.dataReceived(b"body")
    assert (answer.code, found) == (200, [b"body"])


@pytest.mark.parametrize(
    "head",
    [
        b"\r\n" + HEAD,
        b"HTTP/1.1 103 Early Hints\r\n\r\n\r\n" + HEAD,
        HEAD + b"no header\r\nA: b\r\n",
        HEAD.replace(b"OK\r\n", b"OK\r\n folded\r\n \r\n"),
        HEAD + b"Transfer-Encoding: identity\r\n",
        HEAD + b"Transfer-Encoding:\r\n",
        HEAD.replace(b":", b" :"),
        HEAD.replace(b"4", b"4, 4"),
        HEAD + b"X: " + b"x" * 50_000 + b"\r\n",
    ],
)
def test_heads_are_read_as_browsers_read_them(head: bytes) -> None:
    answer = Connection(limit=100_000).ask(head + b"\r\n")
    assert (answer.code, answer.length) == (200, 4)


@pytest.mark.parametrize("coding", [b"Chunked, chunked", b"identity,chunked ", b" chunked"])
def test_chunks_are_read_whatever_else_is_named(coding: bytes) -> None:
    found: list[bytes] = []
    connection = Connection()
    answer = connection.ask(b"HTTP/1.1 200 OK\r\nTransfer-Encoding:" + coding + b"\r\n\r\n")
    body = cast("Any", Protocol)()
    body.dataReceived = found.append
    answer.deliverBody(body)
    connection.protocol.dataReceived(b"4\r\nbody\r\n0\r\n\r\n")
    assert found == [b"body"]


def test_every_answer_of_a_connection_is_counted_anew() -> None:
    connection = Connection(limit=len(HEAD) + 8)
    for _ in range(5):
        answer = connection.ask(HEAD, b"\r\n")
        assert answer.code == 200
        answer.deliverBody(cast("Any", Protocol)())
        connection.protocol.dataReceived(b"body")


def test_heads_are_kept_for_the_request_that_scrapy_announces() -> None:
    crawler = get_crawler()
    heads = ExchangeHeads.of(crawler)
    connection = Connection(heads=heads)
    asked = [ScrapyRequest(f"http://x/{number}") for number in range(3)]
    for number, request in enumerate(asked[:2]):
        answer = connection.ask(b"HTTP/1.1 200 N%d\r\ncontent-" % number, b"LENGTH: 0\r\n\r\n")
        assert answer.code == 200
        # Scrapy sends it in the callback of the response.
        crawler.signals.send_catch_log(signals.headers_received, request=request)
    # Another handler announces its response, without a head of ours.
    crawler.signals.send_catch_log(signals.headers_received, request=asked[2])
    taken = [heads.take(request) for request in asked]
    assert [received and received.first_line for _, received, _ in taken] == [
        b"HTTP/1.1 200 N0", b"HTTP/1.1 200 N1", None
    ]  # fmt: skip
    sent, received, tls = taken[0]
    assert received is not None
    assert received.headers == ((b"content-LENGTH", b"0"),)
    assert sent == (b"GET / HTTP/1.1", ((b"Host", b"x"),))
    assert tls is None
    assert heads.take(asked[0]) == (None, None, None)


def test_heads_of_an_answer_that_was_given_up_are_not_kept() -> None:
    crawler = get_crawler()
    heads = ExchangeHeads.of(crawler)
    Connection(heads=heads).ask(HEAD, b"X-Long: x\r\n" * 20)
    request = ScrapyRequest("http://x/")
    crawler.signals.send_catch_log(signals.headers_received, request=request)
    assert heads.take(request) == (None, None, None)


def test_crawl_fails_where_connections_cannot_be_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(HTTP11DownloadHandler, "__init__", lambda self, crawler: None)
    with pytest.raises(RuntimeError, match=r"keeps no _pool\._factory"):
        BoundedHeadHandler(get_crawler())


def test_an_error_says_what_was_too_much() -> None:
    assert isinstance(Connection().ask(HEAD, b"X-Long: x\r\n" * 20), HeadTooLargeError)


def test_crawl_fails_where_idle_connections_cannot_be_bounded() -> None:
    with pytest.raises(RuntimeError, match="keeps no _putConnection"):
        IdleConnections(object(), 1)


@pytest.mark.parametrize(("files", "most"), [(200, 50), (1024, 256), (4_000, MAX_IDLE)])
def test_idle_connections_leave_files_for_the_others(files: int, most: int) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and files > hard:
        pytest.skip(f"this process may not open {files:,} files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, hard))
    try:
        assert max_idle() == most
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.parametrize("size", [b"3", b"0003  ", b" 3 ;a=b", b'3;a="b;c"', b"3\t"])
def test_size_of_a_chunk_may_be_padded(size: bytes) -> None:
    found: list[bytes] = []
    chunks = CheckedChunks(found.append, lambda _: found.append(b"over"))
    whole = size + b"\r\nabc\r\n" + b"0 \r\n\r\n"
    for at in range(len(whole)):
        chunks.dataReceived(whole[at : at + 1])
    assert b"".join(found) == b"abcover"


@pytest.mark.parametrize(
    ("trailers", "is_whole"),
    [(b"", True), (b"X-Sum: 1\r\n", True), (b"Fatal error\r\n", False), (b"A: 1\r\nB\r\n", False)],
)
def test_answer_breaks_off_at_a_trailer_that_is_no_field(trailers: bytes, is_whole: bool) -> None:
    found: list[bytes] = []
    chunks = CheckedChunks(found.append, lambda _: found.append(b"over"))
    with nullcontext() if is_whole else pytest.raises(_MalformedChunkedDataError):
        chunks.dataReceived(b"3\r\nabc\r\n0\r\n" + trailers + b"\r\n")
    assert (found == [b"abc", b"over"]) == is_whole
