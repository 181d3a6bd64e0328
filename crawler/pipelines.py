"""Drop duplicates, and judge the items of spiders that do not know this project.

Such items are recognised by their fields.
"""

from __future__ import annotations

import logging
import weakref
from collections import OrderedDict, deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import xxhash
from scrapy import signals
from scrapy.exceptions import DropItem

from crawler.job_registry import CrawlerComponent, SharedByComponents, job_of
from crawler.options import Options
from crawler.pages.items import Page
from crawler.pages.page_context import Captured, Fetched
from crawler.pages.reasons import in_words
from crawler.pages.verdicts import CONTAINED, DUPLICATES, KEPT, UNCHANGED, WALLS
from neardup.fingerprints.digest import payload_digest

if TYPE_CHECKING:
    from itemadapter import ItemAdapter
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

WARN_AFTER = 20
"""Warn when this many items had no text, and none had one before; else when the crawl ends."""

MAX_FIELDS_NAMED = 10
"""Name at most this many fields of an item in the warning."""

MAX_AHEAD = 10_000
"""Verdicts that wait for their item, at most; a dropped one, the oldest, is obtained again."""


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


@dataclass(frozen=True, slots=True)
class Recognised:
    """The values of an item's fields that the settings name; None where there is none."""

    url: str | None
    title: str
    text: Any
    html: Any

    @property
    def body(self) -> bytes:
        """The text, which begins with the title, or else the HTML, as bytes."""
        return _bytes(self.html if self.text is None else self.text)

    @property
    def digest(self) -> bytes:
        """Digest of all values, equal for two items with the same content, such as copies."""
        return xxhash.xxh3_128_digest(_bytes(self.url) + self.body)


