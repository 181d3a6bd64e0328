"""Make requests for other URLs of a page.

These are other spellings of a URL that gave no page, as ``StoredSpellings`` chooses them, and
variants that ``crawler.url_rules.fixed_rules`` chooses, to try the fixed rules.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any

from scrapy import Request

from crawler.frontier.frontier import StoredSpellings
from crawler.job_registry import job_of
from crawler.lean_parts import refer
from crawler.request_meta import (
    AGAIN,
    CONTROL,
    FIXED,
    FOR_A_PAGE,
    GUESS,
    LED_BY,
    SEED,
    SPELLING,
    depth_of,
    for_another_spelling,
    is_apart,
    led_by,
)
from crawler.scheduling.requests_again import has_links
from crawler.storage.states import VariantState
from crawler.urls.hosts import requestable, sent
from crawler.urls.parts import MalformedUrl

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.crawler import Crawler


class OtherSpellings:
    """Makes requests for the spellings of a crawl's URLs.

    The frontier may be given another store of spellings until the crawl begins.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._job = job_of(crawler)
        self._frontier = self._job.frontier

    def passes(self, request: Request, key: bytes) -> bool:
        """Return whether a request whose key was queued before is made all the same."""
        if request.method != "GET" or request.body or self.is_canonical(request.url):
            return False
        if not self._frontier.spellings.is_wanted(key, request.url):
            return False
        request.meta[SPELLING] = True
        return self._frontier.spellings.note_asked(key, request.url)

    def is_canonical(self, url: str) -> bool:
        try:
            return self._job.canonicalizer.known_as(url).is_canonical
        except MalformedUrl:
            return True

    def failed(self, request: Request) -> list[str]:
        """Return the spellings of a request's URL that gave no page: its own, and its sources."""
        of = self._crawler.request_fingerprinter.fingerprint
        key = of(request)
        sources = request.meta.get("redirect_urls", ())
        return [url for url in sources if of(request.replace(url=url)) == key] + [request.url]

    def canonical_url(self, request: Request) -> str | None:
        """Return the canonical URL of a request, if it may be requested and is another spelling."""
        try:
            url = self._job.canonicalizer(request.url)
            is_another = sent(url) != sent(request.url)
        except MalformedUrl:
            return None
        return url if is_another and self._job.run.may_ask(url, request.meta) else None

    def following(self, request: Request) -> str | None:
        """Return the spelling to request after a request gave no page; None where there is none."""
        spellings = self._frontier.spellings
        assert isinstance(spellings, StoredSpellings)
        key = self._crawler.request_fingerprinter.fingerprint(request)
        canonical_url, failed = self.canonical_url(request), self.failed(request)
        while url := spellings.replacement(key, failed, canonical_url):
            if self._crawler.request_fingerprinter.fingerprint(request.replace(url=url)) == key:
                return url
            failed.append(url)  # it is requested as a page of its own
        return None

    def another(self, request: Request, url: str) -> Request:
        """Return the request for another spelling of a URL, like the one for this spelling."""
        meta = for_another_spelling(request.meta)
        sources = request.meta.get("redirect_urls", ())
        if sources:
            meta[LED_BY] = sources[0]
        return request.replace(url=url, meta=meta, dont_filter=False)


def requestable_request(request: Request) -> Request:
    """Return the request with a URL that can be sent; the target of a redirect has any spelling."""
    given = request.url
    if not given.startswith(("http://", "https://")):
        return request
    try:
        url = requestable(given)
    except MalformedUrl:
        return request
    return request if url == given else request.replace(url=url)


def source_of(request: Request) -> Request:
    """Return the request that was redirected to the target of this one."""
    *before, url = request.meta["redirect_urls"]
    meta = {**request.meta, "redirect_urls": before}
    return request.replace(url=url, meta=meta)


def _is_more_than_a_link(request: Request) -> bool:
    """Return whether a request cannot be made again from its URL, depth and source."""
    if any(name != b"Referer" for name in request.headers) or request.cookies:
        return True
    return not request.meta.keys().isdisjoint({SEED, GUESS, FOR_A_PAGE})


