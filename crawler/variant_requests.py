"""Request the variants that ``crawler.url_rules.fixed_rules`` chooses, to try the fixed rules."""

from __future__ import annotations

import logging
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING

from scrapy import Request

from crawler.frontier.request_records import MalformedRequestError
from crawler.job_registry import job_of
from crawler.lean_parts import refer
from crawler.request_codec import UnstorableError, decode_request, encode_request
from crawler.request_meta import AGAIN, CONTROL, FIXED, SPELLING, depth_of, is_apart
from crawler.storage.states import VariantState
from crawler.urls.parts import MalformedUrl

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy import Spider
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)


class VariantRequests:
    """Stores requests for variants, and lets those through that try a fixed rule.

    Only pages that are stored can be compared: where a spider stores none, each variant is
    requested. The workers of a fleet have no rules to try (``crawler.job_registry``).
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._job = job_of(crawler)
        self._rules = self._job.url_rules.fixed
        self._canonical = self._job.canonicalizer

    @property
    def _is_on(self) -> bool:
        return self._job.fleet is None

    @cached_property
    def tries_rules(self) -> bool:
        """Whether the spider stores pages that can be compared; else no fixed rule is tried."""
        return hasattr(self._crawler.spider, "links_of")

    @property
    def _spider(self) -> Spider:
        assert self._crawler.spider is not None
        return self._crawler.spider

    def resume(self) -> None:
        """Continue what a process left that was killed."""
        if self._is_on:
            self._rules.resume()

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
            self._rules.put(variant, request.priority, b"")

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
        encoded = b""
        if variant.state == VariantState.SKIPPED:
            if self._is_led_by_variant(request):
                state = VariantState.TRIED if variant.can_be_tried else VariantState.SEPARATE
                variant = variant._replace(state=state)
            else:
                try:
                    encoded = encode_request(request, self._spider)
                except UnstorableError:
                    variant = variant._replace(state=VariantState.SEPARATE)
        self._rules.put(variant, request.priority, encoded)
        self._crawler.stats.inc_value(f"fixed_rules/{variant.state.name.lower()}")
        if variant.state == VariantState.SKIPPED:
            return False
        self._fix(request, is_tried=variant.state == VariantState.TRIED)
        return self._job.frontier.seen.add(variant.key, depth_of(request.meta))

    def _may_vary(self, request: Request) -> bool:
        """Return whether the URL of a request may be a variant of the one of its page."""
        meta = request.meta
        is_page = request.method == "GET" and not request.body and AGAIN not in meta
        is_spelling = SPELLING in meta and not meta.get("redirect_urls")
        return self._is_on and is_page and not is_spelling and not is_apart(meta)

    def _is_led_by_variant(self, request: Request) -> bool:
        """Return whether a variant was redirected to a request, which is its page then."""
        key, of = self._canonical.key, self._canonical.is_separate
        return any(of(key(url)) for url in request.meta.get("redirect_urls", ()))

    def _fix(self, request: Request, *, is_tried: bool) -> None:
        """Let no learned rule skip a trial, or a variant that has the address of its page."""
        merged = self._canonical.without(())(request.url)
        if is_tried or self._canonical.exact(request.url) == merged:
            request.meta[FIXED] = True

    def note_redirect(self, source: bytes, target: bytes, url: str) -> None:
        """Note a redirect from one request fingerprint to another one, of a URL."""
        if self._is_on:
            with suppress(MalformedUrl):
                self._rules.note_redirect(source, target, url)

    @property
    def is_releasing(self) -> bool:
        """Whether variants that a revoked rule skipped are still to be queued."""
        return self._is_on and self._rules.is_releasing

    def release(self) -> Iterator[Request]:
        """Yield some requests that a revoked rule skipped, and those for controls; each is queued.

        A spider that follows no links cannot meet sessions without end, and needs no control.
        """
        for key, url in self._rules.take_controls() if self._is_on else ():
            parse = getattr(self._spider, "parse_control", None)
            if parse is None:
                self._rules.decide(key)
                continue
            failed = getattr(self._spider, "control_failed", None)
            meta = {FIXED: True, CONTROL: key.hex()}
            control = Request(url, parse, errback=failed, meta=meta, dont_filter=True)
            known_key = self._crawler.request_fingerprinter.fingerprint(control)
            yield refer(self._crawler, control, self._job.visits.known.referer(known_key))
        for variant in self._rules.release() if self.is_releasing else ():
            try:
                request = decode_request(
                    variant.request, variant.url, variant.priority, self._spider
                )
            except MalformedRequestError as error:
                logger.error("%s cannot be taken up again: %s", variant.url, error)  # noqa: TRY400
                self._job.result.broken_requests += 1
                continue
            self._fix(request, is_tried=variant.state == VariantState.TRIED)
            yield request
