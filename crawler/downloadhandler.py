"""Save time in Scrapy's downloader; bound the heads of answers, and idle connections.

Scrapy bounds the time of an answer as a whole (``DOWNLOAD_TIMEOUT``) and the
bytes of its body (``DOWNLOAD_MAXSIZE``), Twisted the length of a header's line, to less than
browsers take; neither bounds the number of lines. Twisted takes any line for a trailer, and refuses
answers that browsers read: with a Content-Length that is no number, a Transfer-Encoding that names
no coding, a line without a colon, a space before that or after the size of a chunk, or an empty
line before the status.

Twisted keeps a connection for four minutes after its last answer, a few for each host. A crawl of
more hosts than a process may have files open would come to that limit: every further connection
would fail, and so would robots.txt.
"""

from __future__ import annotations

import re
import resource
from collections import deque
from functools import partial
from http import HTTPStatus
from types import MethodType
from typing import TYPE_CHECKING, Any

from scrapy.core.downloader import Downloader
from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from scrapy.exceptions import DownloadTimeoutError
from scrapy.http import Response
from scrapy.utils.defer import ensure_awaitable
from twisted.python.failure import Failure
from twisted.web._newclient import STATUS
from twisted.web.http import _ChunkedTransferDecoder, _MalformedChunkedDataError
from twisted.web.http_headers import InvalidHeaderName

from crawler.downloading.encodings import HeadTooLargeError
from crawler.downloading.message_head import tls_facts
from crawler.exchange_heads import Crossed, ExchangeHeads
from crawler.large_bodies import DATA_LOSS, EndlessAnswerError, LargeBodies
from crawler.lean_parts import HeardSignals
from crawler.options import Options
from crawler.pacing import PacedConnection
from crawler.request_meta import DONT_CACHE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scrapy import Request
    from scrapy.crawler import Crawler
    from twisted.internet.defer import Deferred

    from crawler.downloading.message_head import TlsFacts


MAX_IDLE = 500
"""Keep at most this many connections that wait for a next request, of all hosts together."""

_YEAR_SECS = 365 * 86_400.0

_SHARE_OF_FILES = 4
"""Let idle connections take at most one in this many of the files that a process may open."""


class PlainDownloader(Downloader):
    """Scrapy's downloader with one middleware for all: it makes coroutines of what each returns."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._asked = self._joined("process_request", self._process_request)
        self._answered = self._joined("process_response", self._process_response)
        crawler.signals.__class__ = HeardSignals  # the engine has them already

    def _joined(self, name: str, joined: Callable[..., Any]) -> list[Any]:
        """Let one function stand for all methods of this name; return these."""
        manager = self.middleware
        found, with_spider = manager.methods[name], manager._mw_methods_requiring_spider
        manager.methods[name] = deque([joined])
        handle = manager._handle_mw_method
        return [partial(handle, one) if one in with_spider else _bare(one) for one in found if one]

    async def _process_request(self, request: Request) -> Any:
        for method in self._asked:
            made = method(request=request)
            if made is not None and (made := await ensure_awaitable(made)) is not None:
                return made
        return None

    async def _process_response(self, request: Request, response: Any) -> Any:
        for method in self._answered:
            response = method(request=request, response=response)
            if not isinstance(response, Response):
                response = await ensure_awaitable(response)
                if not isinstance(response, Response):  # a request, or what Scrapy refuses
                    break
        return response


def _bare(method: Any) -> Any:
    """Return a method without Scrapy's search for a deprecated argument, which is never given."""
    code = getattr(method, "__code__", None)
    if code is None or code.co_qualname != "_warn_spider_arg.<locals>.sync_inner":
        return method
    return MethodType(method.__wrapped__, method.__self__)


