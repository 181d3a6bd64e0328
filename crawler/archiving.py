"""What our spiders share: a response becomes a judged page and the requests that follow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from scrapy import Request, Spider
from scrapy.exceptions import CloseSpider, ResponseDataLossError

from crawler.downloadermiddlewares import GZIP_CUT, NOT_GZIP
from crawler.failures import explain
from crawler.jobs import job_of
from crawler.options import Options, did_you_mean
from crawler.page_items import page_of_capture
from crawler.pages import verdicts
from crawler.pages.errors import StorageError
from crawler.pages.fetched import Captured, Fetched
from crawler.reading.errors import ReadingError
from crawler.robots_header import robots_words
from crawler.urls.canonical import MalformedUrl
from crawler.urls.requested import requestable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.python.failure import Failure

    from crawler.job import Job

SEED = "crawl_seed"
"""Key of ``Request.meta``: the seed, as the user wrote it, that this request stands for."""

DATA_LOSS = "dataloss"
_ODDITIES = {
    DATA_LOSS: "truncated: the server sent less than it said",
    GZIP_CUT: "truncated: its gzip stream breaks off, or is damaged",
    NOT_GZIP: "declared as gzip, and is none: read as it came",
}
"""What flags of a response mean; Scrapy sets the first one."""


class ArchivingSpider(Spider):
    """Captures every response and yields it as a ``Page`` with its verdict."""

    arguments: ClassVar[Mapping[str, str]] = {}
    """Name and meaning of every ``-a`` argument."""

    planned: ClassVar[tuple[str, ...]] = ()
    """The arguments that say what a crawl is about."""

    job: Job
    follow_duplicates: bool
    _agent: str

    @classmethod
    def check_arguments(cls, arguments: Mapping[str, str]) -> None:
        """Look at the arguments before anything starts.

        Raises:
            ValueError: One of them is unknown, missing or bad; the message says which.
        """
        reject_unknown(arguments, cls.arguments)

    @classmethod
    def folder_name(cls, arguments: Mapping[str, str]) -> str:
        """The folder below ``CRAWL_DIRECTORY`` for a crawl with these arguments."""
        return cls.name

    @classmethod
    def plan(cls, arguments: Mapping[str, str]) -> str:
        """What a crawl with these arguments is about: what may not change while it lasts."""
        chosen = [f"-a {name}={arguments[name]}" for name in cls.planned if name in arguments]
        return " ".join([cls.name, *chosen])

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Check the arguments and share the crawl's job."""
        cls.check_arguments(kwargs)
        spider = super().from_crawler(crawler, *args, **kwargs)
        spider.job = job_of(crawler)
        spider.job.claim(cls.plan(kwargs))
        settings = crawler.settings
        spider._agent = str(settings["ROBOTSTXT_USER_AGENT"] or settings["USER_AGENT"])
        spider.follow_duplicates = Options(settings).boolean("NEARDUP_FOLLOW_DUPLICATES")
        return spider

    async def parse(self, response: Response) -> AsyncIterator[Any]:
        """Capture a page, yield it, then the requests for its links."""
        captured = await self._capture(response)
        self.job.archivist.seconds["download"] += response.meta.get("download_latency", 0.0)
        self._count(captured)
        self._note_seed(response, captured)
        yield page_of_capture(captured)
        if self.follow_duplicates or not captured.is_duplicate:
            for request in self.follow(response, captured):
                yield request

    async def _capture(self, response: Response) -> Captured:
        """Capture an answer; a store that can no longer be written to ends the crawl."""
        try:
            captured = await self.job.archivist.capture(self.fetched_of(response))
            self._note_oddities(response, captured)
        except StorageError as error:
            raise CloseSpider("storage") from error
        except ReadingError as error:
            self.job.stop_reason = str(error)
            raise CloseSpider("reading") from error
        return captured

    def page_request(self, url: str, meta: dict[str, Any] | None = None) -> Request | None:
        """The request for a page, None for a URL of which none can be made."""
        try:
            return Request(requestable(url), errback=self.failed, meta=meta)
        except ValueError:  # a link that browsers do not follow either
            return None

    def follow(self, response: Response, captured: Captured) -> Iterator[Request]:
        """The requests that a captured page leads to: none, unless a spider says otherwise."""
        yield from ()

    def failed(self, failure: Failure) -> Iterator[Any]:
        """Store that a request gave no page; try a truncated one again as it comes."""
        request: Request = failure.request  # type: ignore[attr-defined]  # Scrapy puts it there
        if isinstance(failure.value, ResponseDataLossError) and request.meta.get(
            "download_fail_on_dataloss", True
        ):
            meta = {**request.meta, "download_fail_on_dataloss": False, "dont_retry": True}
            yield request.replace(meta=meta, dont_filter=True)
            return
        verdict, reason, status = explain(failure, self.settings)
        depth = request.meta.get("depth", 0)
        try:
            captured = self.job.store_failure(
                request.url, verdict, reason, status=status, depth=depth
            )
        except StorageError:  # the job remembers it, and the crawl ends
            return
        self.crawler.stats.inc_value(f"neardup/{verdict}")
        if SEED in request.meta:
            self.job.dead_seeds[request.meta[SEED]] = reason
        yield page_of_capture(captured)

    def fetched_of(self, response: Response) -> Fetched:
        """A response without anything of Scrapy's."""
        header = response.headers.get
        return Fetched(
            url=response.url,
            canonical_url=self._canonical(response.url),
            key=self._key(response.request or Request(response.url)),
            depth=response.meta.get("depth", 0),
            status=response.status,
            body=response.body,
            content_type=_text(header(b"Content-Type")),
            etag=_text(header(b"ETag")),
            last_modified=_text(header(b"Last-Modified")),
            is_cut=bool({DATA_LOSS, GZIP_CUT} & set(response.flags)),
            robots=robots_words(
                [value.decode("latin-1") for value in response.headers.getlist(b"X-Robots-Tag")],
                self._agent,
            ),
        )

    def _canonical(self, url: str) -> str:
        try:
            return self.job.canonicalizer(url)
        except MalformedUrl:
            return url

    def _key(self, request: Request) -> bytes:
        return self.crawler.request_fingerprinter.fingerprint(request)

    def _count(self, captured: Captured) -> None:
        duplicate = captured.verdict in verdicts.DUPLICATES
        self.job.count(captured.verdict, captured.row.body_bytes, duplicate=duplicate)
        self.crawler.stats.inc_value(f"neardup/{captured.verdict}")

    def _note_oddities(self, response: Response, captured: Captured) -> None:
        """Say with a page what was wrong with its way here, beside what is said of it already."""
        row = captured.row
        reasons = row.reason.split("; ") if row.reason else []
        reasons += [_ODDITIES[flag] for flag in response.flags if flag in _ODDITIES]
        reason = "; ".join(dict.fromkeys(reasons)) or None
        if reason is not None and reason != row.reason:
            row.reason = reason
            self.job.store.note(row.id, reason)

    def _note_seed(self, response: Response, captured: Captured) -> None:
        seed = response.meta.get(SEED)
        if seed is not None and captured.verdict in {verdicts.UNREADABLE, verdicts.NOT_HTML}:
            self.job.dead_seeds[seed] = captured.row.reason or captured.verdict


def reject_unknown(arguments: Mapping[str, str], known: Mapping[str, str]) -> None:
    """Refuse an argument that a spider does not know.

    Raises:
        ValueError: The message names the argument and those that there are.
    """
    for name in arguments:
        if name not in known:
            hint = did_you_mean(name, known) or f"; there are {', '.join(known)}"
            raise ValueError(f"unknown argument -a {name}{hint}")


def _text(value: bytes | None) -> str | None:
    return None if value is None else value.decode("latin-1")
