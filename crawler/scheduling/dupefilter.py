"""Make request fingerprints of canonical URLs, and ask the seen set whether they were met."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import xxhash
from scrapy.dupefilters import BaseDupeFilter

from crawler.job_registry import CrawlerComponent, job_of
from crawler.request_meta import SPELLING, depth_of, is_apart
from crawler.scheduling.variant_requests import OtherSpellings, VariantRequests
from crawler.urls.parts import MalformedUrl

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.crawler import Crawler

    from crawler.urls.canonical import Canonicalizer

logger = logging.getLogger(__name__)


class CanonicalFingerprinter:
    """Identifies requests by method, canonical URL and body.

    A plain GET has the key of its canonical URL itself, so that links can be
    looked up before a ``Request`` is made of them. A file that is only read for the
    pages that it names, or may be one that a script names, has another one: where a page links
    to it, it is a page too.
    """

    def __init__(self, canonicalizer: Canonicalizer) -> None:
        self._canonicalizer = canonicalizer

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> CanonicalFingerprinter:
        return cls(job_of(crawler).canonicalizer)

    def fingerprint(self, request: Request) -> bytes:
        """Return 16 bytes that are equal for requests of the same resource."""
        try:
            if is_apart(request.meta):
                return self._canonicalizer.description_key(request.url)
            key = self._canonicalizer.known_as(request.url).key
        except MalformedUrl:
            key = xxhash.xxh3_128_digest(request.url.encode("utf-8", "surrogatepass"))
        if request.method == "GET" and not request.body:
            return key
        return xxhash.xxh3_128_digest(b"\0".join((request.method.encode(), key, request.body)))


class SeenFilter(CrawlerComponent, BaseDupeFilter):
    """Filters requests by the fingerprint of their canonical URL.

    A Bloom filter is asked first, the exact set in ``crawl.db`` after it
    (``crawler.frontier.seen``). A redirect to the very page that redirects,
    as sites do that set a cookie or take off a session id, passes:
    filtering it would lose the page. ``REDIRECT_MAX_TIMES`` ends a loop.
    Another spelling of a URL passes too where those before it gave no page, and a variant that
    tries a fixed rule.
    """

    def __init__(self, crawler: Crawler) -> None:
        frontier, self._rules = job_of(crawler).frontier, job_of(crawler).url_rules.fixed
        self._revoked_hosts = self._rules.revoked_hosts
        self._seen, self._spellings = frontier.seen, frontier.spellings
        self._others = OtherSpellings(crawler)
        self._variants = VariantRequests(crawler)
        self._crawler = crawler
        self._names_each = crawler.settings.getbool("DUPEFILTER_DEBUG")

    def request_seen(self, request: Request) -> bool:
        """Return whether the request was queued before, and remember it."""
        if self._revoked_hosts or not self._variants.tries_rules:
            self._variants.keep_apart(request)
        fingerprint = self._crawler.request_fingerprinter.fingerprint(request)
        meta = request.meta
        if SPELLING in meta and not meta.get("redirect_urls"):
            return not self._spellings.note_asked(fingerprint, request.url)
        is_new = self._seen.add(fingerprint, depth_of(meta))
        if is_new or self._is_own_redirect(request, fingerprint):
            if not is_new or self._revoked_hosts or not self._others.is_canonical(request.url):
                self._variants.note_first(request, fingerprint)
            return False
        if self._others.is_canonical(request.url) and self._rules.is_first(fingerprint):
            return True  # nearly all of them
        is_spelling = self._others.passes(request, fingerprint)
        return not (is_spelling or self._variants.admits(request, fingerprint))

    def _is_own_redirect(self, request: Request, fingerprint: bytes) -> bool:
        if "redirect_urls" not in request.meta:
            return False
        of = self._crawler.request_fingerprinter.fingerprint
        return any(
            of(request.replace(url=url)) == fingerprint for url in request.meta["redirect_urls"]
        )

    def log(self, request: Request, spider: Spider) -> None:
        if self._names_each:
            logger.debug("queued before: %s", request, extra={"spider": spider})
        self._crawler.stats.inc_value("dupefilter/filtered")
