"""The base of our spiders: a response becomes a judged page and the requests that follow."""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from scrapy import Request, Spider

from crawler.downloader.large_bodies import STOPPED, FileResponse, body_size
from crawler.downloadermiddlewares.failures import ClosingErrors, ask_another, explain
from crawler.downloadermiddlewares.limits import FALSE_CODING, why_cut
from crawler.downloadermiddlewares.retries import returned
from crawler.job_registry import job_of
from crawler.lean_parts import refer
from crawler.options import Options
from crawler.pages import verdicts
from crawler.pages.gates import UndecidedError
from crawler.pages.items import page_of_capture
from crawler.pages.page_context import Captured, Fetched, StoredPart, Way
from crawler.pages.reasons import Reason, codes, in_words, together
from crawler.pages.visits import NO
from crawler.reading.content_types import is_told_by_type, why_not_html
from crawler.reading.documents.kinds import may_be_document, may_begin_document
from crawler.reading.metadata.metadata_record import PageHeaders, robots_words
from crawler.rendering.rendered_pages import RenderingEndedError
from crawler.request_meta import (
    AGAIN,
    ANEW,
    FIXED,
    LED_BY,
    OF_ONE_ANSWER,
    SEED,
    SPELLING,
    WHOLE,
    header_text,
    link_source,
    without,
)
from crawler.scheduling.requests_again import follow_again, take_shortest_way
from crawler.spiders.arguments import RenderChoice, check_arguments, render_choice, rules_of
from crawler.spiders.file_requests import StoppedAnswers
from crawler.spiders.render_decisions import render_pages
from crawler.storage.errors import CrawlStorageError
from crawler.urls.hosts import requestable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Iterable, Iterator, Mapping
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.settings import BaseSettings
    from twisted.python.failure import Failure

    from crawler.job import Job
    from crawler.mirror.file_store import MirrorStore
    from crawler.pages.capture import PageProcessor
    from crawler.pages.page_row import StoredUrl
    from crawler.run import RunResult
    from crawler.spiders.argument_table import Argument

BREATH = 100
"""Pause after this many start requests, so that downloads continue meanwhile."""


