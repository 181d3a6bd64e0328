"""Ask for answers that are compared and not stored.

A page is requested once more to see what changes from fetch to fetch: where a trial of a fixed rule
found another page under its variant, since one that is another at each request says nothing about
the rule; and where a clock or a duration was set aside in a text, for one page of each place of a
template, and for each page that is dropped before that is known. What does not move along is
content, and the page is judged again with it. So are pages with cookies and without them
(``crawler.pages.needless_cookies``).

Where one text answers at several URLs of a host, it is asked for a URL that cannot exist, once a
visit, by a request that waits in the queue as any other does, obeys robots.txt and the scope, and
counts as no page. ``crawler.pages.walls`` compares the answer.
"""

from __future__ import annotations

import time
from contextlib import suppress
from email.utils import parsedate_to_datetime
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.spidermiddlewares.httperror import HttpError

from crawler.pages.needless_cookies import Answer, difference
from crawler.pages.stored_texts import text_of_page, unpack_judged
from crawler.pages.wall_clusters import host_of
from crawler.request_meta import (
    ANEW,
    CONTROL,
    COOKIES,
    FIXED,
    NOT_BEFORE,
    OF_ONE_ANSWER,
    PROOF,
    WHOLE,
    compared,
    host_in,
    without,
)
from crawler.spiders.page_spider import PageSpider
from neardup.fingerprints.digest import payload_digest
from neardup.volatile.answers import Volatile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from scrapy.http import Response
    from twisted.python.failure import Failure

    from crawler.pages.needless_cookies import CookieDifference
    from crawler.pages.page_context import Captured
    from crawler.reading.reading import Reading, WallSigns


_LATEST_SECS = 2**33  # the year 2242; clocks of zones beyond the year 9999 cannot be computed

_NO_SUCH_PAGE = frozenset(range(400, 500)) - {408, 425, 429}
"""Statuses of the class "client error", without those that ask for another try."""

LAST_PRIORITY = -1_000_000
"""The priority of proofs that another one under way may make needless: behind all pages."""


