"""Request what is no page itself, or may be none: guesses after all pages, and sitemaps."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

from scrapy import Request
from scrapy.spidermiddlewares.httperror import HttpError

from crawler.downloadermiddlewares.failures import ask_another, explain
from crawler.frontier.seen import RecentDepths
from crawler.pages.reasons import Reason, Stored, in_words
from crawler.pages.verdicts import KEPT, UNREADABLE
from crawler.reading.link_extraction import resolve
from crawler.reading.link_kinds import ANCHOR, DESCRIPTIONS, SITEMAP, WELL_KNOWN, WRITTEN, Follow
from crawler.reading.metadata.declared_headers import header_links
from crawler.reading.reading import Link
from crawler.reading.sitemaps import SitemapContent, read_description, read_sitemap
from crawler.request_meta import FIXED, GUESS, LED_BY, LINK_KIND, LIST, SEED
from crawler.spiders.probes import ProbingSpider
from crawler.storage.errors import CrawlStorageError
from crawler.url_rules.file_links import FILE_PRIORITY
from crawler.url_rules.kinds import PAGE_OF_LINK, PAGE_OF_PLACE, Kind, Kinds
from crawler.urls.parts import MalformedUrl

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from scrapy.http import Response
    from scrapy.robotstxt import RobotParser
    from twisted.python.failure import Failure

    from crawler.pages.page_context import Captured, Fetched
    from crawler.pages.visits import VisitNotes
    from crawler.reading.sitemaps import SitemapLimits
    from crawler.spiders.file_requests import FileRequests
    from crawler.urls.scope import Scope

NO_PAGE = frozenset(range(400, 500)) - {401, 403, 408, 425, 429}
"""Statuses that say of a guess that there is no page."""

_GONE = frozenset({HTTPStatus.NOT_FOUND, HTTPStatus.GONE})

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
    link_counts: Kinds[Kind]
    _guessed_lately: RecentDepths[str]
    _guessed_hosts: Kind

    def follow_kinds(self, kinds: Mapping[str, Follow]) -> None:
        """Follow links by their kinds from now on; call it before the workers are started."""
        self.link_kinds = kinds
        self.link_counts = Kinds(self.job.database, PAGE_OF_LINK, Kind)
        self._guessed_lately = RecentDepths(_RECENT)
        self._guessed_hosts = Kind(0, SITEMAP)
        followed = tuple(name for name, how in kinds.items() if how is not Follow.NO)
        self.processor.pool.change(link_kinds=followed)
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
        self.link_counts.note_met(link.kind)
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
                self.link_counts.note_met(WELL_KNOWN)
                yield request

    async def parse_description(self, response: Response) -> Iterator[Request]:
        """Return requests for the pages that a feed, a manifest or a search description names."""
        read = partial(read_description, response.meta[LINK_KIND], response.body)
        return self._described(response, await asyncio.to_thread(read, self.sitemap_limits))

    def _described(self, response: Response, named: SitemapContent) -> Iterator[Request]:
        kind, is_page = response.meta[LINK_KIND], False
        is_too_deep = self.is_too_deep(response.meta.get("depth", 0) + 1)
        pages = () if is_too_deep else named.urls(response.url)
        for url in pages:
            if not self.may_follow(url):
                self.note_cut_list(response.url, kind)
            elif (request := self._if_new(url, kind)) is not None:
                is_page = True
                yield request
        self.note_guess(response.meta, response.url, is_page=is_page)

    def _if_new(self, url: str, kind: str) -> Request | None:
        with suppress(MalformedUrl):
            if not self.has_met(url):
                self.link_counts.note_met(kind)
                return self.page_request(url, {LINK_KIND: kind})
        return None

    def note_cut_list(self, url: str, kind: str) -> None:
        """Note that a list of pages names some outside of the scope, which may move."""
        with suppress(CrawlStorageError):  # the job remembers it, and the crawl ends
            self.notes.note_cut_list(url, kind)

    def description_failed(self, failure: Failure) -> None:
        """A description that is not there takes nothing away from the crawl."""
        request: Request = failure.request  # type: ignore[attr-defined]  # Scrapy puts it there
        self.note_guess(request.meta, request.url, is_page=False)

    def failed(self, failure: Failure) -> Iterator[Any]:
        """Store a failure, unless it says that a guess leads to no page; follow its headers."""
        request: Request = failure.request  # type: ignore[attr-defined]  # Scrapy puts it there
        if isinstance(failure.value, HttpError):
            yield from self._of_headers(failure.value.response)
        if GUESS in request.meta:
            status = explain(failure, self.settings)[2]
            is_missing = status in NO_PAGE
            if is_missing and ask_another(self.crawler, request, failure.value):
                return
            self.note_guess(request.meta, request.url, is_page=False)
            if is_missing and (status not in _GONE or request.meta[LINK_KIND] not in WRITTEN):
                return
        yield from super().failed(failure)

    def _of_headers(self, response: Response) -> Iterator[Request]:
        """Yield requests for what the headers of an answer lead to that is no page."""
        answer = self.fetched_of(response)
        asks_not = self.processor.obey_robots_meta and {"nofollow", "none"} & answer.robots
        if asks_not or self.is_too_deep(answer.depth + 1):
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
        return self._if_new(url, kind) if self.may_follow(url) else None

    def is_too_deep(self, depth: int) -> bool:
        """Return whether what is so far from a seed is beyond ``max_depth``."""
        return self.depth_limit is not None and depth > self.depth_limit

    def note_guess(self, meta: Mapping[str, Any], url: str, *, is_page: bool) -> None:
        """Note what came of a guess that is no page itself, so that it stands for none."""
        with suppress(CrawlStorageError):  # the job remembers it, and the crawl ends
            self.job.url_rules.substitutes.note_failure([*meta.get("redirect_urls", ()), url])
            self.files.note_guess(meta, url, is_page=is_page)
            self.link_counts.note_try(meta[LINK_KIND], is_gain=False)

    def _count_answer(self, meta: Mapping[str, Any], captured: Captured) -> None:
        if SEED not in meta:
            is_new = captured.verdict in KEPT
            self.link_counts.note_try(meta.get(LINK_KIND, ANCHOR), is_gain=is_new)


# An index of sitemaps names sitemaps and no further index, says sitemaps.org; some sites do.
_MAX_SITEMAP_DEPTH = 2
_GUESSED = ("/sitemap.xml", "/sitemap_index.xml", "/sitemap.xml.gz")


class SitemapSpider(GuessingSpider):
    """Requests sitemaps once the robots.txt of a host is read, and the pages that they list."""

    max_sitemaps: int

    def robots_parsed(self, robotparser: RobotParser, request: Request) -> None:
        """Queue the sitemaps that robots.txt names, but not those of a host that is not crawled."""
        if SEED not in request.meta and not self.within.allows(request.url):
            return
        parser = getattr(robotparser, "rp", None)
        named = SitemapContent(is_index=True, locations=tuple(getattr(parser, "sitemaps", ())))
        found: dict[str, dict[str, Any]] = {url: {} for url in named.urls(request.url)}
        if not found and self._may_guess(is_seed=SEED in request.meta):
            guess = {GUESS: True, "depth": 1}
            found = {urljoin(request.url, path): guess for path in _GUESSED}
        for url, meta in found.items():
            sitemap = self._sitemap_request(url, {**meta, LED_BY: request.url})
            if sitemap is not None:
                self.crawler.engine.crawl(sitemap)

    def _may_guess(self, *, is_seed: bool) -> bool:
        """Return whether to look for a sitemap that robots.txt does not name.

        Beyond the hosts of seeds that ends after enough of them unless some have one: a domain may
        have hosts without end.
        """
        if self.link_kinds[SITEMAP] is Follow.NO:
            return False
        hosts = self._guessed_hosts
        is_known = hosts.tried >= PAGE_OF_PLACE.enough
        if not is_seed and is_known and not hosts.pays(PAGE_OF_PLACE):
            return False
        hosts.tried += 1
        return True

    async def parse_sitemap(self, response: Response) -> Iterator[Request]:
        """Return requests for the pages within the scope, and for further sitemaps."""
        sitemap = await asyncio.to_thread(read_sitemap, response.body, self.sitemap_limits)
        return self._listed(response, sitemap)

    def _listed(self, response: Response, sitemap: SitemapContent | None) -> Iterator[Request]:
        if sitemap is None:
            if GUESS not in response.meta:  # what only we guessed is no fault of the site
                reason = Reason.NOT_SITEMAP.stored()
                self._note_sitemap(response.url, UNREADABLE, reason, response.status)
            return
        if GUESS in response.meta:
            self._guessed_hosts.gained += 1
            response.meta["depth"] = 0
            self._count_sitemap()
        if sitemap.is_cut:
            taken = Reason.SITEMAP_CUT.stored(f"{len(sitemap.locations):,}")
            self._note_sitemap(response.url, UNREADABLE, taken, response.status)
        if not sitemap.is_index:
            # One step from the start, however deep the sitemap hangs.
            response.meta["depth"] = 0
            is_cut = False
            for url in sitemap.urls(response.url):
                if not is_cut and not self.within.allows(url):
                    is_cut = True
                    self.note_cut_list(response.url, SITEMAP)
                # What a sitemap names is a page of its own, whatever was learned of its URL.
                wanted = self._is_listed(url, response.url)
                meta = {FIXED: True, LINK_KIND: SITEMAP}
                request = self.page_request(url, meta) if wanted else None
                if request is not None:
                    yield self.files.rank(request)
        elif response.meta.get("depth", 0) < _MAX_SITEMAP_DEPTH:
            requests = map(self._sitemap_request, sitemap.urls(response.url))
            yield from filter(None, requests)

    def _is_listed(self, url: str, source: str) -> bool:
        """Return whether a page that a sitemap lists is to be asked for."""
        if not self.within.allows(url):
            return False
        with suppress(ValueError):
            key = self.job.canonicalizer.key(url)
            if key not in self.job.frontier.seen:
                self.link_counts.note_met(SITEMAP)
            return not self.files.is_put_aside(url, key, 1, source)
        return False

    def _sitemap_request(self, url: str, meta: Mapping[str, Any] | None = None) -> Request | None:
        try:
            if self.notes.sitemaps >= self.max_sitemaps:
                return None
            if self.job.canonicalizer.description_key(url) in self.job.frontier.seen:
                return None
            request = Request(
                url,
                callback=self.parse_sitemap,
                errback=self.sitemap_failed,
                meta={
                    FIXED: True,
                    LIST: True,
                    "download_maxsize": self.sitemap_limits.max_bytes,
                    **(meta or {}),
                },
            )
        except ValueError as error:
            self.logger.warning("%s: no sitemap: %s", url, error)
            return None
        if GUESS not in request.meta:  # of those it counts only what turns out to be one
            self._count_sitemap()
        return request

    def _count_sitemap(self) -> None:
        with suppress(CrawlStorageError):  # the job remembers it, and the crawl ends
            if self.notes.count_sitemap() == self.max_sitemaps:
                self.logger.warning("no more sitemaps are fetched: CRAWL_MAX_SITEMAPS is reached")

    def sitemap_failed(self, failure: Any) -> None:
        """A sitemap that is not there takes nothing away from the crawl."""
        if GUESS in failure.request.meta:  # that there is none is no failure of the site
            return
        verdict, reason, status = explain(failure, self.settings)
        self._note_sitemap(
            failure.request.url, verdict, Reason.NO_SITEMAP.stored(in_words(reason)), status
        )

    def _note_sitemap(self, url: str, verdict: str, reason: Stored, status: int) -> None:
        self.logger.warning("%s: %s", url, in_words(reason))
        with suppress(ValueError):
            if self.job.canonicalizer.key(url) in self.job.frontier.seen:
                return  # it is a page as well, whose own answer is stored
        with suppress(CrawlStorageError):  # the job remembers it, and the crawl ends
            self.job.store_failure(url, verdict, reason, status=status)
