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

    from crawler.reading.reading import Extract


class ControllingSpider(PageSpider):
    """Captures pages, and fetches one again that tells whether a fixed rule is wrong."""

    async def parse_control(self, response: Response) -> None:
        """Compare the page with what it was."""
        fixed, key = self.job.url_rules.fixed, bytes.fromhex(response.meta[CONTROL])
        digest = payload_digest(response.body)
        if fixed.note_control(key, digest):
            return
        content_type = (response.headers.get(b"Content-Type") or b"").decode("latin-1")
        try:
            reading = await self.archivist.pool.read(
                response.url, response.body, content_type, known=unknown
            )
        except ReadingError as error:
            self.result.stop(str(error))
            raise CloseSpider("reading") from error
        extract = reading.extract
        fixed.note_control(key, digest, "" if extract is None else unpack_judged(extract.text_zstd))

    def control_failed(self, failure: Failure) -> None:
        """Note that there was no answer to compare."""
        request = failure.request  # type: ignore[attr-defined]  # Scrapy puts it there
        self.job.url_rules.fixed.note_control(bytes.fromhex(request.meta[CONTROL]), None)


def unknown(visible_digest: bytes) -> Extract | None:
    """Let an answer be read whether or not its text is stored."""
    return None
