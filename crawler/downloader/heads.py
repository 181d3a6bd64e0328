"""Bound the heads of answers, read those that browsers read, and keep them to be recorded.

Scrapy bounds the time of an answer as a whole (``DOWNLOAD_TIMEOUT``) and the
bytes of its body (``DOWNLOAD_MAXSIZE``), Twisted the length of a header's line, to less than
browsers take; neither bounds the number of lines. Twisted takes any line for a trailer, and refuses
answers that browsers read: with a Content-Length that is no number, a Transfer-Encoding that names
no coding, a line without a colon, a space before that or after the size of a chunk, or an empty
line before the status.

The headers of Scrapy's requests and responses have names in a spelling of its own, those of one
name side by side, and those of the connection left out. So an exchange is recorded with its heads
as they crossed the connection.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

from scrapy import signals
from twisted.python.failure import Failure
from twisted.web._newclient import STATUS
from twisted.web.http import _ChunkedTransferDecoder, _MalformedChunkedDataError
from twisted.web.http_headers import InvalidHeaderName

from crawler.downloading.encodings import HeadTooLargeError
from crawler.downloading.message_head import MessageHead, read_head, tls_facts
from crawler.job_registry import SharedByComponents

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request
    from scrapy.crawler import Crawler
    from twisted.internet.defer import Deferred

    from crawler.downloading.message_head import TlsFacts


class Crossed(NamedTuple):
    """Heads of a request and its answer, and the handshake before them.

    Attributes:
        sent: Head of the request, as bytes.
        received: First bytes of the answer, at least its head.
        tls: What the handshake of the connection settled; None without TLS.
    """

    sent: bytes
    received: bytes
    tls: TlsFacts | None = None


class ExchangeHeads(SharedByComponents):
    """Joins heads, which come from connections, to requests.

    A connection knows no request of Scrapy. It calls ``note`` when Twisted's response is there,
    and Scrapy sends the signal ``headers_received`` with the request before anything else happens.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._last: Crossed | None = None
        self._of_requests: WeakKeyDictionary[Request, Crossed] = WeakKeyDictionary()
        crawler.signals.connect(self._keep, signals.headers_received)

    def note(self, crossed: Crossed) -> None:
        """Take the heads of an exchange whose response is about to be announced."""
        self._last = crossed

    def _keep(self, request: Request) -> None:
        if self._last is not None:
            self._of_requests[request] = self._last
            self._last = None

    def take(
        self, request: Request
    ) -> tuple[MessageHead | None, MessageHead | None, TlsFacts | None]:
        """Return once: the head of a request, that of its answer, and the facts of TLS.

        Each is None if another handler fetched it.
        """
        crossed = self._of_requests.pop(request, None)
        if crossed is None:
            return None, None, None
        return read_head(crossed.sent), read_head(crossed.received), crossed.tls


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