class VariantRequests:
    """Stores requests for variants, and lets those through that try a fixed rule.

    Only pages that are stored can be compared: where a spider stores none, each variant is
    requested. To the workers of a fleet each URL is a page (``crawler.job_registry``).
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._job = job_of(crawler)
        self._rules = self._job.url_rules.fixed
        self._canonical = self._job.canonicalizer

    @cached_property
    def tries_rules(self) -> bool:
        """Whether the spider stores pages that can be compared; else no fixed rule is tried."""
        return hasattr(self._crawler.spider, "links_of")

    @property
    def _spider(self) -> Any:
        return self._crawler.spider

    def keep_apart(self, request: Request) -> None:
        """Give a URL that is met first in this visit the key that it had in the last one."""
        if not self._may_vary(request) or (self.tries_rules and not self._rules.revoked_hosts):
            return
        try:
            key = self._canonical.key(request.url)
        except MalformedUrl:
            return
        if key in self._job.frontier.seen or self._canonical.is_separate(key):
            return
        variant = self._rules.keep_apart(request.url, key, tries=self.tries_rules)
        if variant is not None:
            self._rules.put(variant)

    def note_first(self, request: Request, key: bytes) -> None:
        """Note the URL of a request that is made for the page of a key."""
        if self._may_vary(request) and not self._canonical.is_separate(key):
            with suppress(MalformedUrl):
                self._rules.note_first(key, request.url)

    def admits(self, request: Request, key: bytes) -> bool:
        """Return whether a request whose page was requested before is made all the same."""
        if not self._may_vary(request) or self._canonical.is_separate(key):
            return False
        try:
            variant = self._rules.meet(request.url, key, tries=self.tries_rules)
        except MalformedUrl:
            return False
        if variant is None:
            return False
        if variant.state == VariantState.SKIPPED:
            if self._is_led_by_variant(request):
                state = VariantState.TRIED if variant.can_be_tried else VariantState.SEPARATE
                variant = variant._replace(state=state)
            elif _is_more_than_a_link(request) or not has_links(request, self._spider):
                variant = variant._replace(state=VariantState.SEPARATE)
        self._rules.put(
            variant._replace(depth=depth_of(request.meta), source=led_by(request) or "")
        )
        self._crawler.stats.inc_value(f"fixed_rules/{variant.state.name.lower()}")
        if variant.state == VariantState.SKIPPED:
            return False
        # No learned rule may skip a trial, or a variant that has the address of its page.
        merged = self._canonical.without(())(request.url)
        if variant.state == VariantState.TRIED or self._canonical.exact(request.url) == merged:
            request.meta[FIXED] = True
        return self._job.frontier.seen.add(variant.key, depth_of(request.meta))

    def _may_vary(self, request: Request) -> bool:
        """Return whether the URL of a request may be a variant of the one of its page."""
        meta = request.meta
        is_page = request.method == "GET" and not request.body and AGAIN not in meta
        is_spelling = SPELLING in meta and not meta.get("redirect_urls")
        return is_page and not is_spelling and not is_apart(meta)

    def _is_led_by_variant(self, request: Request) -> bool:
        """Return whether a variant was redirected to a request, which is its page then."""
        key, of = self._canonical.key, self._canonical.is_separate
        return any(of(key(url)) for url in request.meta.get("redirect_urls", ()))

    def note_redirect(self, source: bytes, target: bytes, url: str) -> None:
        """Note a redirect from one request fingerprint to another one, of a URL."""
        with suppress(MalformedUrl):
            self._rules.note_redirect(source, target, url)

    def release(self) -> Iterator[Request]:
        """Yield some requests that a revoked rule skipped, and those for controls; each is queued.

        A spider that follows no links cannot meet sessions without end, and needs no control.
        """
        for key, url in self._rules.take_controls():
            parse = getattr(self._spider, "parse_control", None)
            if parse is None:
                self._rules.decide(key)
                continue
            failed = getattr(self._spider, "control_failed", None)
            meta = {FIXED: True, CONTROL: key.hex()}
            control = Request(url, parse, errback=failed, meta=meta, dont_filter=True)
            known_key = self._crawler.request_fingerprinter.fingerprint(control)
            yield refer(self._crawler, control, self._job.visits.known.referer(known_key))
        for variant in self._rules.release():
            url, source = variant.url, variant.source
            meta = {"depth": variant.depth, LED_BY: source}
            is_ours = self.tries_rules  # else it goes on with what a spider of ours has left
            request = self._spider.page_request(url, meta, source) if is_ours else Request(url)
            if request is not None:
                # Something may have named it for which no learned rule skips a URL.
                request.meta[FIXED] = True
                yield request