class ControllingSpider(PageSpider):
    """Captures pages, and fetches some again that tell what changes from fetch to fetch."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._under_proof: set[tuple[int, int]] = set()

    async def parse_control(self, response: Response) -> None:
        """Compare the page with what it was."""
        fixed, key = self.job.url_rules.fixed, bytes.fromhex(response.meta[CONTROL])
        if fixed.note_control(key, self.fetched_of(response).payload_digest):
            return
        extract = (await self.read_apart(response)).extract
        text = "" if extract is None else unpack_judged(extract.text_zstd)
        fixed.note_control(key, payload_digest(response.body), text)

    def made_at(self, response: Response) -> float | None:
        """Return when an answer was made, by its own clock or else by ours; None: in a fleet.

        There another worker may have the page that it repeats, and know less of the host.
        """
        if self.job.fleet is not None:
            return None
        secs = _secs_of(response.headers.get(b"Date"))
        return time.time() if secs is None else secs

    def _results(self, response: Response, captured: Captured) -> Iterator[Any]:
        tries = self._tries_of_cookies(response, captured)  # before its links are queued
        results = chain(super()._results(response, captured), tries)
        if not captured.unproven or response.request is None:
            return results
        places = {(host_of(response.url), slot) for slot, _ in captured.unproven}
        is_first = not places <= self._under_proof
        if not is_first and not captured.is_duplicate:
            return results  # it is kept, whatever another page is about to show
        self._under_proof |= places
        again = self._proof(response.request, captured)
        return chain(results, (again if is_first else again.replace(priority=LAST_PRIORITY),))

    def _proof(self, request: Request, captured: Captured) -> Request:
        """Return the request for another fetch of a page, when its clock must have moved."""
        delay_secs = max(Volatile(*place).moves_after_secs for place in captured.unproven)
        return self._asked_again(
            request,
            {PROOF: captured.unproven, NOT_BEFORE: time.time() + delay_secs},
            callback=self.parse_proof,
            errback=self.proof_failed,
        )

    def _asked_again(self, request: Request, meta: dict[str, Any], **callbacks: Any) -> Request:
        kept = without(request.meta, (*OF_ONE_ANSWER, PROOF, NOT_BEFORE, ANEW, COOKIES))
        kept["depth"] = kept.get("depth", 0) - 1  # Scrapy takes it for a link of the page
        meta = {**kept, FIXED: True, **meta}
        again: Request = request.replace(
            meta=meta, dont_filter=True, priority=request.priority + 1, **callbacks
        )
        return again

    async def parse_proof(self, response: Response) -> Iterable[Request]:
        """Compare what a page showed with what it shows now; request it where that is content."""
        reading = await self.read_apart(response, made_at=self.made_at(response))
        return self._note_proof(response.request or Request(response.url), reading.volatile)

    def proof_failed(self, failure: Failure) -> Iterable[Request]:
        """Take for content what there was no answer to compare with."""
        return self._note_proof(failure.request, ())  # type: ignore[attr-defined]  # Scrapy puts it there

    def _note_proof(self, request: Request, places: Sequence[tuple[int, str]]) -> Iterator[Request]:
        with self.closing:
            has_moved = self.job.store.volatile.prove(request.url, request.meta[PROOF], places)
        if not has_moved:
            yield self._anew(request)

    def _anew(self, request: Request) -> Request:
        """Return the request for a page that is judged again, and so must be sent."""
        meta = {ANEW: True, WHOLE: True}
        return self._asked_again(request, meta, callback=None, errback=self.failed)

    def _tries_of_cookies(self, response: Response, captured: Captured) -> list[Request]:
        """Return requests for pages with other cookies, to see whether these make a difference."""
        request, cookies = response.request, self.job.visits.cookies
        if not cookies.is_on or not self.processor.keep_links or self.job.fleet is not None:
            return []
        is_of_user = request is not None and b"Authorization" in request.headers
        if request is None or is_of_user or compared(request) is not None:
            return []
        host, sent = host_in(response.url), request.headers.get(b"Cookie")
        with self.closing:
            if sent is None:
                is_checked = cookies.is_checked(host, captured.verdict, response.url)
                return [self._compared(request, are_sent=True)] if is_checked else []
            if cookies.shows_trail(host):  # it was under way when that was found
                return [self._anew(request)]
            names = {one.partition("=")[0].strip() for one in sent.decode("latin-1").split(";")}
            is_seed = not captured.row.depth or "redirect_urls" in request.meta
            can_differ = captured.row.text is not None and bool(captured.links)
            if is_seed or not can_differ or not cookies.are_untried(host):
                return cookies.note_sent(host, names, None)
            seen = self.job.frontier.seen
            new = [link.key.hex() for link in captured.links if link.key not in seen]
            return cookies.note_sent(host, names, self._compared(request, new, are_sent=False))

    def _compared(self, request: Request, new: Sequence[str] = (), *, are_sent: bool) -> Request:
        """Return the request for a page that is compared with what came of it.

        Args:
            request: The request that it came of.
            new: Keys of links that no other page had before it, in hexadecimal digits.
            are_sent: Whether cookies are sent now.
        """
        meta = {COOKIES: (request.url, are_sent, new)}
        return self._asked_again(
            request, meta, callback=self.parse_compared, errback=self.compare_failed
        )

    async def parse_compared(self, response: Response) -> Iterable[Request]:
        """Compare what a page says with cookies and without."""
        url, are_sent, new = response.meta[COOKIES]
        request = response.request or Request(url)
        reading = await self.read_apart(response, made_at=self.made_at(response))
        with self.closing:
            stored, came = self._stored(self.key_of(request)), Answer.of(reading)
            more = None
            if response.url == url and stored is not None:
                sent, unsent = (came, stored) if are_sent else (stored, came)
                more = difference(
                    sent, unsent, lambda key: key.hex() not in new and self._is_met(key)
                )
            return self._note_compared(request, more)

    def _is_met(self, key: bytes) -> bool:
        """Return whether another page led to a URL, in this visit or in an earlier one."""
        return key in self.job.frontier.seen or self.job.store.previous(key) is not None

    def _stored(self, key: bytes) -> Answer | None:
        """Return what is stored of a page; None: its links are not."""
        store = self.job.store
        row, linked = store.previous(key), self.links_of(key)
        if row is None:
            return Answer("", None, ())
        held = text_of_page(store.database.read, row.id)
        text = "" if held is None else unpack_judged(held.text)
        if linked is None:
            return None
        return Answer(text, row.visible_digest, linked.links, row.language)

    def compare_failed(self, failure: Failure) -> Iterable[Request]:
        """Note that a page without cookies is none; one with them is not missed."""
        request = failure.request  # type: ignore[attr-defined]  # Scrapy puts it there
        with self.closing:
            return () if request.meta[COOKIES][1] else self._note_compared(request, None)

    def _note_compared(self, request: Request, more: CookieDifference | None) -> list[Request]:
        """Note what a page has more with cookies; return what is to be asked again."""
        url, are_sent, _ = request.meta[COOKIES]
        host, cookies = host_in(url), self.job.visits.cookies
        if are_sent:
            cookies.note_check(host, more)
            return []
        if not cookies.note_proof(host, more):
            return []
        if not cookies.shows_trail(host):
            return []
        of_host = [page for page in self.job.store.urls() if host_in(page.url) == host]
        known = (self.known_request(page) for page in of_host if self._is_of_visit(page.key))
        return [self._anew(request) for request in known if request is not None]

    def _is_of_visit(self, key: bytes) -> bool:
        row = self.job.store.previous(key)
        return row is not None and row.seen_visit == self.job.visits.number

    async def read_apart(self, response: Response, made_at: float | None = None) -> Reading:
        """Read an answer that is compared and not stored."""
        content_type = (response.headers.get(b"Content-Type") or b"").decode("latin-1")
        with self.closing:
            return await self.processor.pool.read(
                response.url, response.body, content_type, made_at=made_at, known=lambda _: None
            )

    def control_failed(self, failure: Failure) -> None:
        """Note that there was no answer to compare."""
        request = failure.request  # type: ignore[attr-defined]  # Scrapy puts it there
        self.job.url_rules.fixed.note_control(bytes.fromhex(request.meta[CONTROL]), None)


class ProbingSpider(ControllingSpider):
    """Captures pages, and probes hosts that seem to answer unknown URLs with a page."""

    def _results(self, response: Response, captured: Captured) -> Iterator[Any]:
        return chain(super()._results(response, captured), self._probes(response))

    def _probes(self, response: Response) -> Iterator[Request]:
        url = self.processor.walls.wanted_probe(
            response.url, lambda one: self.job.run.may_ask(one, {})
        )
        if url is not None:
            yield Request(
                url, callback=self.parse_probe, errback=self.probe_failed, meta={FIXED: True}
            )

    async def parse_probe(self, response: Response) -> None:
        """Store the text that a host answers with."""
        reading = await self.read_apart(response)
        self._note_probe(response.request or Request(response.url), reading.signs)

    def probe_failed(self, failure: Failure) -> None:
        """Store that a host says of a URL that it does not exist, as it should.

        Any other failure may be gone in a moment, and says nothing: no answer is stored.
        """
        error = failure.value
        if isinstance(error, HttpError) and error.response.status in _NO_SUCH_PAGE:
            self._note_probe(failure.request, None)  # type: ignore[attr-defined]  # Scrapy puts it there

    def _note_probe(self, request: Request, signs: WallSigns | None) -> None:
        urls = request.meta.get("redirect_urls", ())
        with self.closing:
            self.processor.walls.note_probe((*urls, request.url)[0], signs)


@lru_cache(64)
def _secs_of(date: bytes | None) -> float | None:
    """Return the seconds since 1970 of a header; None: there is none, or none that is a time."""
    with suppress(ValueError, TypeError, OverflowError):
        secs = parsedate_to_datetime((date or b"").decode("latin-1")).timestamp()
        return secs if 0 < secs < _LATEST_SECS else None
    return None
