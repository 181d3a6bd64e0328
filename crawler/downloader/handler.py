"""Save time in Scrapy's downloader; bound idle connections, and the bytes of a second.

Twisted keeps a connection for four minutes after its last answer, a few for each host. A crawl of
more hosts than a process may have files open would come to that limit: every further connection
would fail, and so would robots.txt.
"""

from __future__ import annotations

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

from crawler.downloader.heads import ExchangeHeads, HeadKeeper, HeadWatch
from crawler.downloader.large_bodies import DATA_LOSS, EndlessAnswerError, LargeBodies
from crawler.lean_parts import HeardSignals
from crawler.options import Options
from crawler.request_meta import DONT_CACHE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scrapy import Request
    from scrapy.crawler import Crawler
    from twisted.internet.base import DelayedCall

    from crawler.downloading.pace import TransferRate


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


class PacedConnection:
    """Stops reading from a connection until the bytes that came are paid for with time.

    The time of an answer as a whole is no measure of a server any more, so a connection is given up
    on which nothing comes for long though it is read.

    Args:
        protocol: The protocol of Twisted's client; two of its methods are replaced.
        rate: The rate of all connections.
        idle_secs: Give an answer up after this many seconds without a byte.
    """

    def __init__(self, protocol: Any, rate: TransferRate, idle_secs: float) -> None:
        self._protocol = protocol
        self._rate = rate
        self._idle_secs = idle_secs
        self._resuming: DelayedCall | None = None
        self._ending: DelayedCall | None = None
        self._request, self._receive = protocol.request, protocol.dataReceived
        self._lose = protocol.connectionLost
        protocol.request, protocol.dataReceived = self.request, self.receive
        protocol.connectionLost = self.lose

    def request(self, request: Any) -> Any:
        if self._resuming is None:  # else it is read, and expected, when its time comes
            self._expect()
        return self._request(request)

    def receive(self, data: bytes) -> None:
        """Pass data on, and read no more until that may be."""
        self._receive(data)
        wait = self._rate.take(len(data))
        if self._protocol.transport is None or not self._protocol.transport.connected:
            return
        self._protocol.transport.pauseProducing()
        self._forget()
        self._resuming = _later(wait, self._resume)

    def lose(self, *reason: Any) -> None:
        self._forget()
        self._lose(*reason)

    def _resume(self) -> None:
        self._resuming = None
        wait = self._rate.secs_to_wait()
        if wait > 0:  # others have read meanwhile
            self._resuming = _later(wait, self._resume)
            return
        self._expect()
        self._protocol.transport.resumeProducing()

    def _expect(self) -> None:
        """Wait for further bytes of an answer."""
        self._forget()
        self._ending = _later(self._idle_secs, self._give_up)

    def _give_up(self) -> None:
        self._ending = None
        if self._protocol.state != "QUIESCENT":  # between two requests nothing is to come
            self._protocol.transport.abortConnection()

    def _forget(self) -> None:
        for call in (self._resuming, self._ending):
            if call is not None and call.active():
                call.cancel()
        self._resuming = self._ending = None


def _later(secs: float, act: Any) -> DelayedCall:
    from twisted.internet import reactor  # noqa: PLC0415  # the one that is installed by then

    loop: Any = reactor
    call: DelayedCall = loop.callLater(secs, act)
    return call
