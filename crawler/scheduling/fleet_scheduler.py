"""Scrapy's scheduler of a worker: its requests come from the fleet and go to it."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from typing import TYPE_CHECKING, Any

from scrapy.utils.defer import deferred_from_coro

from crawler.fleet.worker import MIN_DELIVERY
from crawler.frontier.order import host_number
from crawler.frontier.request_records import FIXED, QueuedLink, decode_parts, unpack
from crawler.options import Options
from crawler.pages.visits import NO
from crawler.request_meta import (
    AGAIN,
    SPELLING,
    depth_of,
    for_another_spelling,
    host_name,
    is_made_anyway,
    without,
)
from crawler.scheduling.host_loads import delay_of
from crawler.scheduling.request_codec import decode_request, encode_request
from crawler.scheduling.requests_again import has_links
from crawler.scheduling.scheduler import FrontierScheduler
from crawler.urls.canonical import Canonicalizer, MalformedUrl

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.dupefilters import BaseDupeFilter
    from twisted.internet.defer import Deferred

    from crawler.fleet.fleet import Fleet
    from crawler.frontier.order import QueuedRequest, ShorterWay
    from crawler.frontier.pauses import SharedPause
    from crawler.frontier.request_records import Leased

logger = logging.getLogger(__name__)

MAX_UNACKNOWLEDGED = 8
"""Request nothing more while a kill of this worker would let this many pages be fetched again."""

SLOW_SECS = 0.25
"""Leave out requests that wait for an answer for longer: slow hosts hold up no others."""

_LOOK_AHEAD_SECS = 2.0
_MIN_OF_A_HOST = 2
_MAX_OF_A_HOST = 32  # also where a site asks for a delay near 0


class FleetScheduler(FrontierScheduler):
    """Hands out the requests that this worker leased, and sends new ones to the fleet's frontier.

    Between the two is the crawl's own queue, a small buffer that is emptied when the
    worker starts. ``crawler.fleet.worker`` moves requests; here they become Scrapy's.
    """

    where = "in Redis for another worker"

    def __init__(self, crawler: Crawler, dupefilter: BaseDupeFilter) -> None:
        super().__init__(crawler, dupefilter)
        fleet = self._job.fleet
        assert fleet is not None
        self._fleet: Fleet = fleet
        self._by_tried_rules = Canonicalizer(Options(crawler.settings).names("URLS_DISABLED_RULES"))
        self._names: dict[int, str] = {}
        self._sent: dict[Request, tuple[int, float]] = {}
        self._ended: dict[int, float] = {}
        self._is_held_back = False
        self._stopping: asyncio.Task[None] | None = None
        self._changed_pauses: set[int] = set()
        self._told_pauses: set[int] = set()

    def open(self, spider: Spider) -> Deferred[None] | None:
        """Join the fleet, which has all requests that an earlier process left in the buffer."""
        self._job.tell(revisit=NO)
        self._queue.clear()
        if self._job.visits.number:
            self._rules.begin_visit(self._job.visits.number)
        super().open(spider)
        self._frontier.pauses.after_change.append(self._changed_pauses.add)
        self._fleet.join(self)
        return None

    def close(self, reason: str) -> Deferred[None] | None:
        """Acknowledge finished requests, commit, and give back those that were not begun."""
        super().close(reason)
        return deferred_from_coro(self._fleet.leave())

    def ask_another(self, request: Request) -> bool:
        """Send failed spellings to the fleet, which chooses the next one; see the base class."""
        self._ask_page_of_variant(request)
        canonical_url = self._others.canonical_url(request)
        another = self._others.another(request, canonical_url or request.url)
        link = QueuedLink(
            self._crawler.request_fingerprinter.fingerprint(request),
            host_number(host_name(another)),
            another.url if canonical_url else "",
            another.priority,
            self._stored(another),
            depth_of(another.meta),
            failed=tuple(self._others.failed(request)),
        )
        self._fleet.outbox.add(link)
        return canonical_url is not None and SPELLING not in request.meta

    def _ask_page_of_variant(self, request: Request) -> None:
        """Request the URL that fixed rules make of one that gave no page.

        Here the two are pages of their own, while one crawl takes them for spellings of one page:
        a link with an expired session may be all that leads to it.
        """
        try:
            url = self._by_tried_rules(request.url)
            is_another = self._job.canonicalizer(request.url) != self._job.canonicalizer(url)
        except MalformedUrl:
            return
        if is_another and self._job.run.may_ask(url, request.meta):
            meta = without(for_another_spelling(request.meta), {SPELLING})
            another = request.replace(url=url, meta=meta, dont_filter=False)
            self._crawler.engine.crawl(another)

    def _stored(self, request: Request) -> bytes:
        return encode_request(request, self._spider, is_fixed=is_made_anyway(request))

    def _lower(self, way: ShorterWay) -> None:
        if way.again is not None:
            link = QueuedLink(
                way.key, way.host, way.url, way.priority, way.again, way.depth, is_followed=True
            )
            self._fleet.outbox.add(link)

    def _key(self, request: Request) -> bytes | None:
        of = self._crawler.request_fingerprinter.fingerprint
        key = super()._key(request)
        if key is None and SPELLING in request.meta and not request.dont_filter:
            key = of(request)
        # A redirect to the very page that redirects: the fleet has met its key, as that page's own.
        if key is not None and key in {of(request.replace(url=url)) for url in _sources(request)}:
            return None
        return key

    def _push(self, request: Request, host: int, stored: Any, key: bytes | None) -> bool:
        link = QueuedLink(
            key,
            host,
            request.url,
            request.priority,
            stored,
            depth_of(request.meta),
            is_followed=has_links(request, self._spider),
            is_spelling=key is not None and not self._others.is_canonical(request.url),
        )
        self._fleet.outbox.add(link, request if _sources(request) else None)
        self._crawler.stats.inc_value("scheduler/enqueued")
        return True

    def _next(self) -> Request | None:
        if not self._fleet.is_open:
            self._is_held_back = False
            return None
        self._is_held_back = self._unacknowledged >= MAX_UNACKNOWLEDGED
        if not self._is_held_back:
            return super()._next()
        self._acknowledge()
        if self._job.failure is None and self._fleet.buffer.unacknowledged >= MIN_DELIVERY:
            self._fleet.hurry()
        return None

    @property
    def _unacknowledged(self) -> int:
        """The number of requests that were just sent, or answered and not acknowledged in Redis."""
        slow, active = time.monotonic() - SLOW_SECS, self._downloader.active
        counted = sum(
            request not in active or self._sent[request][1] > slow for request in self._leases
        )
        return counted + self._fleet.buffer.unacknowledged

    def _hand_out(self, queued: QueuedRequest, request: Request) -> Request:
        self._sent[request] = queued.host, time.monotonic()
        return super()._hand_out(queued, request)

    def _lease(self) -> QueuedRequest | None:
        queued = self._rules.lease(self._loads)
        # Rules are tried where nothing else is to do, since pages on their way may try them too.
        is_dry = self._fleet.is_dry and not self._leases
        if queued is None and not self._rules.is_busy and is_dry:
            queued = self._validate()
        if queued is not None:
            self._fleet.buffer.hand_out(queued)
        return queued

    def _restored(self, queued: QueuedRequest) -> Request:
        leased = unpack(queued.request)
        request = decode_request(leased.request, queued.url, queued.priority, self._spider)
        if leased.is_again:
            request.meta[AGAIN] = True
        self._names[leased.host] = str(self._downloader.get_slot_key(request))
        return request

    def _finish(self, ids: list[int], *, failed: bool) -> None:
        super()._finish(ids, failed=failed)
        self._fleet.buffer.end(ids, failed=failed)

    def _return(self, queued: QueuedRequest, *, is_changed: bool) -> None:
        if is_changed:
            self._queue.finish([queued.id])
            self._fleet.buffer.postpone(queued)
        else:
            super()._return(queued, is_changed=False)
            self._fleet.buffer.put_back(queued.id)

    def has_pending_requests(self) -> bool:
        if self._job.failure is not None or self._is_at_limit():
            return False
        rules = self._rules
        is_busy = rules.regrouping.is_pending or rules.validation.is_under_way
        is_busy = is_busy or len(self._queue) > 0 or self._unfollowed.is_busy
        return is_busy or not self._fleet.is_finished

    def _is_at_limit(self) -> bool:
        """Return whether the pages of all workers and those under way here reach ``max_pages``."""
        return self._job.is_at_limit(self._fleet.pages + len(self._leases))

    # The methods below implement crawler.fleet.worker_crawl.Crawl, for crawler.fleet.worker.

    @property
    def wants_more(self) -> bool:
        return not self._is_ending and not self._is_at_limit()

    @property
    def _is_ending(self) -> bool:
        return self._alarm.is_over or self._job.failure is not None

    def watch(self) -> None:
        if self._is_ending and self._fleet.is_away:
            self._job.result.stop(f"no Redis at {self._fleet.where}")
            self._fleet.give_up()

    def note_through(self) -> None:
        self._acknowledge()
        now = time.monotonic()
        for request in self._sent.keys() - self._leases.keys():
            host, _ = self._sent.pop(request)
            self._ended[host] = now
        if self._is_held_back:
            self.wake()

    def save(self) -> bool:
        self._job.save()
        return self._job.failure is None

    def is_fixed(self, leased: Leased) -> bool:
        try:
            return leased.key is None or FIXED in decode_parts(leased.request)
        except ValueError:
            return True  # who is to make it will say what is wrong with it

    def note_known(self, note: Request) -> None:
        self._note_redirect(note, seen=True)

    def most_of_a_host(self, host: int) -> int:
        """Return how many requests to a host to lease, so that they last until more are leased."""
        if self.is_resting(host):
            return 0
        return requests_ahead(self._delay(host)[0])

    def delay_secs(self, host: int) -> float:
        delay, jitter = self._delay(host)
        return delay * (1 + jitter)

    def rest_secs(self, host: int) -> float:
        """Return how long a host must rest from now on, which this worker requests no more.

        Its delay counts from the end of its last request, which is later than a server saw it.
        """
        delay = self.delay_secs(host)
        self._names.pop(host, None)
        ended = self._ended.pop(host, None)
        since = None if ended is None else time.monotonic() - ended
        return rest_of(delay, since, self._frontier.pauses.left_secs(host))

    def is_resting(self, host: int) -> bool:
        return self._frontier.pauses.left_secs(host) > 0

    def changed_pauses(self) -> dict[int, SharedPause | None]:
        self._told_pauses |= self._changed_pauses
        self._changed_pauses.clear()
        return {host: self._frontier.pauses.shared(host) for host in self._told_pauses}

    def forget_changed(self, pauses: dict[int, SharedPause | None]) -> None:
        self._told_pauses.difference_update(pauses)

    def take_over(self, host: int, pause: SharedPause | None) -> None:
        self._changed_pauses.discard(host)
        self._told_pauses.discard(host)
        self._frontier.pauses.take_over(host, pause)

    def _delay(self, host: int) -> tuple[float, float]:
        """Return the seconds between two requests to a host, and their jitter (0 to 1)."""
        name = self._names.get(host, "")
        slot = self._downloader.slots.get(name)
        jitter = self._fleet.options.jitter if slot is None else slot.jitter
        return delay_of(self._downloader, name), jitter

    def wake(self) -> None:
        self._alarm.wake()

    def lose_all(self) -> None:
        self._rules.begin_visit(self._job.visits.number)
        for request, lease in self._leases.items():
            self._loads.remove(lease.host, request)
        self._leases.clear()
        self._ended.clear()
        self._later.clear()
        self._delayed.clear()
        self._changed_pauses.clear()
        self._told_pauses.clear()

    def stop(self) -> None:
        if self._stopping is None and not self._is_ending:
            logger.warning("this worker was told to end; what is under way is finished")
            self._stopping = asyncio.ensure_future(self._crawler.stop_async())

    def fail(self, reason: str) -> None:
        self._job.result.stop(reason)
        self._fleet.give_up()
        self.wake()


def rest_of(delay_secs: float, since_secs: float | None, pause_secs: float) -> float:
    """Return how long a host rests that is left.

    Args:
        delay_secs: Its delay between two requests.
        since_secs: The time since its last request ended; None: the whole delay is left.
        pause_secs: What is left of a pause.
    """
    left_secs = delay_secs if since_secs is None else delay_secs - since_secs
    return max(0.0, left_secs, pause_secs)


def requests_ahead(delay_secs: float) -> int:
    """Return how many requests to lease of a host with a delay between two of them."""
    # A site may ask for so small a delay that the quotient is infinite.
    if delay_secs * _MAX_OF_A_HOST <= _LOOK_AHEAD_SECS:
        return _MAX_OF_A_HOST
    return max(_MIN_OF_A_HOST, math.ceil(_LOOK_AHEAD_SECS / delay_secs))


def _sources(request: Request) -> list[str]:
    found: list[str] = request.meta.get("redirect_urls", [])
    return found