class BoundedHeadHandler(HTTP11DownloadHandler):
    """Gives an answer up whose head is larger than ``CRAWL_MAX_HEADER_BYTES``.

    It closes the connections that have been idle for longest where there are too many.
    Connections are made by ``_pool._factory``. It is private to Twisted, so
    the handler looks for it at the start, and the crawl fails where it is missing.

    Raises:
        RuntimeError: This version of Scrapy or Twisted makes connections otherwise.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        options = Options(crawler.settings)
        limit = options.integer("CRAWL_MAX_HEADER_BYTES")
        self._bodies = LargeBodies.of(crawler)
        watch: Callable[[Any], HeadWatch]
        watch = partial(HeadWatch, limit=limit, deliver=self._bodies.deliver)
        if options.boolean("WARC_ENABLED"):
            watch = partial(
                HeadKeeper,
                limit=limit,
                heads=ExchangeHeads.of(crawler),
                with_tls=options.boolean("WARC_NETWORK"),
                deliver=self._bodies.deliver,
            )
        original = getattr(getattr(self, "_pool", None), "_factory", None)
        if original is None:
            raise RuntimeError(
                "this version of Scrapy keeps no _pool._factory, by which connections are watched; "
                "use another version, or leave http and https out of DOWNLOAD_HANDLERS"
            )
        watches: list[Callable[[Any], object]] = [watch]
        self._whole_secs: float | None = None
        rate = getattr(crawler.spider, "transfer_rate", None)
        if rate is not None:
            secs = crawler.settings.getfloat("DOWNLOAD_TIMEOUT")
            watches.append(partial(PacedConnection, rate=rate, idle_secs=secs))
            shares = crawler.settings.getint("CONCURRENT_REQUESTS")
            largest = crawler.settings.getint("DOWNLOAD_MAXSIZE")
            self._whole_secs = (
                secs + shares * largest / rate.bytes_per_sec if largest else _YEAR_SECS
            )
        self._pool._factory = _watched(original, watches)  # type: ignore[assignment]  # a callable does
        IdleConnections(self._pool, max_idle())

    async def download_request(self, request: Request) -> Response:
        """Download a request; a large body of which nothing is read goes to the disk."""
        if self._whole_secs is not None:
            # The largest file takes so long beside others, by the rate that the user wants.
            request.meta["download_timeout"] = self._whole_secs
        try:
            response = await self._downloaded(request)
        except BaseException:
            file = self._bodies.ended(request)
            if file is not None:
                file.release()
            raise
        if _is_of_one_request(request, response):
            request.meta[DONT_CACHE] = True
        return self._bodies.finished(request, response)

    async def _downloaded(self, request: Request) -> Response:
        try:
            return await super().download_request(request)
        except DownloadTimeoutError:
            response = self._bodies.timed_out(request)
            if response is not None:
                return response
            if request in self._bodies.begun:
                raise EndlessAnswerError from None
            raise


def _is_of_one_request(request: Request, response: Response) -> bool:
    """Return whether an answer is none to the next request of its URL.

    It is a part, which Scrapy's cache would give for a whole, or is about a version that the crawl
    has, and not the cache.
    """
    asked_by_cache = "cached_response" in request.meta
    is_part = DATA_LOSS in response.flags or response.status == HTTPStatus.PARTIAL_CONTENT
    return is_part or (response.status == HTTPStatus.NOT_MODIFIED and not asked_by_cache)


def max_idle() -> int:
    """Return how many connections may be idle in this process."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MAX_IDLE if soft == resource.RLIM_INFINITY else min(MAX_IDLE, soft // _SHARE_OF_FILES)


class IdleConnections:
    """Closes the connection of a pool that has been idle for longest where there are too many.

    Args:
        pool: Twisted's pool; its method that takes a connection back is replaced.
        most: Number of connections that may be idle.

    Raises:
        RuntimeError: This version of Twisted keeps idle connections otherwise.
    """

    def __init__(self, pool: Any, most: int) -> None:
        if not hasattr(pool, "_putConnection") or not hasattr(pool, "_timeouts"):
            raise RuntimeError(
                "this version of Twisted keeps no _putConnection and _timeouts in its pool, by "
                "which idle connections are bounded; use another version, or leave http and "
                "https out of DOWNLOAD_HANDLERS"
            )
        self._pool = pool
        self._most = most
        self._put = pool._putConnection
        pool._putConnection = self.put

    def put(self, key: Any, connection: Any) -> None:
        """Take a connection back. Complexity: O(connections of its host)."""
        self._put(key, connection)
        # A connection that is used leaves this dict: the first has been idle for longest.
        ends = self._pool._timeouts
        while len(ends) > self._most:
            self._close(ends[next(iter(ends))])

    def _close(self, end: Any) -> None:
        """Close a connection as the pool does at its end, but now."""
        close, arguments = end.func, end.args
        end.cancel()
        close(*arguments)


def _watched(
    original: Callable[..., Any], watches: Sequence[Callable[[Any], object]]
) -> Callable[..., Any]:
    def make(*arguments: Any) -> Any:
        factory = original(*arguments)
        build = factory.buildProtocol

        def build_watched(address: Any) -> Any:
            protocol = build(address)
            for watch in watches:
                watch(protocol)
            return protocol

        factory.buildProtocol = build_watched
        return factory

    return make


class CheckedChunks(_ChunkedTransferDecoder):
    """Decodes chunks; an answer breaks off at a line of its trailers that is no field.

    Something else was written there, such as the error of a server behind a proxy, and the chunks
    before it may not be all. Some servers pad the size of a chunk with spaces.
    """

    def _dataReceived_CHUNK_LENGTH(self) -> bool:  # noqa: N802 - the name is Twisted's
        end = self._buffer.find(b"\r\n", self._start)
        if end >= 0:
            size, mark, extension = self._buffer[:end].partition(b";")
            self._buffer[:end] = size.strip(b" \t") + mark + extension
            self._start = 0
        return super()._dataReceived_CHUNK_LENGTH()

    def _dataReceived_TRAILER(self) -> bool:  # noqa: N802 - the name is Twisted's
        goes_on = super()._dataReceived_TRAILER()
        if self._trailerHeaders and b":" not in self._trailerHeaders[-1]:
            raise _MalformedChunkedDataError("a line of the trailers is no field")
        return goes_on


