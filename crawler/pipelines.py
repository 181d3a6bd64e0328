"""Drop duplicates, and judge the items of spiders that do not know this project."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.exceptions import DropItem, NotConfigured

from crawler.foreign_items import ForeignItems
from crawler.items import Page
from crawler.job_registry import CrawlerComponent, job_of
from crawler.options import Options
from crawler.pages.reasons import in_words
from crawler.pages.verdicts import CONTAINED, DUPLICATES, KEPT, UNCHANGED, WALLS

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


class DuplicatePage(DropItem):
    """The page is a duplicate; the message names the kept URL and the distance."""


class PageNotKept(DropItem):
    """The page is no duplicate and yet not kept: unchanged, unreadable, not HTML ..."""


class NearDuplicatesPipeline(CrawlerComponent):
    """Passes items whose text is kept, and drops the others.

    ``Page`` items of our spiders carry their verdict. For items of other
    spiders it is obtained here, and they are dropped only if their content
    is stored already, as another page or at this one's last visit: an item that
    cannot be read, or holds no text, passes.
    """

    def __init__(self, crawler: Crawler) -> None:
        if not Options(crawler.settings).boolean("NEARDUP_ENABLED"):
            raise NotConfigured("NEARDUP_ENABLED is False")
        self._foreign = ForeignItems.of(crawler)
        self._job = job_of(crawler)

    async def process_item(self, item: Any) -> Any:
        """Return the item, or drop it.

        Raises:
            DuplicatePage: Its text is kept already.
            PageNotKept: There is nothing to keep.
        """
        if isinstance(item, Page):
            _check(item.verdict, item.url, item.duplicate_of, item.distance, item.reason)
            return item
        captured = await self._foreign.captured(item)
        if captured is None or captured.verdict not in DUPLICATES | WALLS | {UNCHANGED}:
            return item
        row, verdict = captured.row, captured.verdict
        # A process that was killed may have judged it, and not have written it to a feed.
        if row.words and not (captured.is_again and verdict == UNCHANGED):
            _check(verdict, row.url, captured.kept_url, row.distance, in_words(row.reason))
        return item


def _check(
    verdict: str, url: str, kept_url: str | None, distance: int | None, reason: str | None
) -> None:
    if verdict in DUPLICATES:
        said = "contained in" if verdict == CONTAINED else f"{verdict} of"
        nearness = "" if distance is None else f" at distance {distance}"
        raise DuplicatePage(f"{said} {kept_url}{nearness}: {url}", log_level="DEBUG")
    if verdict not in KEPT:
        why = f" ({reason})" if reason else ""
        raise PageNotKept(f"{verdict}{why}: {url}", log_level="DEBUG")
