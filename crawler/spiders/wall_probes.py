"""Ask a host for a URL that cannot exist, where one text answers at several of its URLs.

A host is asked once a visit, by a request that waits in the queue as any other does, obeys
robots.txt and the scope, and counts as no page. ``crawler.pages.walls`` compares the answer.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.spidermiddlewares.httperror import HttpError

from crawler.request_meta import FIXED
from crawler.spiders.trial_controls import ControllingSpider

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from scrapy.http import Response
    from twisted.python.failure import Failure

    from crawler.reading.reading import WallSigns


_NO_SUCH_PAGE = frozenset(range(400, 500)) - {408, 425, 429}
"""Statuses of the class "client error", without those that ask for another try."""


class ProbingSpider(ControllingSpider):
    """Captures pages, and probes hosts that seem to answer unknown URLs with a page."""

    async def parse(self, response: Response) -> Iterable[Any]:
        return chain(await super().parse(response), self._probes(response))

    def _probes(self, response: Response) -> Iterator[Request]:
        url = self.archivist.walls.wanted_probe(response.url, self._may_probe)
        if url is not None:
            yield Request(
                url, callback=self.parse_probe, errback=self.probe_failed, meta={FIXED: True}
            )

    def _may_probe(self, url: str) -> bool:
        return self.job.run.may_ask(url, {})

    async def parse_probe(self, response: Response) -> None:
        """Store the text that a host answers with."""
        reading = await self.read_apart(response)
        self._note_probe(response.request or Request(response.url), reading.signs)

    def probe_failed(self, failure: Failure) -> None:
        """Store that a host says of a URL that it does not exist, as it should.

        Any other failure may be gone in a moment, and says nothing: no answer is stored.
        """
        error = failure.value
        if isinstance(error, HttpError) and error.response.status in _NO_SUCH_PAGE:
            self._note_probe(failure.request, None)  # type: ignore[attr-defined]  # Scrapy puts it there

    def _note_probe(self, request: Request, signs: WallSigns | None) -> None:
        urls = request.meta.get("redirect_urls", ())
        with self.closing:
            self.archivist.walls.note_probe((*urls, request.url)[0], signs)
