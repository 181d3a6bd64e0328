"""Extend Scrapy's handler of http and https with a bound on the head of an answer.

Scrapy bounds the time of an answer as a whole (``DOWNLOAD_TIMEOUT``) and the
bytes of its body (``DOWNLOAD_MAXSIZE``), Twisted the length of a header's line;
neither bounds the number of lines.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler

from crawler.downloading.encodings import HeadTooLargeError
from crawler.options import Options

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.crawler import Crawler
    from twisted.internet.defer import Deferred


class BoundedHeadHandler(HTTP11DownloadHandler):
    """Gives an answer up whose head is larger than ``CRAWL_MAX_HEADER_BYTES``.

    Connections are made by ``_pool._factory``. It is private to Twisted, so
    the handler looks for it at the start, and the crawl fails where it is missing.

    Raises:
        RuntimeError: This version of Scrapy or Twisted makes connections otherwise.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        limit = Options(crawler.settings).integer("CRAWL_MAX_HEADER_BYTES")
        original = getattr(getattr(self, "_pool", None), "_factory", None)
        if original is None:
            raise RuntimeError(
                "this version of Scrapy keeps no _pool._factory, by which connections are watched; "
                "use another version, or leave http and https out of DOWNLOAD_HANDLERS"
            )
        self._pool._factory = _watched(original, limit)  # type: ignore[assignment]  # a callable does


def _watched(original: Callable[..., Any], limit: int) -> Callable[..., Any]:
    def make(*arguments: Any) -> Any:
        factory = original(*arguments)
        build = factory.buildProtocol

        def build_watched(address: Any) -> Any:
            protocol = build(address)
            HeadWatch(protocol, limit)
            return protocol

        factory.buildProtocol = build_watched
        return factory

    return make


class HeadWatch:
    """Counts the bytes of a connection between a request and the end of its answer's head.

    Args:
        protocol: The protocol of Twisted's client; its two methods are replaced.
        limit: Bytes after which the connection is aborted.
    """

    def __init__(self, protocol: Any, limit: int) -> None:
        self._protocol = protocol
        self._limit = limit
        self._count = 0
        self._is_in_head = False
        self._excess: str | None = None
        self._request, self._receive = protocol.request, protocol.dataReceived
        protocol.request, protocol.dataReceived = self.request, self.receive

    def request(self, request: Any) -> Deferred[Any]:
        self._count = 0
        self._is_in_head = True
        self._excess = None
        answered: Deferred[Any] = self._request(request)
        parser = getattr(self._protocol, "_parser", None)
        if parser is not None:
            parser.lineLengthExceeded = self._give_line_up
        return answered.addBoth(self._end)

    def receive(self, data: bytes) -> None:
        """Pass data on; abort the connection if the head is too large."""
        self._receive(data)
        if self._is_in_head:
            self._count += len(data)
            if self._count > self._limit:
                self._give_up(f"headers of more than {self._limit:,} bytes")

    def _give_line_up(self, line: bytes) -> None:
        self._give_up("a line of its headers is too long")

    def _give_up(self, excess: str) -> None:
        self._excess = self._excess or excess
        self._protocol.transport.abortConnection()

    def _end(self, result: Any) -> Any:
        self._is_in_head = False
        if self._excess is not None:
            raise HeadTooLargeError(self._excess)
        return result
