"""Take the pages of a site from its sitemaps: those that robots.txt names, or usual ones."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

from scrapy import Request

from crawler.downloadermiddlewares.failures import explain
from crawler.pages.reasons import Reason, Stored, in_words
from crawler.pages.verdicts import UNREADABLE
from crawler.reading.link_kinds import SITEMAP, Follow
from crawler.reading.sitemaps import SitemapContent, read_sitemap
from crawler.request_meta import FIXED, GUESS, LED_BY, LINK_KIND, SEED
from crawler.spiders.guessing import GuessingSpider
from crawler.storage.errors import CrawlStorageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from scrapy.http import Response
    from scrapy.robotstxt import RobotParser


# An index of sitemaps names sitemaps and no further index, says sitemaps.org; some sites do.
_MAX_SITEMAP_DEPTH = 2
_GUESSED = ("/sitemap.xml", "/sitemap_index.xml")
_MAX_GUESSED_HOSTS = 29
_MIN_SHARE_FOUND = 1 / 20


class SitemapSpider(GuessingSpider):
    """Requests sitemaps once the robots.txt of a host is read, and the pages that they list."""

    max_sitemaps: int
    _guessed_hosts = 0
    _found_by_guess = 0

    def robots_parsed(self, robotparser: RobotParser, request: Request) -> None:
        """Queue the sitemaps that robots.txt names, but not those of a host that is not crawled."""
        if SEED not in request.meta and not self.within.allows(request.url):
            return
        parser = getattr(robotparser, "rp", None)
        named = SitemapContent(is_index=True, locations=tuple(getattr(parser, "sitemaps", ())))
        found: dict[str, dict[str, Any]] = {url: {} for url in named.urls(request.url)}
        if not found and self._may_guess(is_seed=SEED in request.meta):
            # What is no sitemap may be a page, which is no seed.
            guess = {LINK_KIND: SITEMAP, GUESS: True, "depth": 1}
            found = {urljoin(request.url, path): guess for path in _GUESSED}
        for url, meta in found.items():
            sitemap = self._sitemap_request(url, {**meta, LED_BY: request.url})
            if sitemap is not None:
                self.crawler.engine.crawl(sitemap)

    def _may_guess(self, *, is_seed: bool) -> bool:
        """Return whether to look for a sitemap that robots.txt does not name.

        Beyond the hosts of seeds that ends after ``_MAX_GUESSED_HOSTS`` unless some have one: a
        domain may have hosts without end.
        """
        if self.link_kinds[SITEMAP] is Follow.NO:
            return False
        is_many = self._guessed_hosts >= _MAX_GUESSED_HOSTS
        is_vain = self._found_by_guess < self._guessed_hosts * _MIN_SHARE_FOUND
        if not is_seed and is_many and is_vain:
            return False
        self._guessed_hosts += 1
        return True

    async def parse_sitemap(self, response: Response) -> Iterator[Request]:
        """Return requests for the pages within the scope, and for further sitemaps."""
        sitemap = await asyncio.to_thread(read_sitemap, response.body, self.sitemap_limits)
        return self._listed(response, sitemap)

    def _listed(self, response: Response, sitemap: SitemapContent | None) -> Iterator[Request]:
        if sitemap is None:
            if GUESS in response.meta and self.within.allows(response.url):
                # A page, perhaps that which a redirect led to: seen, and not stored yet.
                page = self.page_request(response.url, {LINK_KIND: SITEMAP})
                if page is not None:
                    yield page.replace(dont_filter=True)
            elif GUESS not in response.meta:
                reason = Reason.NOT_SITEMAP.stored()
                self._note_sitemap(response.url, UNREADABLE, reason, response.status)
            return
        if GUESS in response.meta:
            self._found_by_guess += 1
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
                self.link_counts.note_found(SITEMAP)
            return not self.files.is_put_aside(url, key, 1, source)
        return False

    def _sitemap_request(self, url: str, meta: Mapping[str, Any] | None = None) -> Request | None:
        try:
            if self.notes.sitemaps >= self.max_sitemaps:
                return None
            if self.has_met(url):
                return None
            request = Request(
                url,
                callback=self.parse_sitemap,
                errback=self.sitemap_failed,
                meta={FIXED: True, **(meta or {})},
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
        with suppress(CrawlStorageError):  # the job remembers it, and the crawl ends
            self.job.store_failure(url, verdict, reason, status=status)
