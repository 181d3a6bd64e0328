"""Keep the head of each answer as the server sent it, until the answer is recorded.

The headers of Scrapy's responses have names in a spelling of its own, those of one name side by
side, and those of the connection left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from scrapy import signals

from crawler.downloading.received_head import ReceivedHead, received_head

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

_heads: WeakKeyDictionary[Crawler, ReceivedHeads] = WeakKeyDictionary()


class ReceivedHeads:
    """Joins heads, which come from connections, to requests.

    A connection knows no request of Scrapy. It calls ``note`` when Twisted's response is there,
    and Scrapy sends the signal ``headers_received`` with the request before anything else happens.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._last: bytes | None = None
        self._of_requests: WeakKeyDictionary[Request, bytes] = WeakKeyDictionary()
        crawler.signals.connect(self._keep, signals.headers_received)

    def note(self, data: bytes) -> None:
        """Take the first bytes of an answer whose response is about to be announced."""
        self._last = data

    def _keep(self, request: Request) -> None:
        if self._last is not None:
            self._of_requests[request] = self._last
            self._last = None

    def take(self, request: Request) -> ReceivedHead | None:
        """Return the head of a request's answer once; None if another handler fetched it."""
        data = self._of_requests.pop(request, None)
        return None if data is None else received_head(data)


def received_heads_of(crawler: Crawler) -> ReceivedHeads:
    """Return the heads of a crawl, for its handlers of http and https alike."""
    heads = _heads.get(crawler)
    if heads is None:
        heads = _heads[crawler] = ReceivedHeads(crawler)
    return heads