_DECODERS = {b"chunked": CheckedChunks}
_MAX_LINE_BYTES = 65_536  # a cookie of 4 KiB for each of many applications on a host
_NUMBERS = re.compile(rb"[0-9]+(?:[ \t]*,[ \t]*[0-9]+)*")
_ENDS = frozenset({b"", b"\r"})
_FOLDS = frozenset({b" ", b"\t"})
_NO_CODINGS = frozenset({b"", b"identity"})


class ToleratedHead:
    """Has Twisted's parser read heads that browsers read as well.

    Args:
        parser: The parser of an answer; three of its methods are replaced.
        max_line_bytes: Bytes after which a line is too long.
        give_up: Called with a line that is.
    """

    def __init__(self, parser: Any, max_line_bytes: int, give_up: Callable[[bytes], None]) -> None:
        self._parser = parser
        self._line, self._header = parser.lineReceived, parser.headerReceived
        parser.lineReceived, parser.headerReceived = self.line, self.header
        parser.lineLengthExceeded = give_up
        parser.MAX_LENGTH = max_line_bytes

    def line(self, line: bytes) -> None:
        """Read a line, unless it is empty before a status, or no header among them."""
        if self._parser.state == STATUS:
            is_read = bool(line.strip())
        elif line[:1] in _FOLDS:
            is_read = self._parser._partialHeader is not None
        else:
            is_read = b":" in line or line in _ENDS
        if is_read:
            self._line(line)

    def header(self, name: bytes, value: bytes) -> None:
        """Read a header, unless it is one that nothing could be done with."""
        name = name.rstrip()
        match name.lower():
            case b"content-length" if not _NUMBERS.fullmatch(value):
                return  # the end of the connection is that of the body
            case b"transfer-encoding":
                codings = {each.strip().lower() for each in value.split(b",")} - _NO_CODINGS
                if not codings:
                    return
                value = b"chunked" if codings == {b"chunked"} else value
        try:
            self._header(name, value)
        except InvalidHeaderName:
            return


class HeadWatch:
    """Counts the bytes of a connection between a request and the end of its answer's head.

    Args:
        protocol: The protocol of Twisted's client; its two methods are replaced.
        limit: Bytes after which the connection is aborted.
        deliver: Called in place of ``deliverBody`` of each answer, with that and its argument.
    """

    def __init__(
        self, protocol: Any, limit: int, deliver: Callable[..., None] | None = None
    ) -> None:
        self._protocol = protocol
        self._limit = limit
        self._deliver = deliver
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
            ToleratedHead(parser, min(self._limit, _MAX_LINE_BYTES), self._give_line_up)
            parser._transferDecoders = _DECODERS
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
        if self._deliver is not None and not isinstance(result, Failure):
            result.deliverBody = partial(self._deliver, result.deliverBody)
        return result


class HeadKeeper(HeadWatch):
    """Notes the heads of each exchange as they crossed as well, for a crawl that is recorded.

    Args:
        protocol: The protocol of Twisted's client.
        limit: Bytes after which the connection is aborted.
        heads: Takes the heads.
        with_tls: Whether it also takes what the handshake settled.
        deliver: As of ``HeadWatch``.
    """

    def __init__(
        self,
        protocol: Any,
        limit: int,
        heads: ExchangeHeads,
        *,
        with_tls: bool = False,
        deliver: Callable[..., None] | None = None,
    ) -> None:
        super().__init__(protocol, limit, deliver)
        self._heads = heads
        self._with_tls = with_tls
        self._tls: TlsFacts | None = None
        self._sent: list[bytes] = []
        self._data = b""

    def request(self, request: Any) -> Deferred[Any]:
        self._data = b""
        self._sent = []
        write = request.writeTo
        request.writeTo = lambda transport: write(_HeadCopy(transport, self._sent))
        return super().request(request)

    def receive(self, data: bytes) -> None:
        if self._is_in_head:  # the head may end in these bytes, and the response be announced
            self._data += data
        super().receive(data)

    def _end(self, result: Any) -> Any:
        result = super()._end(result)
        if not isinstance(result, Failure):
            if self._with_tls and self._tls is None:
                self._tls = tls_facts(self._protocol.transport)
            self._heads.note(Crossed(b"".join(self._sent), self._data, self._tls))
        self._data = b""
        return result


class _HeadCopy:
    """A transport that copies what is written as a sequence, as Twisted writes a head."""

    def __init__(self, transport: Any, copy: list[bytes]) -> None:
        self._transport = transport
        self._copy = copy

    def writeSequence(self, lines: list[bytes]) -> None:  # noqa: N802 - the name is Twisted's
        self._copy.extend(lines)
        self._transport.writeSequence(lines)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)
