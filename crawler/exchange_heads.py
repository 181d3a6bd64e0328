"""Keep the heads of each exchange as they crossed the connection, until it is recorded.

The headers of Scrapy's requests and responses have names in a spelling of its own, those of one
name side by side, and those of the connection left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

from scrapy import signals

from crawler.downloading.message_head import Head, read_head
from crawler.job_registry import SharedByComponents

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

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

    def take(self, request: Request) -> tuple[Head | None, Head | None, TlsFacts | None]:
        """Return once: the head of a request, that of its answer, and the facts of TLS.

        Each is None if another handler fetched it.
        """
        crossed = self._of_requests.pop(request, None)
        if crossed is None:
            return None, None, None
        return read_head(crossed.sent), read_head(crossed.received), crossed.tls
