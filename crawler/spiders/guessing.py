"""Request links that may lead to no page: after all pages, and only as long as some lead to one."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

from scrapy.spidermiddlewares.httperror import HttpError

from crawler.downloadermiddlewares.failures import explain
from crawler.frontier.file_links import FILE_PRIORITY
from crawler.frontier.link_counts import LinkCounts
from crawler.frontier.seen import RecentDepths
from crawler.other_spellings import ask_another
from crawler.pages.verdicts import KEPT
from crawler.reading.link_extraction import resolve
from crawler.reading.link_kinds import ANCHOR, DESCRIPTIONS, WELL_KNOWN, Follow
from crawler.reading.metadata.declared_headers import header_links
from crawler.reading.reading import Link
from crawler.reading.site_descriptions import read_description
from crawler.request_meta import GUESS, LINK_KIND, SEED
from crawler.spiders.wall_probes import ProbingSpider
from crawler.storage.errors import CrawlStorageError
from crawler.urls.parts import MalformedUrl

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from scrapy import Request
    from scrapy.http import Response
    from twisted.python.failure import Failure

    from crawler.pages.page_context import Captured, Fetched
    from crawler.pages.visits import VisitNotes
    from crawler.reading.sitemaps import SitemapContent, SitemapLimits
    from crawler.spiders.file_requests import FileRequests
    from crawler.urls.scope import Scope

NO_PAGE = frozenset(range(400, 500)) - {401, 403, 408, 425, 429}
"""Statuses that say of a guess that there is no page."""

_RECENT = 20_000
_WELL_KNOWN = (
    "/robots.txt",
    "/.well-known/security.txt",
    "/security.txt",
    "/humans.txt",
    "/llms.txt",
    "/ads.txt",
    "/.well-known/change-password",
    "/crossdomain.xml",
)


class GuessingSpider(ProbingSpider):
    """Captures pages, and follows links by their kinds; it counts what each kind leads to."""

    within: Scope
    notes: VisitNotes
    files: FileRequests
    sitemap_limits: SitemapLimits
    depth_limit: int | None
    link_kinds: Mapping[str, Follow]
    link_counts: LinkCounts
    _guessed_lately: RecentDepths[str]

    def follow_kinds(self, kinds: Mapping[str, Follow]) -> None:
        """Follow links by their kinds from now on; call it before the workers are started."""
        self.link_kinds = kinds
        self.link_counts = LinkCounts(self.job.database)
        self._guessed_lately = RecentDepths(_RECENT)
        self.archivist.pool.collect(name for name, how in kinds.items() if how is not Follow.NO)
        self.job.callbacks.after_capture.append(self._count_answer)

    def forget_guesses(self) -> None:
        """Look at every link again, also at those that were outside of the scope."""
        self._guessed_lately.clear()

    def may_follow(self, url: str) -> bool:
        """Return whether a link may lead to a URL."""
        return self.within.allows(url)

    def guess(self, link: Link, depth: int, source: str) -> Request | None:
        """Return the request for a link that may lead to no page, None where it may wait.

        Args:
            link: The link; nothing requested it yet.
            depth: Links that lead there from a seed.
            source: URL of the page that has it.
        """
        if self.link_kinds[link.kind] is Follow.NO:
            return None
        if not self._guessed_lately.is_new(link.url, depth) or not self.may_follow(link.url):
            return None
        self.link_counts.note_found(link.kind)
        if self.files.is_guess_put_aside(link.kind, link.url, link.key, depth, source):
            return None
        return self.guess_request(link.url, link.kind)

    def guess_request(
        self,
        url: str,
        kind: str,
        meta: Mapping[str, Any] | None = None,
        source: str | None = None,
    ) -> Request | None:
        """Return the request for a URL that may be no page, None for one that cannot be made."""
        request = self.page_request(url, {**(meta or {}), LINK_KIND: kind, GUESS: True}, source)
        if request is None:
            return None
        if kind in DESCRIPTIONS:
            request = request.replace(
                callback=self.parse_description, errback=self.description_failed
            )
        return request.replace(priority=FILE_PRIORITY)

    def well_known(self, seed: str) -> Iterator[Request]:
        """Yield the requests for the files within the scope that a host may have for programs."""
        if self.link_kinds[WELL_KNOWN] is Follow.NO or self.depth_limit == 0:
            return
        for url in filter(self.may_follow, (urljoin(seed, path) for path in _WELL_KNOWN)):
            request = self.guess_request(url, WELL_KNOWN, {"depth": 1})
            if request is not None:
                self.link_counts.note_found(WELL_KNOWN)
                yield request

    async def parse_description(self, response: Response) -> Iterator[Request]:
        """Return requests for the pages that a feed, a manifest or a search description names."""
        read = partial(read_description, response.meta[LINK_KIND], response.body)
        return self._described(response, await asyncio.to_thread(read, self.sitemap_limits))

    def _described(self, response: Response, named: SitemapContent) -> Iterator[Request]:
        kind, is_page = response.meta[LINK_KIND], False
        pages = () if self._is_too_deep(response) else named.urls(response.url)
        for url in pages:
            if not self.may_follow(url):
                self.note_cut_list(response.url, kind)
            elif (request := self._if_new(url, kind)) is not None:
                is_page = True
                yield request
        self._note_description(response.meta, response.url, is_page=is_page)

    def _if_new(self, url: str, kind: str) -> Request | None:
        with suppress(MalformedUrl):
            if not self.has_met(url):
                self.link_counts.note_found(kind)
                return self.page_request(url, {LINK_KIND: kind})
        return None

    def note_cut_list(self, url: str, kind: str) -> None:
        """Note that a list of pages names some outside of the scope, which may move."""
        with suppress(CrawlStorageError):  # the job remembers it, and the crawl ends
            self.notes.note_cut_list(url, kind)

    def description_failed(self, failure: Failure) -> None:
        """A description that is not there takes nothing away from the crawl."""
        request: Request = failure.request  # type: ignore[attr-defined]  # Scrapy puts it there
        self._note_description(request.meta, request.url, is_page=False)

    def failed(self, failure: Failure) -> Iterator[Any]:
        """Store a failure, unless it says that a guess leads to no page; follow its headers."""
        request: Request = failure.request  # type: ignore[attr-defined]  # Scrapy puts it there
        if isinstance(failure.value, HttpError):
            yield from self._of_headers(failure.value.response)
        is_missing = explain(failure, self.settings)[2] in NO_PAGE
        if GUESS in request.meta and is_missing:
            if ask_another(self.crawler, request, failure.value):
                return
            self._note_description(request.meta, request.url, is_page=False)
            return
        if GUESS in request.meta:
            self._note_description(request.meta, request.url, is_page=False)
        yield from super().failed(failure)

    def _of_headers(self, response: Response) -> Iterator[Request]:
        """Yield requests for what the headers of an answer lead to that is no page."""
        answer = self.fetched_of(response)
        asks_not = self.archivist.obey_robots_meta and {"nofollow", "none"} & answer.robots
        if asks_not or self._is_too_deep(response):
            return
        for address, kind in header_links(answer.headers, answer.url).items():
            with suppress(ValueError):
                request = self._of_header(answer, address, kind)
                if request is not None:
                    yield request

    def _of_header(self, answer: Fetched, address: str, kind: str) -> Request | None:
        url = resolve(answer.url, address)
        if url is None:
            return None
        key = self.job.canonicalizer.key(url)
        if self.link_kinds[kind] is not Follow.PAGE:
            if key in self.job.frontier.seen:
                return None
            link = Link(url, key, nofollow=False, kind=kind)
            return self.guess(link, answer.depth + 1, answer.url)
        if self.has_met(url) or not self.may_follow(url):
            return None
        self.link_counts.note_found(kind)
        return self.page_request(url, {LINK_KIND: kind})

    def _is_too_deep(self, response: Response) -> bool:
        """Return whether what an answer leads to is beyond ``max_depth``."""
        return self.depth_limit is not None and response.meta.get("depth", 0) >= self.depth_limit

    def _note_description(self, meta: Mapping[str, Any], url: str, *, is_page: bool) -> None:
        with suppress(CrawlStorageError):  # the job remembers it, and the crawl ends
            self.files.note_guess(meta, url, is_page=is_page)
            self.link_counts.note_answer(meta[LINK_KIND], is_new=False)

    def _count_answer(self, meta: Mapping[str, Any], captured: Captured) -> None:
        if SEED not in meta:
            is_new = captured.verdict in KEPT
            self.link_counts.note_answer(meta.get(LINK_KIND, ANCHOR), is_new=is_new)
