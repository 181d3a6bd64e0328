"""The spider that crawls a site: from its seeds along the links, each page once."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from scrapy import Request, signals

from crawler.downloadermiddlewares.failures import explain
from crawler.downloadermiddlewares.limits import OutOfScopeError
from crawler.options import Options
from crawler.pages.reasons import Reason, Stored, in_words
from crawler.pages.verdicts import FAILED, UNREADABLE
from crawler.reading.sitemaps import SitemapContent, SitemapLimits, read_sitemap
from crawler.request_meta import FIXED, LED_BY, SEED, SPELLING
from crawler.spiders.file_requests import FileRequests
from crawler.spiders.page_spider import REVISIT_MEANING, RULES_MEANING, check_arguments
from crawler.spiders.wall_probes import ProbingSpider
from crawler.storage.errors import CrawlStorageError
from crawler.urls.parts import MalformedUrl
from crawler.urls.scope import DENIED, Scope, may_lead_back, moved_scope
from crawler.urls.seeds import check_seed, host_folder, split_seeds

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.robotstxt import RobotParser
    from twisted.python.failure import Failure

    from crawler.frontier.frontier import Frontier
    from crawler.pages.page_context import Captured
    from crawler.pages.page_store import StoredUrl
    from crawler.pages.visits import VisitNotes

# An index of sitemaps names sitemaps and no further index, says sitemaps.org; some sites do.
_MAX_SITEMAP_DEPTH = 2
# Where the project bounds the length of URLs nowhere.
_MAX_URL = 65_536


class SiteSpider(ProbingSpider):
    """Breadth first from the seeds, within their scope."""

    name = "site"
    arguments: ClassVar[Mapping[str, str]] = {
        "url": "where to start; several are separated by commas",
        "scope": "prefix (the folder of the URL, default), host or domain",
        "max_pages": "stop after so many pages",
        "max_depth": "links away from a seed, at most",
        "sitemaps": "yes (default) or no: take URLs from the sitemaps that robots.txt names",
        "allow": "regular expression that a URL must match somewhere",
        "deny": "regular expression that a URL must not match",
        "revisit": REVISIT_MEANING,
        "rules": RULES_MEANING,
    }

    planned: ClassVar[tuple[str, ...]] = ("url", "scope", "allow", "deny")

    url: str
    scope: str = "prefix"
    max_pages: str = ""
    max_depth: str = ""
    sitemaps: str = "yes"
    allow: str | None = None
    deny: str | None = None

    seeds: list[str]
    within: Scope
    depth_limit: int | None
    obey_nofollow: bool
    files: FileRequests
    notes: VisitNotes
    frontier: Frontier
    sitemap_limits: SitemapLimits
    max_sitemaps: int

    @classmethod
    def check_arguments(cls, arguments: Mapping[str, str]) -> None:
        check_arguments(arguments, cls.arguments)
        seeds = _seeds(arguments)
        _scope(seeds, arguments)
        for name in ("max_pages", "max_depth"):
            _whole_number(name, arguments.get(name, ""))
        yes_or_no("sitemaps", arguments.get("sitemaps", "yes"))

    @classmethod
    def folder_name(cls, arguments: Mapping[str, str]) -> str:
        return host_folder(_seeds(arguments)[0])

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        spider = super().from_crawler(crawler, *args, **kwargs)
        options = Options(crawler.settings)
        spider.seeds = _seeds(kwargs)
        spider.within = _scope(spider.seeds, kwargs)
        spider.depth_limit = _whole_number("max_depth", spider.max_depth)
        spider.obey_nofollow = options.boolean("CRAWL_OBEY_NOFOLLOW")
        spider.files = FileRequests(
            crawler, spider.job, cls.file_endings(options), spider.file_request
        )
        spider.sitemap_limits = SitemapLimits(
            max_bytes=crawler.settings.getint("DOWNLOAD_MAXSIZE"),
            max_urls=options.integer("CRAWL_MAX_SITEMAP_URLS"),
            max_url_length=crawler.settings.getint("URLLENGTH_LIMIT") or _MAX_URL,
        )
        spider.max_sitemaps = options.integer("CRAWL_MAX_SITEMAPS")
        max_pages = _whole_number("max_pages", spider.max_pages)
        told = replace(spider.job.run, max_pages=max_pages, seeds=frozenset(spider.seeds))
        spider.job.tell(replace(told, may_ask=spider.may_ask))
        spider.archivist.keep_links = True
        spider.notes, spider.frontier = spider.job.visits.notes, spider.job.frontier
        for seed, target in spider.notes.moved_seeds().items():
            spider.within = moved_scope(spider.within, seed, target) or spider.within
        spider.notes.after_moved_seed.append(spider.move_scope)
        if yes_or_no("sitemaps", spider.sitemaps) and spider.depth_limit != 0:
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
            self.notes.follow_from(1)
            for url in self.notes.take_cut_sitemaps():
                # What it listed is not stored, so it is asked for once more.
                meta = {FIXED: True, LED_BY: url}
                request = Request(url, self.parse_sitemap, errback=self.sitemap_failed, meta=meta)
                self.crawler.engine.crawl(request.replace(dont_filter=True))

    def leads_further(self, key: bytes) -> bool:
        """Return whether a stored page has links within the scope that were not so near yet."""
        captured = self.links_of(key)
        if captured is None or not self.follows(captured):
            return False
        depth, known = captured.row.depth + 1, self.frontier.seen.depth
        return any(
            ((found := known(link.key)) is None or found > depth) and self.within.allows(link.url)
            for link in captured.links
        )

    def may_ask(self, url: str, meta: Mapping[str, Any]) -> bool:
        return self.within.allows(url)

    async def first_requests(self) -> AsyncIterator[Request]:
        for seed in self.seeds:
            request = self.page_request(seed, {SEED: seed, "depth": 0, FIXED: True})
            if request is not None:
                yield request

    def known_request(self, known: StoredUrl) -> Request | None:
        """Return the request for a known URL within today's scope, also where it failed so far."""
        too_deep = self.depth_limit is not None and known.depth > self.depth_limit
        if too_deep or not self.within.allows(known.url):
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
        return self.page_request(known.url, meta)

    async def parse(self, response: Response) -> Iterable[Any]:
        """Capture a page that is within the scope, wherever it was redirected to."""
        redirected: list[str] = response.meta.get("redirect_urls", [])
        if redirected and not self._may_land(response, redirected[0]):
            return ()
        return await super().parse(response)

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
        depth = meta.get("depth", 0)
        refused = self.job.store_failure(
            source, FAILED, Reason.REDIRECTED_OUT.stored(), depth=depth, redirected=others
        )
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
            return refusal != DENIED and may_lead_back(meta["redirect_urls"][0], url)
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
        for link in captured.links:
            known = self.frontier.seen.depth(link.key)
            is_seen = known is not None and known <= depth
            if is_seen and link.is_canonical and not link.others:
                continue  # nearly all of them
            if link.nofollow and self.obey_nofollow:
                continue
            for url in filter(self._is_wanted, (link.url, *link.others)):
                if not is_seen and self.files.is_put_aside(url, link.key, depth):
                    is_seen = True  # its other spellings are remembered
                    continue
                request = self._spelled(url, link.key, is_seen=is_seen)
                is_seen = True
                if request is not None:
                    yield self.files.rank(request)

    def _is_wanted(self, url: str) -> bool:
        refused = self.within.refusal(url)
        if refused is not None:
            self.result.refuse_link(refused)
        return refused is None

    def file_request(self, url: str, depth: int) -> Request | None:
        """Return the request for a link that looks like a file and was found at a depth."""
        too_deep = self.depth_limit is not None and depth > self.depth_limit
        if too_deep or not self.within.allows(url):
            return None
        return self.page_request(url, {"depth": depth, FIXED: True, LED_BY: self.seeds[0]})

    def _spelled(self, url: str, key: bytes, *, is_seen: bool) -> Request | None:
        """Return the request for a link, for a further spelling only if it is wanted now."""
        if not is_seen:
            return self.page_request(url)
        if self.job.canonicalizer.known_as(url).is_canonical:
            return None
        if not self.frontier.spellings.is_wanted(key, url):
            return None
        return self.page_request(url, {SPELLING: True})

    def robots_parsed(self, robotparser: RobotParser, request: Request) -> None:
        """Queue the sitemaps that robots.txt names, but not those of a host that is not crawled."""
        if SEED not in request.meta and not self.within.allows(request.url):
            return
        parser = getattr(robotparser, "rp", None)
        named = SitemapContent(is_index=True, locations=tuple(getattr(parser, "sitemaps", ())))
        for url in named.urls(request.url):
            sitemap = self._sitemap_request(url)
            if sitemap is not None:
                sitemap.meta[LED_BY] = request.url
                self.crawler.engine.crawl(sitemap)

    def parse_sitemap(self, response: Response) -> Iterator[Request]:
        """Yield requests for the pages within the scope, and for further sitemaps."""
        sitemap = read_sitemap(response.body, self.sitemap_limits)
        if sitemap is None:
            self._note_sitemap(
                response.url, UNREADABLE, Reason.NOT_SITEMAP.stored(), response.status
            )
            return
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
                    with suppress(CrawlStorageError):  # the job remembers it, and the crawl ends
                        self.notes.note_cut_sitemap(response.url)
                # What a sitemap names is a page of its own, whatever was learned of its URL.
                wanted = self._is_listed(url)
                request = self.page_request(url, {FIXED: True}) if wanted else None
                if request is not None:
                    yield self.files.rank(request)
        elif response.meta.get("depth", 0) < _MAX_SITEMAP_DEPTH:
            requests = map(self._sitemap_request, sitemap.urls(response.url))
            yield from filter(None, requests)

    def _is_listed(self, url: str) -> bool:
        """Return whether a page that a sitemap lists is to be asked for."""
        if not self.within.allows(url):
            return False
        with suppress(ValueError):
            return not self.files.is_put_aside(url, self.job.canonicalizer.key(url), 1)
        return False

    def _sitemap_request(self, url: str) -> Request | None:
        try:
            if self.notes.sitemaps >= self.max_sitemaps:
                return None
            if self.job.canonicalizer.key(url) in self.frontier.seen:
                return None
            request = Request(
                url,
                callback=self.parse_sitemap,
                errback=self.sitemap_failed,
                meta={FIXED: True},
            )
        except ValueError as error:
            self.logger.warning("%s: no sitemap: %s", url, error)
            return None
        with suppress(CrawlStorageError):  # the job remembers it, and the crawl ends
            if self.notes.count_sitemap() == self.max_sitemaps:
                self.logger.warning("no more sitemaps are fetched: CRAWL_MAX_SITEMAPS is reached")
        return request

    def sitemap_failed(self, failure: Any) -> None:
        """A sitemap that is not there takes nothing away from the crawl."""
        verdict, reason, status = explain(failure, self.settings)
        self._note_sitemap(
            failure.request.url, verdict, Reason.NO_SITEMAP.stored(in_words(reason)), status
        )

    def _note_sitemap(self, url: str, verdict: str, reason: Stored, status: int) -> None:
        self.logger.warning("%s: %s", url, in_words(reason))
        with suppress(CrawlStorageError):  # the job remembers it, and the crawl ends
            self.job.store_failure(url, verdict, reason, status=status)


def _seeds(arguments: Mapping[str, str]) -> list[str]:
    urls = split_seeds(arguments.get("url", ""))
    if not urls:
        raise ValueError("where to start? give -a url=https://...")
    return [check_seed(url) for url in urls]


def _scope(seeds: list[str], arguments: Mapping[str, str]) -> Scope:
    return Scope(
        seeds,
        kind=arguments.get("scope", "prefix"),
        allow=arguments.get("allow"),
        deny=arguments.get("deny"),
    )


def _whole_number(name: str, value: str) -> int | None:
    if not value:
        return None
    if not value.isdecimal() or (name == "max_pages" and int(value) == 0):
        least = " above 0" if name == "max_pages" else ""
        raise ValueError(f"-a {name} must be a whole number{least}, got {value!r}")
    return int(value)


def yes_or_no(name: str, value: str) -> bool:
    if value not in {"yes", "no"}:
        raise ValueError(f"-a {name} must be yes or no, got {value!r}")
    return value == "yes"
