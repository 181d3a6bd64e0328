"""Adapt to Scrapy and Twisted what bounds the bytes of a second and the hours of a crawl."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.utils.asyncio import create_looping_call

from crawler.console.crawl_run import duration_words
from crawler.console.escaping import say
from crawler.job_registry import CrawlerComponent, job_of
from crawler.options import Options

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from twisted.internet.base import DelayedCall

    from crawler.downloading.pace import TransferRate

_LOOK_SECS = 1.0
"""Look at the clock so often."""


class PacedConnection:
    """Stops reading from a connection until the bytes that came are paid for with time.

    The time of an answer as a whole is no measure of a server any more, so a connection is given up
    on which nothing comes for long though it is read.

    Args:
        protocol: The protocol of Twisted's client; two of its methods are replaced.
        rate: The rate of all connections.
        idle_secs: Give an answer up after so many seconds without a byte.
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


class OpenHours(CrawlerComponent):
    """Requests nothing outside of the hours of ``--hours``, and goes on within them."""

    def __init__(self, crawler: Crawler) -> None:
        if not Options(crawler.settings).boolean("NEARDUP_ENABLED"):
            raise NotConfigured("NEARDUP_ENABLED is False")
        self._crawler = crawler
        self._job = job_of(crawler)
        self._loop: Any = create_looping_call(self._look)
        crawler.signals.connect(self._opened, signals.spider_opened)
        crawler.signals.connect(self._closed, signals.spider_closed)

    def _opened(self) -> None:
        if self._job.run.hours is not None:
            self._loop.start(_LOOK_SECS)

    def _closed(self) -> None:
        if self._loop.running:
            self._loop.stop()

    def _look(self) -> None:
        engine, hours = self._crawler.engine, self._job.run.hours
        assert engine is not None
        assert hours is not None
        now = datetime.now().astimezone()
        is_open, is_ending = hours.is_open(now), self._job.result.limit_reason is not None
        if engine.paused and (is_open or is_ending):  # at its limit it goes on to its end
            engine.unpause()
            if is_open:
                say(f"{now:%H:%M}: within --hours {hours.written}, goes on", to_stderr=True)
        elif not engine.paused and not is_open and not is_ending:
            engine.pause()
            wait = duration_words(hours.secs_until_open(now))
            say(
                f"{now:%H:%M}: outside of --hours {hours.written}, pauses for {wait}; Ctrl-C ends "
                "it, and the same command goes on",
                to_stderr=True,
            )
