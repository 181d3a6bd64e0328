"""Items of spiders that know nothing of us: recognised by their fields, judged once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import zstandard
from itemadapter import ItemAdapter

from crawler.jobs import job_of
from crawler.options import Options
from crawler.pages.capture import Captured, Fetched
from crawler.reading.reading import Extract, Reading
from crawler.urls.canonical import MalformedUrl
from neardup import analyse, payload_digest

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

_instances: WeakKeyDictionary[Crawler, ForeignItems] = WeakKeyDictionary()


class ForeignItems:
    """Obtains the verdict of an item from the fields that its text may stand in.

    The spider middleware asks before links are queued, the pipeline when the
    item arrives; an item that was judged is not judged again.
    """

    def __init__(self, crawler: Crawler) -> None:
        options = Options(crawler.settings)
        self._job = job_of(crawler)
        self._stats = crawler.stats
        self._url_fields = options.names("NEARDUP_URL_FIELDS")
        self._text_fields = options.names("NEARDUP_TEXT_FIELDS")
        self._html_fields = options.names("NEARDUP_HTML_FIELDS")
        # By id(), with the item itself held so that its id is not given again.
        self._judged: dict[int, tuple[Any, Captured]] = {}

    @classmethod
    def of(cls, crawler: Crawler) -> ForeignItems:
        """The one instance of a crawl."""
        if crawler not in _instances:
            _instances[crawler] = cls(crawler)
        return _instances[crawler]

    async def captured(self, item: Any) -> Captured | None:
        """Take the verdict of an item out, obtaining it where that was not done."""
        judged = self._judged.pop(id(item), None)
        return judged[1] if judged is not None else await self._judge(item)

    async def judge_ahead(self, item: Any) -> Captured | None:
        """Obtain the verdict of an item before it reaches the pipeline."""
        captured = await self._judge(item)
        if captured is not None:
            self._judged[id(item)] = (item, captured)
        return captured

    def forget(self, item: Any) -> None:
        """Let go of an item that another pipeline dropped."""
        self._judged.pop(id(item), None)

    async def _judge(self, item: Any) -> Captured | None:
        if not ItemAdapter.is_item(item):
            return None
        adapter = ItemAdapter(item)
        text = _first(adapter, self._text_fields)
        html = _first(adapter, self._html_fields)
        url = _first(adapter, self._url_fields)
        if text is None and html is None and url is None:
            return None
        fetched = self._fetched(_string(url), _bytes(html if text is None else text))
        if text is None and fetched.body:
            captured = await self._job.archivist.capture(fetched)
        else:
            reading = self._reading(fetched, _string(text))
            captured = self._job.archivist.capture_read(fetched, reading)
        duplicate = captured.kept_url is not None
        self._job.count(captured.verdict, captured.row.body_bytes, duplicate=duplicate)
        self._stats.inc_value(f"neardup/{captured.verdict}")
        self._job.commit_if_due()
        return captured

    def _fetched(self, url: str, body: bytes) -> Fetched:
        try:
            canonical = self._job.canonicalizer(url)
            key = self._job.canonicalizer.key(url)
        except MalformedUrl:
            canonical, key = url, payload_digest(url.encode("utf-8", "surrogatepass") or body)
        return Fetched(
            url=url,
            canonical_url=canonical,
            key=key,
            depth=0,
            status=200,
            body=body,
            content_type="text/html; charset=utf-8",
        )

    def _reading(self, fetched: Fetched, text: str) -> Reading:
        document = analyse(text, self._job.options.parameters)
        packed = zstandard.compress(text.encode("utf-8", "replace"))
        extract = Extract(packed, document.words, document.digest, document.fingerprint)
        return Reading(fetched.url, extract=extract)


def _first(adapter: ItemAdapter, names: tuple[str, ...]) -> Any:
    return next((adapter[name] for name in names if adapter.get(name) is not None), None)


def _string(value: Any) -> str:
    if value is None:
        return ""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _bytes(value: Any) -> bytes:
    if value is None:
        return b""
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")
