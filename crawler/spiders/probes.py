"""Ask for answers that are compared and not stored.

A host is asked for a URL that cannot exist where one text answers at several of its URLs, once a
visit, by a request that waits in the queue as any other does, obeys robots.txt and the scope, and
counts as no page (``crawler.pages.walls``). A page is asked for once more where a trial of a fixed
rule found another one under its variant: one that is another one at each request says nothing
about the rule.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.exceptions import CloseSpider
from scrapy.spidermiddlewares.httperror import HttpError

from crawler.pages.stored_texts import unpack_judged
from crawler.reading.worker_pool import ReadingError
from crawler.request_meta import CONTROL, FIXED
from crawler.spiders.page_spider import PageSpider
from crawler.storage.errors import CrawlStorageError
from neardup.fingerprints.digest import payload_digest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from scrapy.http import Response
    from twisted.python.failure import Failure

    from crawler.reading.reading import Extract, Reading, WallSigns


_NO_SUCH_PAGE = frozenset(range(400, 500)) - {408, 425, 429}
"""Statuses of the class "client error", without those that ask for another try."""


class ProbingSpider(PageSpider):
    """Captures pages, probes hosts that answer unknown URLs with a page, and controls trials."""

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
        try:
            self.archivist.walls.note_probe((*urls, request.url)[0], signs, self.archivist.tuned.id)
        except CrawlStorageError as error:
            self.result.stop(str(error))
            raise CloseSpider("storage") from error

    async def parse_control(self, response: Response) -> None:
        """Compare the page with what it was."""
        fixed, key = self.job.url_rules.fixed, bytes.fromhex(response.meta[CONTROL])
        if fixed.note_control(key, self.fetched_of(response).payload_digest):
            return
        extract = (await self.read_apart(response)).extract
        text = "" if extract is None else unpack_judged(extract.text_zstd)
        fixed.note_control(key, payload_digest(response.body), text)

    async def read_apart(self, response: Response) -> Reading:
        """Read an answer that is compared and not stored."""
        content_type = (response.headers.get(b"Content-Type") or b"").decode("latin-1")
        try:
            return await self.archivist.pool.read(
                response.url, response.body, content_type, known=_unknown
            )
        except ReadingError as error:
            self.result.stop(str(error))
            raise CloseSpider("reading") from error

    def control_failed(self, failure: Failure) -> None:
        """Note that there was no answer to compare."""
        request = failure.request  # type: ignore[attr-defined]  # Scrapy puts it there
        self.job.url_rules.fixed.note_control(bytes.fromhex(request.meta[CONTROL]), None)


def _unknown(visible_digest: bytes) -> Extract | None:
    """Let an answer be read whether or not its text is stored."""
    return None