class PageSpider(Spider):
    """Captures every response and yields it as a ``Page`` with its verdict."""

    arguments: ClassVar[Mapping[str, Argument]] = {}
    """Name and meaning of every ``-a`` argument."""

    planned: ClassVar[tuple[str, ...]] = ()
    """The arguments that make up the plan of a crawl."""

    fits_fleet: ClassVar[bool] = True
    """Whether many workers can share the crawl."""

    adds_when_finished: ClassVar[str] = ""
    """Message about the pages that a finished crawl adds when started again; empty if none."""

    handle_httpstatus_list: ClassVar[tuple[int, ...]] = (HTTPStatus.NOT_MODIFIED,)

    revisit: str = NO
    rules: str = ""
    render: str = ""
    screenshots: str = "no"

    large_bodies: MirrorStore | None = None
    """The place of large bodies of which nothing is read; None: they stay in memory."""

    job: Job
    processor: PageProcessor
    result: RunResult
    closing: ClosingErrors
    follow_duplicates: bool
    _agent: str
    _stopped: StoppedAnswers

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        """Let what a lost connection left come as an answer, which ``WholeAnswers`` retries."""
        settings.set("DOWNLOAD_FAIL_ON_DATALOSS", False, priority="spider")
        # Scrapy reads and parses the sources of callbacks for it; ours return nothing beside.
        settings.set("WARN_ON_GENERATOR_RETURN_VALUE", False, priority="spider")
        super().update_settings(settings)

    @classmethod
    def check_arguments(cls, arguments: Mapping[str, str]) -> None:
        """Check the arguments before anything starts.

        Raises:
            ValueError: One of them is unknown, missing or bad; the message says which.
        """
        check_arguments(arguments, cls.arguments)

    @classmethod
    def render_choice(cls, arguments: Mapping[str, str]) -> RenderChoice:
        """Return which pages are shown in a browser, and what is kept of them.

        Raises:
            ValueError: An argument of it is bad.
        """
        return render_choice(arguments)

    @classmethod
    def folder_name(cls, arguments: Mapping[str, str]) -> str:
        """Return the folder's name below ``CRAWL_DIRECTORY`` for a crawl with these arguments."""
        return cls.name

    @classmethod
    def scope_name(cls, arguments: Mapping[str, str]) -> str:
        """Return the name of the scope of a crawl with these arguments; empty: it has none."""
        return ""

    @classmethod
    def own_folder_name(cls, arguments: Mapping[str, str]) -> str:
        """Return the folder's name where ``folder_name`` holds a crawl of another scope."""
        return cls.folder_name(arguments)

    @classmethod
    def plan(cls, arguments: Mapping[str, str]) -> str:
        """Return the plan of a crawl with these arguments, which may not change while it lasts."""
        chosen = [f"-a {name}={arguments[name]}" for name in cls.planned if name in arguments]
        return " ".join([cls.name, *chosen])

    @classmethod
    def take_rules(cls, arguments: Mapping[str, str], job: Job) -> int:
        """Adopt the URL rules of ``-a rules=FILE``; return how many of them are new.

        Raises:
            ValueError: There are none in the file, or nothing is learned in this crawl.
        """
        name = arguments.get("rules")
        if name is None:
            return 0
        rules, origin = rules_of(name), Path(name).name
        taken = job.url_rules.take(rules, origin)
        job.url_rules.suggest(rules, origin)
        job.database.commit()
        return taken

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        cls.check_arguments(kwargs)
        spider = super().from_crawler(crawler, *args, **kwargs)
        spider.job = job_of(crawler)
        spider.processor, spider.result = spider.job.processor, spider.job.result
        spider.closing = ClosingErrors(spider.result)
        spider.job.claim(cls.plan(kwargs), cls.scope_name(kwargs))
        spider.job.tell(revisit=spider.revisit)
        cls.take_rules(kwargs, spider.job)
        if "render" in cls.arguments:
            cookies = getattr(spider, "cookies", "")
            render_pages(crawler, cls.render_choice(kwargs), cookies)
        spider._stopped = StoppedAnswers(spider)
        settings = crawler.settings
        spider._agent = str(settings["ROBOTSTXT_USER_AGENT"] or settings["USER_AGENT"])
        spider.follow_duplicates = Options(settings).boolean("NEARDUP_FOLLOW_DUPLICATES")
        return spider

    async def start(self) -> AsyncIterator[Request]:
        """Yield the first requests, then those for known pages of a finished crawl to revisit."""
        async for request in self.first_requests():
            yield request
        visits = self.job.visits
        for number, known in enumerate(visits.unasked() if visits.is_queueing else ()):
            again = self.known_request(known)
            if again is not None:
                yield again
            if number % BREATH == 0:
                await asyncio.sleep(0)
        if visits.is_queueing:
            visits.end_queueing()
        self.result.has_started = True

    async def first_requests(self) -> AsyncIterator[Request]:
        """Yield the first requests of a crawl: none, unless a spider overrides it."""
        nowhere: tuple[Request, ...] = ()
        for request in nowhere:
            yield request

    def known_request(self, known: StoredUrl) -> Request | None:
        """Return the request for a page that an earlier visit captured, None for any other URL."""
        if not known.is_page:
            return None
        # Led by itself: perhaps nothing else leads to it any more, and it keeps its permission.
        meta = {"depth": known.depth, LED_BY: known.url, FIXED: True}
        return self.page_request(known.url, meta, known.referer)

    async def parse(self, response: Response) -> Iterable[Any]:
        """Capture a page; return it, then the requests for its links.

        A coroutine that returns a plain generator: Scrapy resumes an asynchronous one, and those
        around it, for each of the links.
        """
        if AGAIN in response.meta:
            return follow_again(self, response)
        take_shortest_way(self, response)
        try:
            captured = await self._capture(response)
        except (UndecidedError, RenderingEndedError):
            return returned(self.crawler, response)
        if captured is None:
            return (self._whole(response),)
        self.job.frontier.leased.note_stored(response)
        self.processor.seconds["download"] += response.meta.get("download_latency", 0.0)
        if response.request is not None:
            self.result.under_way.pop(response.request, None)
        if ANEW not in response.meta:  # else it was counted as it was judged first
            self._count(captured, body_size(response))
        self._learn(response, captured)
        self._note_seed(response, captured)
        return self._results(response, captured)

    def _results(self, response: Response, captured: Captured) -> Iterator[Any]:
        yield page_of_capture(captured, markdown=self.job.options.markdown)
        with self.closing:
            kept_now = self.job.promote_siblings() or ()
        for promoted in kept_now:
            yield page_of_capture(promoted, markdown=self.job.options.markdown)
        if self.follows(captured):
            yield from self.follow(response, captured)

    def follows(self, captured: Captured) -> bool:
        """Return whether the links of a page are to be followed."""
        return self.follow_duplicates or not captured.is_duplicate

    def links_of(self, key: bytes, response: Response | None = None) -> Captured | None:
        """Return the stored capture of a page for its links; None where it is not enough.

        Args:
            key: The key of the page.
            response: The response that ``follow`` will be given with them.
        """
        return self.processor.stored_links(key)

    def _learn(self, response: Response, captured: Captured) -> None:
        with self.closing:
            redirected = response.meta.get("redirect_urls", ())
            self.job.url_rules.observe(captured.row, captured.kept_url, redirected)
            if SPELLING in response.meta:
                self.job.store.forget_failures(captured.row.key, captured.row.id)

    async def _capture(
        self, response: Response, turn: Awaitable[object] | None = None
    ) -> Captured | None:
        """Capture an answer.

        Args:
            response: The answer.
            turn: See ``PageProcessor.capture``.

        Returns:
            None where the answer is not enough, and the whole page must be requested.
        """
        fetched = self.fetched_of(response)
        with self.closing:
            if response.status == HTTPStatus.NOT_MODIFIED:
                captured = self._not_modified(fetched, response)
            else:
                captured = await self.captured(fetched, response, turn)
            if captured is not None:
                self._note_oddities(response, captured)
                self.job.callbacks.captured(response.meta, captured)
        return captured

    def is_unwanted(self, content_type: str, size: int | None) -> bool | None:
        """Return whether an answer is no page by its head; None: its first bytes tell.

        Args:
            content_type: The type that it declares.
            size: The bytes that it declares; None if it does not.
        """
        if is_told_by_type(content_type) and not may_be_document(content_type):
            return why_not_html(content_type, b"") is not None
        return None

    def begins_unwanted(self, content_type: str, start: bytes, url: str) -> bool:
        """Return whether an answer is no page, nor a document that is read, by its first bytes."""
        if why_not_html(content_type, start) is None:
            return False
        return not may_begin_document(content_type, start, self.job.options.reading.documents)

    def captured(
        self, fetched: Fetched, response: Response, turn: Awaitable[object] | None = None
    ) -> Awaitable[Captured]:
        """Judge and store an answer that was sent; in its turn where there is an order."""
        return self.processor.capture(fetched, turn=turn)

    def still(self, fetched: Fetched, response: Response) -> Captured | None:
        """Accept "not modified" for an answer; return None if the whole page must be requested."""
        return self.processor.not_modified(fetched)

    async def part_of(self, request: Request) -> StoredPart | None:
        """Return the stored part of a page whose rest is requested; None: the whole is."""
        return None

    def drop_part(self, request: Request) -> None:
        """Forget the stored part of a page: what came is not its rest."""

    def note_redirected(self, request: Request) -> None:
        """Note that a page leads to another one: no rest of it will come."""

    def _not_modified(self, fetched: Fetched, response: Response) -> Captured | None:
        captured = self.still(fetched, response)
        if captured is None and WHOLE in response.meta:
            reason = Reason.NOT_MODIFIED.stored()
            return self.processor.store_failure(fetched, verdicts.FAILED, reason)
        return captured

    def _whole(self, response: Response) -> Request:
        """Return the request for a whole page, where "not modified" is not enough."""
        assert response.request is not None
        meta = {**without(response.meta, OF_ONE_ANSWER), WHOLE: True}
        response.meta["depth"] = meta.get("depth", 0) - 1  # Scrapy takes it for a link of the page
        return response.request.replace(meta=meta, dont_filter=True)

    def page_request(
        self, url: str, meta: dict[str, Any] | None = None, source: str | None = None
    ) -> Request | None:
        """Return the request for a page that a source led to; None where none can be made."""
        try:
            request = Request(requestable(url), errback=self.failed, meta=meta)
        except ValueError:  # a link that browsers do not follow either
            return None
        return request if source is None else refer(self.crawler, request, source)

    def has_met(self, url: str) -> bool:
        """Return whether a URL needs no request: its page was queued, and it tries no fixed rule.

        Raises:
            MalformedUrl: It is no http or https URL with a host.
        """
        key = self.job.canonicalizer.key(url)
        if key not in self.job.frontier.seen:
            return False
        return not self.job.url_rules.fixed.may_be_variant(url, key)

    def follow(self, response: Response, captured: Captured) -> Iterator[Request]:
        yield from ()

    def failed(self, failure: Failure) -> Iterator[Any]:
        """Store that a request gave no page."""
        request: Request = failure.request  # type: ignore[attr-defined]  # Scrapy puts it there
        if ask_another(self.crawler, request, failure.value):
            return
        verdict, reason, status = explain(failure, self.settings)
        depth = request.meta.get("depth", 0)
        try:
            captured = self.job.store_failure(
                request.url,
                verdict,
                reason,
                status=status,
                way=Way(depth, request.meta.get("redirect_urls", ()), link_source(request)),
            )
        except CrawlStorageError:  # the job remembers it, and the crawl ends
            return
        self.crawler.stats.inc_value(f"neardup/{verdict}")
        if SEED in request.meta:
            self.result.note_dead_seed(request.meta[SEED], in_words(reason) or "")
        yield page_of_capture(captured, markdown=self.job.options.markdown)

    def fetched_of(self, response: Response) -> Fetched:
        """Return a response without Scrapy's types."""
        header, headers = response.headers.get, response.headers.getlist
        request = response.request or Request(response.url)
        return Fetched(
            url=response.url,
            canonical_url=self.job.canonicalizer.named(response.url)[0],
            key=self.key_of(request),
            depth=response.meta.get("depth", 0),
            status=response.status,
            body=response.body,
            file=response.file if isinstance(response, FileResponse) else None,
            content_type=header_text(header(b"Content-Type")),
            etag=header_text(header(b"ETag")),
            last_modified=header_text(header(b"Last-Modified")),
            cut=why_cut(response.request, response),
            referer=header_text(request.headers.get(b"Referer")),
            is_stopped=STOPPED in response.flags,
            robots=robots_words(
                [value.decode("latin-1") for value in headers(b"X-Robots-Tag")], self._agent
            ),
            headers=PageHeaders.of(headers),
            made_at=self.made_at(response),
            is_anew=ANEW in response.meta,
        )

    def made_at(self, response: Response) -> float | None:
        """Return the time at which an answer was made, which is set aside in its text.

        None sets nothing aside: no other fetch of a page shows here that the time is no content.
        """
        return None

    def key_of(self, request: Request) -> bytes:
        return self.crawler.request_fingerprinter.fingerprint(request)

    def _count(self, captured: Captured, body_bytes: int) -> None:
        reason, is_again = captured.row.reason, captured.is_again
        self.result.count(captured.verdict, body_bytes, reason=reason, is_again=is_again)
        self.crawler.stats.inc_value(f"neardup/{captured.verdict}")

    def _note_oddities(self, response: Response, captured: Captured) -> None:
        """Add to a page's reason what was wrong with its transfer."""
        row = captured.row
        if FALSE_CODING in response.flags and Reason.FALSE_CODING not in codes(row.reason):
            row.reason = together(row.reason, Reason.FALSE_CODING.stored())
            self.job.store.note(row.id, row.reason)

    def _note_seed(self, response: Response, captured: Captured) -> None:
        seed = response.meta.get(SEED)
        if SPELLING in response.meta:
            self.result.forget_dead_seed(seed or "")
        if seed is not None and captured.verdict in {verdicts.UNREADABLE, verdicts.NOT_HTML}:
            self.result.note_dead_seed(seed, in_words(captured.row.reason) or captured.verdict)
