"""The spider that crawls a site: from its seeds along the links, each page once."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import urlsplit

from scrapy import Request, signals
from scrapy.http.request import NO_CALLBACK

from crawler.downloadermiddlewares.limits import OutOfScopeError
from crawler.downloading.cookies import is_below
from crawler.downloading.pace import TransferRate
from crawler.options import Options
from crawler.pages.page_context import Way
from crawler.pages.reasons import Reason
from crawler.pages.verdicts import FAILED
from crawler.reading.link_kinds import ANCHOR, SITEMAP, Follow
from crawler.reading.sitemaps import SitemapLimits
from crawler.request_meta import FIXED, LED_BY, LINK_KIND, LIST, SEED, SPELLING, WHOLE
from crawler.spiders.argument_table import SITE
from crawler.spiders.arguments import (
    check_site,
    hours_of,
    kinds_of_links,
    scope_of,
    secs_of,
    seeds_of,
    size_of,
)
from crawler.spiders.file_requests import FileRequests
from crawler.spiders.guessing import SitemapSpider
from crawler.storage.errors import CrawlStorageError
from crawler.urls.parts import MalformedUrl
from crawler.urls.scope import (
    HASH_ROUTES,
    MARKED_NOFOLLOW,
    ON_NOFOLLOW_PAGES,
    RULED_OUT,
    Scope,
    may_lead_back,
    moved_scope,
    scope_folder,
    scope_name,
)
from crawler.urls.seeds import host_folder

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Set
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.python.failure import Failure

    from crawler.frontier.frontier import Frontier
    from crawler.pages.page_context import Captured
    from crawler.pages.page_row import StoredUrl
    from crawler.pages.visits import VisitNotes
    from crawler.reading.reading import Link
    from crawler.spiders.argument_table import Argument
    from crawler.url_rules.file_links import Released

_HASH_ROUTE = re.compile(rb"""\shref\s*=\s*["']?[^"'\s<>#]*(#!?/[^"'\s<>]*)""", re.IGNORECASE)
"""A link to a route of an application of which no server is told: to a crawl, the page itself."""

_ROUTE = re.compile(b"#[!/]")  # to search for # alone is several times as fast as for "#/"

# Where the project bounds the length of URLs nowhere.
_MAX_URL = 65_536


class SiteSpider(SitemapSpider):
    """Breadth first from the seeds, within their scope."""

    name = "site"
    is_mirror: ClassVar[bool] = False
    arguments: ClassVar[Mapping[str, Argument]] = SITE

    planned: ClassVar[tuple[str, ...]] = (
        "url",
        "scope",
        "allow",
        "deny",
        "include",
        "exclude",
        "links",
    )

    url: str
    scope: str = "prefix"
    max_pages: str = ""
    max_depth: str = ""
    max_time: str = ""
    max_bytes: str = ""
    max_rate: str = ""
    hours: str = ""
    sitemaps: str = "yes"
    allow: str | None = None
    deny: str | None = None
    include: str | None = None
    exclude: str | None = None
    links: str = ""
    check_fragments: str = "no"
    cookies: str = ""

    seeds: list[str]
    transfer_rate: TransferRate | None
    obey_nofollow: bool
    notes: VisitNotes
    frontier: Frontier

    @classmethod
    def check_arguments(cls, arguments: Mapping[str, str]) -> None:
        check_site(arguments, cls.arguments, is_mirror=cls.is_mirror)

    @classmethod
    def folder_name(cls, arguments: Mapping[str, str]) -> str:
        return host_folder(seeds_of(arguments)[0])

    @classmethod
    def scope_name(cls, arguments: Mapping[str, str]) -> str:
        return scope_name(seeds_of(arguments), arguments.get("scope", cls.scope))

    @classmethod
    def own_folder_name(cls, arguments: Mapping[str, str]) -> str:
        return scope_folder(seeds_of(arguments), arguments.get("scope", cls.scope))

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        spider = super().from_crawler(crawler, *args, **kwargs)
        options = Options(crawler.settings)
        spider.seeds = seeds_of(kwargs)
        spider.within = scope_of(spider.seeds, kwargs)
        spider.depth_limit = int(spider.max_depth) if spider.max_depth else None
        spider.obey_nofollow = options.boolean("CRAWL_OBEY_NOFOLLOW")
        spider.files = FileRequests(
            crawler, spider.job, cls.file_endings(options), spider.file_request
        )
        spider.sitemap_limits = SitemapLimits(
            max_bytes=options.integer("CRAWL_MAX_SITEMAP_BYTES"),
            max_urls=options.integer("CRAWL_MAX_SITEMAP_URLS"),
            max_url_length=crawler.settings.getint("URLLENGTH_LIMIT") or _MAX_URL,
        )
        spider.max_sitemaps = options.integer("CRAWL_MAX_SITEMAPS")
        spider.follow_kinds(kinds_of_links(kwargs, is_mirror=cls.is_mirror))
        spider.job.tell(
            max_pages=int(spider.max_pages) if spider.max_pages else None,
            max_secs=secs_of(kwargs),
            max_bytes=size_of(kwargs),
            hours=hours_of(kwargs),
            seeds=frozenset(spider.seeds),
            may_ask=spider.may_ask,
        )
        rate = size_of(kwargs, "max_rate")
        spider.transfer_rate = None if rate is None else TransferRate(rate)
        spider.processor.keep_links = True
        if spider.check_fragments == "yes":
            spider.processor.links.with_places = True
            spider.processor.pool.change(places=True)
        spider.notes, spider.frontier = spider.job.visits.notes, spider.job.frontier
        for seed, target in spider.notes.moved_seeds().items():
            spider.within = moved_scope(spider.within, seed, target) or spider.within
        spider.notes.after_moved_seed.append(spider.move_scope)
        if spider.sitemaps == "yes" and spider.depth_limit != 0:
            crawler.signals.connect(spider.robots_parsed, signals.robots_parsed)
        return spider

    @classmethod
    def file_endings(cls, options: Options) -> frozenset[str]:
        """Endings of links that are taken for files until they are seen to be pages."""
        names = options.names("CRAWL_SKIPPED_EXTENSIONS")
        return frozenset(name.lower().rpartition(".")[2] for name in names)

    def move_scope(self, seed: str, target: str) -> None:
        """Let the scope follow a seed that was redirected, where it may."""
        self._take_scope(moved_scope(self.within, seed, target) or self.within)

    def _take_scope(self, scope: Scope) -> None:
        """Replace the scope, and have the links of all stored pages judged by it."""
        if scope is not self.within:
            self.within = scope
            self.forget_guesses()  # what was outside may be within
            self.notes.follow_from(1)
            for url, kind in self.notes.take_cut_lists().items():
                # What it listed is not stored, so it is asked for once more.
                meta = {FIXED: True, LED_BY: url}
                request = self._list_request(url, kind, meta)
                if request is not None:
                    self.crawler.engine.crawl(request.replace(dont_filter=True))

    def _list_request(self, url: str, kind: str, meta: dict[str, Any]) -> Request | None:
        if kind != SITEMAP:
            return self.guess_request(url, kind, meta)
        meta[LIST] = True
        return Request(url, self.parse_sitemap, errback=self.sitemap_failed, meta=meta)

    def leads_further(self, key: bytes) -> bool:
        """Return whether a stored page has links within the scope that were not so near yet."""
        captured = self.links_of(key)
        if captured is None or not self.follows(captured):
            return False
        depth = captured.row.depth + 1
        return any(self._is_nearer(link, depth) for link in captured.links)

    def _is_nearer(self, link: Link, depth: int) -> bool:
        """Return whether a link within the scope is new, or leads to a page that was farther."""
        follow = self.link_kinds[link.kind]
        if follow is Follow.NO or not self.within.allows(link.url):
            return False
        known = self.frontier.seen.depth(link.key)
        return known is None or (follow is Follow.PAGE and known > depth)

    def may_ask(self, url: str, meta: Mapping[str, Any]) -> bool:
        return self.within.allows(url)

    async def first_requests(self) -> AsyncIterator[Request]:
        for seed in self.seeds:
            request = self.page_request(seed, {SEED: seed, "depth": 0, FIXED: True})
            if request is not None:
                yield request
            for asked in self.well_known(seed):
                yield asked

    def entries(self, domains: Set[str]) -> Iterator[Request]:
        """Yield requests that renew the cookies of domains: for the first seed of each host.

        A seed that is still to be asked in this visit is left out.
        """
        asked: set[str] = set()
        for seed in self.seeds if domains else ():
            host = urlsplit(seed).hostname or ""
            is_met = host not in asked and self.has_met(seed)
            if is_met and any(is_below(host, domain) for domain in domains):
                asked.add(host)
                meta = {SEED: seed, "dont_retry": True}
                yield Request(seed, callback=NO_CALLBACK, meta=meta)

    def known_request(self, known: StoredUrl) -> Request | None:
        """Return the request for a known URL within today's scope, also where it failed so far."""
        if self.is_too_deep(known.depth) or not self.within.allows(known.url):
            return None
        # Seeds, robots.txt and sitemaps that failed, all at depth 0, are asked for anyway.
        if not known.is_page and not known.depth:
            return None
        meta = {
            "depth": known.depth,
            FIXED: True,
            LED_BY: known.url if known.is_page else self.seeds[0],
        }
        for seed, target in self.notes.moved_seeds().items():
            if target == known.url:
                meta[SEED] = seed
        return self.page_request(known.url, meta, known.referer)

    async def parse(self, response: Response) -> Iterable[Any]:
        """Capture a page that is within the scope, wherever it was redirected to."""
        redirected: list[str] = response.meta.get("redirect_urls", [])
        if redirected and not self._may_land(response, redirected[0]):
            return ()
        return await super().parse(response)

    def _results(self, response: Response, captured: Captured) -> Iterator[Any]:
        if captured.nofollow:
            self.result.refuse_link(ON_NOFOLLOW_PAGES, len(captured.links))
        body = captured.document or response.body
        if _ROUTE.search(body):
            self.result.refuse_link(HASH_ROUTES, len(set(_HASH_ROUTE.findall(body))))
        yield from super()._results(response, captured)
        if SEED in response.meta and captured.row.links < 2 and b"Set-Cookie" in response.headers:
            request: Any = response.request  # it may have led to a gate
            yield request.replace(meta={WHOLE: True}, dont_filter=True)

    def _may_land(self, response: Response, source: str) -> bool:
        """Return whether a redirect is to be taken; that of a seed may move the scope."""
        seed = response.meta.get(SEED)
        if seed is None and self.within.allows(response.url):
            return True
        moved = None if seed is None else moved_scope(self.within, seed, response.url)
        if seed is not None and moved is not None:
            self._take_scope(moved)
            self.notes.note_moved_seed(seed, response.url)
            return True
        self._refuse_redirect(response.url, response.meta)
        self.job.callbacks.refused(response.meta, Reason.REDIRECTED_OUT.stored())
        return False

    def _refuse_redirect(self, url: str, meta: Mapping[str, Any]) -> None:
        """Store where a redirect leads that is not taken."""
        source, *others = meta["redirect_urls"]
        way = Way(meta.get("depth", 0), others)
        refused = self.job.store_failure(source, FAILED, Reason.REDIRECTED_OUT.stored(), way=way)
        if self.within.allows(url):
            # It was refused a moment ago, and the scope has moved since.
            self.notes.follow_from(refused.row.id)
        statuses = meta.get("redirect_reasons", ())
        self.job.note_moved(source, url, statuses[-1], permanent=set(statuses) <= {301, 308})
        if SEED in meta:
            self.result.note_dead_seed(meta[SEED], f"redirected to {url}; give that URL")

    def may_be_led(self, url: str, meta: Mapping[str, Any]) -> bool:
        """Return whether a redirect is followed, wherever it leads in the end."""
        refusal = None if SEED in meta else self.within.refusal(url)
        if refusal is None:
            return True
        try:
            return refusal not in RULED_OUT and may_lead_back(meta["redirect_urls"][0], url)
        except MalformedUrl:
            return True  # who is to ask for it says what is wrong with it

    def failed(self, failure: Failure) -> Iterator[Any]:
        """Store a failure; one of a redirect that is not followed belongs to its source."""
        if not isinstance(failure.value, OutOfScopeError):
            yield from super().failed(failure)
            return
        request: Request = failure.request  # type: ignore[attr-defined]  # Scrapy puts it there
        with suppress(CrawlStorageError):  # the job remembers it, and the crawl ends
            self._refuse_redirect(request.url, request.meta)

    def follow(self, response: Response, captured: Captured) -> Iterator[Request]:
        """Yield requests for links that are allowed, not too deep and not queued from so near."""
        depth = response.meta.get("depth", 0) + 1
        if captured.nofollow or (self.depth_limit is not None and depth > self.depth_limit):
            return
        fixed, seen = self.job.url_rules.fixed, self.frontier.seen
        for link in captured.links:
            known = seen.young[link.key] if link.key in seen.young else seen.depth(link.key)
            is_seen = known is not None and known <= depth
            is_plain = link.is_canonical and not link.others
            has_other_first = fixed.variants.has_first and not fixed.is_first(link.key)
            if is_seen and is_plain and not (has_other_first and self._may_vary(link)):
                continue  # nearly all of them
            if link.nofollow and self.obey_nofollow:
                self.result.refuse_link(MARKED_NOFOLLOW)
                continue
            if self.link_kinds[link.kind] is not Follow.PAGE:
                guess = None if known is not None else self.guess(link, depth, response.url)
                if guess is not None:
                    yield guess
                continue
            first = None
            for url in filter(self._is_wanted, (link.url, *link.others)):
                own = self.job.canonicalizer.key(url)
                if own != link.key:  # a fixed rule would be wrong of it
                    known_own = seen.depth(own)
                    request = self.page_request(url)
                    if request is not None and (known_own is None or known_own > depth):
                        yield self.files.rank(request)
                    continue
                if known is None and not is_seen:
                    self.link_counts.note_met(link.kind)
                if not is_seen and self.files.is_put_aside(url, link.key, depth, response.url):
                    is_seen = True  # its other spellings are remembered
                    continue
                request = self._spelled(url, link, first, is_seen=is_seen)
                first = url if request is not None and not is_seen else first
                is_seen = True
                if request is not None:
                    yield self.files.rank(request)

    def _may_vary(self, link: Link, url: str = "", first: str | None = None) -> bool:
        """Return whether a link may try a fixed rule."""
        fixed = self.job.url_rules.fixed
        return fixed.may_be_variant(url or link.url, link.key, first)

    def _is_wanted(self, url: str) -> bool:
        refused = self.within.refusal(url)
        if refused is not None:
            self.result.refuse_link(refused)
        return refused is None

    def file_request(self, link: Released) -> Request | None:
        """Return the request for a link that was put aside."""
        if self.is_too_deep(link.depth) or not self.within.allows(link.url):
            return None
        meta = {"depth": link.depth, FIXED: True, LED_BY: link.source or self.seeds[0]}
        if link.place is not None:
            return self.guess_request(link.url, link.place, meta, link.source or None)
        return self.page_request(link.url, meta, link.source or None)

    def _spelled(self, url: str, link: Link, first: str | None, *, is_seen: bool) -> Request | None:
        """Return the request for a link, for a further spelling only if it is wanted now.

        Args:
            url: A spelling of the link.
            link: The link.
            first: The spelling for which this page leads to a request; it is not queued yet.
            is_seen: Whether the page of the link was requested, or is by ``first``.
        """
        if not is_seen:
            return self.page_request(url, None if link.kind == ANCHOR else {LINK_KIND: link.kind})
        if self._may_vary(link, url, first):
            return self.page_request(url)
        if self.job.canonicalizer.known_as(url).is_canonical:
            return None
        if not self.frontier.spellings.is_wanted(link.key, url):
            return None
        return self.page_request(url, {SPELLING: True})