class ForeignItems(SharedByComponents):
    """Obtains the verdict of an item from the fields that may hold its text.

    The spider middleware asks before links are queued, the pipeline when the
    item, or a copy of it, arrives; no item is judged twice.
    """

    def __init__(self, crawler: Crawler) -> None:
        options = Options(crawler.settings)
        self._job = job_of(crawler)
        self._store = self._job.store
        self._crawler = weakref.ref(crawler)  # it is the key under which this is held
        self._url_fields = options.names("NEARDUP_URL_FIELDS")
        self._title_fields = options.names("NEARDUP_TITLE_FIELDS")
        self._text_fields = options.names("NEARDUP_TEXT_FIELDS")
        self._html_fields = options.names("NEARDUP_HTML_FIELDS")
        self._claimed: OrderedDict[bytes, bytes] = OrderedDict()
        self._ahead: OrderedDict[bytes, deque[Captured]] = OrderedDict()
        self._judged = self._without_text = self._without_url = self._unchanged = 0
        self._fields: list[str] = []
        self._has_text = False
        crawler.signals.connect(self._close, signals.spider_closed)

    async def captured(self, item: Any) -> Captured | None:
        """Remove and return the verdict of an item, after obtaining it if needed."""
        captured = await self._captured(item)
        self._judged += captured is not None
        self._without_url += captured is not None and not captured.row.url
        self._unchanged += captured is not None and captured.verdict == UNCHANGED
        if captured is not None and captured.row.words:
            self._has_text = True
        elif not self._has_text:
            self._without_text += 1
            if self._without_text == WARN_AFTER:
                self._warn()
        return captured

    def _close(self) -> None:
        self._warn()
        if self._unchanged and self._job.visits.number > 1:
            logger.warning(
                "%d of %d items are not passed on, since an earlier run on this JOBDIR passed them "
                "and their texts (NEARDUP_TEXT_FIELDS) have not changed; another JOBDIR, or none, "
                "begins anew",
                *(self._unchanged, self._judged),
            )
        if self._without_url:
            logger.warning(
                "%d of %d items have no URL, so that texts that repeat are unchanged: it is looked "
                "for in the fields %s (NEARDUP_URL_FIELDS), and the first item has %s",
                *(self._without_url, self._judged, ", ".join(self._url_fields)),
                ", ".join(self._fields),
            )

    def _warn(self) -> None:
        """Warn once if there were items and none of them had a text."""
        if self._has_text or not self._without_text:
            return
        self._has_text = True  # nothing more is said
        text, html = ", ".join(self._text_fields), ", ".join(self._html_fields)
        logger.warning(
            "no item of %d has a text, so that none is a duplicate of another: it is looked for in "
            "the fields %s (NEARDUP_TEXT_FIELDS) and %s (NEARDUP_HTML_FIELDS), and the first item "
            "has %s; is a selector wrong?",
            *(self._without_text, text, html, ", ".join(self._fields) or "no fields"),
        )

    async def _captured(self, item: Any) -> Captured | None:
        recognised = self._recognise(item)
        if recognised is None:
            return None
        waiting = self._ahead.get(recognised.digest)
        if waiting is None:
            # Perhaps one that was judged ahead and then edited: it is no duplicate of itself.
            ahead = (captured for queue in self._ahead.values() for captured in queue)
            url = recognised.url or ""
            return await self._judge(
                recognised, frozenset(one.row.id for one in ahead if one.row.url == url)
            )
        captured = waiting.popleft()
        if not waiting:
            del self._ahead[recognised.digest]
        return captured

    async def judge_ahead(self, item: Any) -> Captured | None:
        """Obtain the verdict of an item before it reaches the pipeline."""
        recognised = self._recognise(item)
        if recognised is None:
            return None
        captured = await self._judge(recognised)
        self._ahead.setdefault(recognised.digest, deque()).append(captured)
        if len(self._ahead) > MAX_AHEAD:
            self._ahead.popitem(last=False)
        return captured

    def _recognise(self, item: Any) -> Recognised | None:
        from itemadapter import ItemAdapter  # noqa: PLC0415  # it imports pydantic

        if not ItemAdapter.is_item(item):
            return None
        adapter = ItemAdapter(item)
        self._fields = self._fields or list(map(str, adapter.field_names()))[:MAX_FIELDS_NAMED]
        url = _first(adapter, self._url_fields)
        title = _bytes(_first(adapter, self._title_fields)).decode("utf-8", "replace")
        texts = _values(adapter, self._text_fields)
        # Of things that have names, equal texts are another's: a text begins with the name.
        text = b"\n".join(map(_bytes, [title, *texts])).strip() if texts else None
        html = _first(adapter, self._html_fields)
        if url is None and text is None and html is None:
            return None
        url = None if url is None else _bytes(url).decode("utf-8", "replace")
        return Recognised(url, title, text, html)

    async def _judge(
        self, recognised: Recognised, apart_from: frozenset[int] = frozenset()
    ) -> Captured:
        fetched = replace(self._fetched(recognised), apart_from=apart_from)
        processor = self._job.processor
        if recognised.text is None and fetched.body:
            captured = await processor.capture(fetched, obey_robots_meta=False)
        else:
            reading = processor.read_text(fetched.url, fetched.body, recognised.title)
            captured = await processor.capture_read(fetched, reading)
        self._job.result.count(
            captured.verdict, captured.row.body_bytes, is_again=captured.is_again
        )
        crawler = self._crawler()
        if crawler is not None:
            crawler.stats.inc_value(f"neardup/{captured.verdict}")
        self._job.commit_if_due()
        return captured

    def _fetched(self, recognised: Recognised) -> Fetched:
        url, body = recognised.url or "", recognised.body
        canonical, key = self._job.canonicalizer.named(url)
        return Fetched(
            url=url,
            canonical_url=canonical,
            key=self._own_key(key or recognised.digest, body),
            depth=0,
            status=200,
            body=body,
            content_type="text/html; charset=utf-8",
        )

    def _own_key(self, key: bytes, body: bytes) -> bytes:
        """Return a key of its own for each further item that a page gives in one visit."""
        digest, own = payload_digest(body), xxhash.xxh3_128_digest(key + body)
        # Claimed before anything is awaited: the items of a page are judged side by side.
        if self._claimed.get(key, digest) != digest:
            return own
        first = self._store.previous(key)
        if first is not None and first.last_payload_digest != digest:
            in_this_visit = self._job.visits.number in {first.visit, first.seen_visit}
            if in_this_visit or self._store.previous(own) is not None:
                return own
        self._claimed[key] = digest
        if len(self._claimed) > MAX_AHEAD:
            self._claimed.popitem(last=False)
        return key


def _values(adapter: ItemAdapter, names: tuple[str, ...]) -> list[Any]:
    return [adapter[name] for name in names if adapter.get(name) is not None]


def _first(adapter: ItemAdapter, names: tuple[str, ...]) -> Any:
    return next(iter(_values(adapter, names)), None)


def _bytes(value: object) -> bytes:
    if value is None:
        return b""
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")
