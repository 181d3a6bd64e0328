"""Request a page once more where a trial of a fixed rule found another one under its variant.

A page that is another one at each request says nothing about the rule. The answer is compared and
not stored, as that of a probe.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import CloseSpider

from crawler.pages.stored_texts import unpack_judged
from crawler.reading.worker_pool import ReadingError
from crawler.request_meta import CONTROL
from crawler.spiders.page_spider import PageSpider
from neardup.fingerprints.digest import payload_digest

if TYPE_CHECKING:
    from scrapy.http import Response
    from twisted.python.failure import Failure

    from crawler.reading.reading import Extract, Reading


class ControllingSpider(PageSpider):
    """Captures pages, and fetches one again that tells whether a fixed rule is wrong."""

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
