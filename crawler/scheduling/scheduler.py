"""Scrapy's scheduler over the job's request queue."""

from __future__ import annotations

import logging
import math
import time
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from scrapy.core.scheduler import BaseScheduler
from scrapy.utils.misc import build_from_crawler, load_object

from crawler.frontier.order import NewRequest, ShorterWay, host_number
from crawler.frontier.request_records import MalformedRequestError
from crawler.job_registry import job_of
from crawler.pages.page_context import Way
from crawler.pages.reasons import Reason, in_words
from crawler.pages.verdicts import UNREADABLE
from crawler.request_meta import (
    FIXED,
    NOT_BEFORE,
    PROOF,
    SPELLING,
    WAITED,
    WHOLE,
    depth_of,
    host_name,
    is_made_anyway,
    led_by,
)
from crawler.scheduling.host_loads import (
    MAX_DELAYED,
    Alarm,
    DelayedRequests,
    HostLoads,
    requests_in_progress,
)
from crawler.scheduling.late_answers import LateCookies, PassingAnswers
from crawler.scheduling.request_codec import UnstorableError, decode_request, encode_request
from crawler.scheduling.requests_again import ShorterWays, UnfollowedLinks
from crawler.scheduling.variant_requests import (
    OtherSpellings,
    VariantRequests,
    requestable_request,
    source_of,
)
from crawler.storage.errors import CrawlStorageError
from crawler.urls.scope import is_same_place

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from collections.abc import Set as AbstractSet

    from scrapy import Request, Spider
    from scrapy.core.downloader import Downloader
    from scrapy.crawler import Crawler
    from scrapy.dupefilters import BaseDupeFilter
    from twisted.internet.defer import Deferred

    from crawler.frontier.order import QueuedRequest

logger = logging.getLogger(__name__)


class FrontierScheduler(BaseScheduler):
    """Hands out requests from ``crawl.db`` and acknowledges them when they are through.

    A request is through when its download, callback and item pipelines are:
    when it left ``inprogress`` of the engine's slot. That set is private to
    Scrapy, so ``open`` checks that it exists and fails where it does not.

    The order is that of ``crawler.frontier.order``; a host is a name, or the
    slot of the downloader that a request names. With JOBDIR a request that
    JSON cannot hold (a lambda as callback, an object in ``meta``) is refused, since
    a kill would lose it; without, requests stay in memory as they are.

    Files:
        crawl.db: the tables ``requests``, ``hosts`` and ``host_turns``.
    """

    where = "in JOBDIR and a kill would lose it (without JOBDIR nothing is stored)"

    def __init__(self, crawler: Crawler, dupefilter: BaseDupeFilter) -> None:
        self._crawler = crawler
        self._dupefilter = dupefilter
        self._job = job_of(crawler)
        self._frontier = self._job.frontier
        self._queue = self._frontier.queue
        self._rules = self._job.url_rules
        self._processor = self._job.processor
        self._gates = self._processor.gates
        self._others = OtherSpellings(crawler)
        self._variants = VariantRequests(crawler)
        self._leases: dict[Request, QueuedRequest] = {}
        self._broken: set[Request] = set()
        # Actions that let requests wait again when the engine releases them.
        self._later: dict[Request, Callable[[], None]] = {}
        self._delayed = DelayedRequests()
        self._alarm = Alarm(crawler)
        self._inprogress: AbstractSet[Request] = frozenset()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> FrontierScheduler:
        dupefilter = load_object(crawler.settings["DUPEFILTER_CLASS"])
        return cls(crawler, build_from_crawler(dupefilter, crawler))

    def open(self, spider: Spider) -> Deferred[None] | None:
        """Continue the visit that was stopped, or begin the next one.

        Raises:
            RuntimeError: This version of Scrapy tracks requests in progress otherwise.
        """
        self._spider = spider
        self._inprogress = requests_in_progress(self._crawler)
        self._downloader: Downloader = self._crawler.engine.downloader
        self._loads = HostLoads(self._downloader, self._frontier.pauses)
        self._ways = ShorterWays(self._crawler, self._job, self._stored, self._lower)
        self._unfollowed = UnfollowedLinks(self._job, spider, self._enqueue)
        self._late = LateCookies(self._job, spider, self._enqueue)
        self._passing = PassingAnswers(self._job, spider, self._enqueue)
        self._job.begin_visit()
        self._watch_gates()
        self._rules.fixed.resume()
        return self._dupefilter.open()

    def _watch_gates(self) -> None:
        """Let answers of known pages wait, where they may be those of a gate."""
        is_ours = self._variants.tries_rules and self._job.fleet is None
        self._gates.is_on = is_ours and self._job.visits.number > 1
        self._gates.is_closing = lambda: self._alarm.is_over
        self._gates.after_wait = self._alarm.wake

    def close(self, reason: str) -> Deferred[None] | None:
        self._alarm.set(math.inf)
        with suppress(CrawlStorageError):
            self._acknowledge()
            self._passing.note_left()
        self._job.end_visit()
        return self._dupefilter.close(reason)

    def enqueue_request(self, request: Request) -> bool:
        """Queue a request that was not queued before; return whether it was queued."""
        try:
            return self._enqueue(request)
        except CrawlStorageError:  # the job remembers it, and the crawl ends
            return False

    def ask_another(self, request: Request) -> bool:
        """Request another spelling of a URL that gave no page; return whether there is one."""
        url = self._others.following(request)
        if url is None:
            return False
        self._crawler.engine.crawl(self._others.another(request, url))
        self._crawler.stats.inc_value("scheduler/spellings_replaced")
        return True

    def _enqueue(self, request: Request) -> bool:
        if request in self._later:
            self._put_back(request)
            return True
        request = requestable_request(request)
        # First, since a request that fails here must not count as seen.
        host = host_number(host_name(request))
        is_redirected = bool(request.meta.get("redirect_urls"))
        seen = not request.dont_filter and self._dupefilter.request_seen(request)
        if is_redirected and request.dont_filter and WHOLE in request.meta:
            # It was asked for again; a page that was not met before is like any other from now on.
            request.dont_filter = self._dupefilter.request_seen(request)
        if is_redirected:
            self._note_redirect(request, seen=seen)
        if seen:
            if FIXED in request.meta:
                self._rules.note_wanted(self._crawler.request_fingerprinter.fingerprint(request))
            self._ways.note(request)
            self._dupefilter.log(request, self._spider)
            return False
        try:
            stored = self._stored(request)
        except UnstorableError as error:
            self._refuse(request, error)
            return False
        return self._push(request, host, stored, self._key(request))

    def _lower(self, way: ShorterWay) -> None:
        self._queue.lower(way)

    def _stored(self, request: Request) -> Any:
        """Return a request in the form of the queue.

        Raises:
            UnstorableError: JSON cannot hold it.
        """
        return request if self._job.folder is None else encode_request(request, self._spider)

    def _push(self, request: Request, host: int, stored: Any, key: bytes | None) -> bool:
        """Queue a request, or store it as one that a learned rule skips."""
        is_fixed = is_made_anyway(request) or (key is not None and self._job.visits.is_known(key))
        depth, source = depth_of(request.meta), led_by(request)
        new = NewRequest(host, request.url, request.priority, stored, key, depth, is_fixed, source)
        is_queued = self._rules.push(new)
        outcome = "enqueued" if is_queued else "skipped"
        self._crawler.stats.inc_value(f"scheduler/{outcome}")
        return is_queued

    def _key(self, request: Request) -> bytes | None:
        """Return the key of a request in the seen set, None for one that has none."""
        if request.dont_filter:
            return None
        if SPELLING in request.meta and not request.meta.get("redirect_urls"):
            return None
        return self._frontier.seen.take(self._crawler.request_fingerprinter.fingerprint(request))

    def _refuse(self, request: Request, error: UnstorableError) -> None:
        """Log a request that is not queued, and let a later one for the same URL be queued."""
        logger.error(
            "%s is refused, because it cannot be stored %s: %s", request, self.where, error
        )
        self._crawler.stats.inc_value("scheduler/unserializable")
        if not request.dont_filter:
            self._frontier.seen.discard(self._crawler.request_fingerprinter.fingerprint(request))

    def _note_redirect(self, request: Request, *, seen: bool) -> None:
        """Note a redirect; where it closes a circle, none of its URLs is a page."""
        of = self._crawler.request_fingerprinter.fingerprint
        source_url = request.meta["redirect_urls"][-1]
        source, target = of(request.replace(url=source_url)), of(request)
        # Where two spellings lead to the same place, it is not for how they are spelled.
        is_for_spelling = target not in {source, self._frontier.redirects.target(source)}
        fragment = request.url.partition("#")[2]
        self._frontier.redirects.note(source, source_url, target, fragment)
        self._variants.note_redirect(source, target, request.url)
        if is_for_spelling and not is_same_place(source_url, request.url):
            self.ask_another(source_of(request))
        if seen:
            self._rules.note_filtered_redirect(request.meta["redirect_urls"], request.url)
            reason = Reason.REDIRECTED_IN_CIRCLE.stored()
            for url in self._frontier.redirects.circle(source):
                self._job.store_failure(
                    url, UNREADABLE, reason, way=Way(request.meta.get("depth", 0))
                )
                if url in self._job.run.seeds:
                    self._job.result.note_dead_seed(url, in_words(reason) or "")

    def next_request(self) -> Request | None:
        try:
            request = self._next()
        except CrawlStorageError:
            return None
        if request is None and self._gates.is_on:
            self._decide_gates()
        return request

    def _decide_gates(self) -> None:
        """Decide on answers that wait for others, where none is to come."""
        is_last = self._is_at_limit() or not (len(self._queue) or self._delayed)
        if is_last or self._job.failure is not None:
            waiting = self._gates.waiting
            if waiting and waiting >= len(self._leases):
                self._gates.decide_all()

    def _next(self) -> Request | None:
        self._acknowledge()
        self._job.commit_if_due()
        self._rules.regrouping.step()
        if self._job.failure is not None or self._processor.is_behind or not self._has_room():
            return None
        self._unfollowed.follow_some()
        for released in self._variants.release():
            self._enqueue(released)
        self._loads.begin()
        while (delayed := self._delayed.take(self._loads)) is not None:
            if PROOF not in delayed[1].meta or not self._is_put_off(*delayed):
                return self._hand_out(*delayed)
        while (queued := self._lease()) is not None:
            request = self._rebuild(queued)
            is_proof = request is not None and PROOF in request.meta
            if request is not None and not (is_proof and self._is_put_off(queued, request)):
                return self._hand_out(queued, request)
        if self._rules.is_busy or self._unfollowed.is_busy or self._rules.fixed.is_releasing:
            self._alarm.wake()  # it goes on after whatever else waits for the reactor
        self._alarm.set(min(self._loads.free_at, self._passing.due_at))
        return None

    def _is_put_off(self, queued: QueuedRequest, request: Request) -> bool:
        """Return whether a request for a proof waits for its time, or is not needed any more."""
        if not self._job.store.volatile.unproven(request.url, request.meta[PROOF]):
            self._finish([queued.id], failed=False)
            return True
        wait_secs = request.meta[NOT_BEFORE] - time.time()
        if wait_secs <= 0:
            return False
        self._delayed.add(queued, request, wait_secs)
        self._loads.free_at = min(self._loads.free_at, time.monotonic() + wait_secs)
        return True

    def _hand_out(self, queued: QueuedRequest, request: Request) -> Request:
        self._leases[request] = queued
        self._loads.add(queued.host, request)
        self._crawler.stats.inc_value("scheduler/dequeued")
        return request

    def _lease(self) -> QueuedRequest | None:
        """Lease a request; where there is nothing else to do, one that tries rules."""
        queued = self._rules.lease(self._loads)
        is_waiting = self._leases or self._delayed or len(self._queue)
        is_idle = not (is_waiting or self._rules.is_busy)
        if queued is None and is_idle and self._late.ask():
            queued = self._rules.lease(self._loads)
        if queued is None and is_idle:
            queued = self._validate()
        is_last = is_idle and not self._rules.validation.is_under_way
        if queued is None and is_last and self._passing.ask():
            queued = self._rules.lease(self._loads)
        return queued

    def _validate(self) -> QueuedRequest | None:
        """Look at skipped requests: which are nearer than what stands for them, which try rules.

        Where more are left, wake the engine again soon.
        """
        is_more = self._rules.validation.try_more()
        self._ways.note_skipped()
        queued = self._rules.lease(self._loads) if is_more else None
        if queued is None and self._rules.validation.is_under_way:
            self._alarm.wake()
        return queued

    def _rebuild(self, queued: QueuedRequest) -> Request | None:
        """Decode a stored request; log one that is malformed and end it as failed."""
        try:
            return self._restored(queued)
        except MalformedRequestError as error:
            logger.error("%s cannot be taken up again: %s", queued.url, error)  # noqa: TRY400
            self._finish([queued.id], failed=True)
            self._job.result.broken_requests += 1
            self._rules.substitutes.note_failure([queued.url])
            return None

    def _restored(self, queued: QueuedRequest) -> Request:
        """Return the request that the queue held, at the least depth that became known.

        Raises:
            MalformedRequestError: The stored bytes are no request of this spider.
        """
        request: Request = queued.request
        if self._job.folder is not None:
            request = decode_request(queued.request, queued.url, queued.priority, self._spider)
        if queued.depth < depth_of(request.meta):
            request.meta["depth"] = queued.depth
        return request

    def _finish(self, ids: list[int], *, failed: bool) -> None:
        self._queue.finish(ids, failed=failed)

    def host_of(self, request: Request) -> int | None:
        """Return the host of a request that was handed out here, None for any other request."""
        queued = self._leases.get(request)
        return None if queued is None else queued.host

    def has_to_wait(self, host: int) -> bool:
        """Return whether a request that is sent to a host now would wait in the downloader."""
        return self._loads.has_to_wait(host)

    def ask_later(
        self,
        request: Request,
        notes: Mapping[str, Any] | None = None,
        secs: float | None = None,
    ) -> bool:
        """Let a request that was handed out wait again, as soon as the engine releases it.

        Args:
            request: The result of ``next_request``; the caller returns it to the engine.
            notes: Values to add to its ``meta``; it then waits behind others of its host. None:
                it keeps its place, unchanged.
            secs: How long it waits at least, unless very many do; None: until its turn comes.

        Returns:
            False where it cannot be stored with these notes.
        """
        queued = self._leases[request]
        if notes is not None:
            again = self._noted(request, notes)
            if secs is not None and len(self._delayed) < MAX_DELAYED:
                self._later[request] = partial(self._delayed.add, queued, again, secs)
                return True
            # Only once: a request refused often must not wait behind those handed out last.
            is_first = WAITED not in request.meta and WAITED in notes
            adjust = self._crawler.settings.getint("RETRY_PRIORITY_ADJUST") if is_first else 0
            try:
                stored = self._stored(again)
            except UnstorableError:
                return False
            queued = queued._replace(request=stored, priority=queued.priority + adjust)
        self._later[request] = partial(self._return, queued, is_changed=notes is not None)
        return True

    def _noted(self, request: Request, notes: Mapping[str, Any]) -> Request:
        """Return a request as it was queued, without traces of its download, and with notes."""
        # In memory the queue holds the very request that was sent.
        again = request.copy()
        if self._job.folder is not None:
            again = self._restored(self._leases[request])
        again.meta.update(notes)
        return again

    def _put_back(self, request: Request) -> None:
        self._loads.remove(self._leases.pop(request).host, request)
        self._later.pop(request)()

    def _return(self, queued: QueuedRequest, *, is_changed: bool) -> None:
        self._queue.put_back(queued, is_changed=is_changed)

    def has_pending_requests(self) -> bool:
        """Return whether there is more to hand out, now or when a host has room again."""
        if self._job.failure is not None:
            return False
        if self._is_at_limit():
            return self._has_urgent()
        if self._queue or self._delayed or self._rules.fixed.is_releasing:
            return True
        rules, unfollowed = self._rules, self._unfollowed
        is_busy = rules.regrouping.is_pending or rules.validation.is_under_way or unfollowed.is_busy
        return is_busy or self._job.visits.asks_with_cookies or self._passing.is_due

    def _has_room(self) -> bool:
        """Return whether requests may be handed out; beyond the limit only those pages need."""
        is_at_limit = self._is_at_limit()
        self._queue.at_least = self._job.urgent_priority if is_at_limit else None
        return not is_at_limit or self._has_urgent()

    def _has_urgent(self) -> bool:
        urgent = self._job.urgent_priority
        return urgent is not None and self._queue.has_urgent(urgent)

    def _is_at_limit(self) -> bool:
        """Return whether the pages stored and those under way reach ``max_pages``."""
        return self._job.is_at_limit(self._job.result.pages + len(self._leases))

    def request_broke(self, request: Request) -> None:
        """Note that a callback raised: the request ends as failed, not as done."""
        self._broken.add(request)

    def _acknowledge(self) -> None:
        if self._job.failure is not None:
            # What ended with the failure was not stored; the next process fetches it again.
            return
        through = [request for request in self._leases if request not in self._inprogress]
        if not through:
            return
        for request in self._later.keys() & set(through):  # a component vetoed its return
            self._put_back(request)
            through.remove(request)
        broken = [request for request in through if request in self._broken]
        done = [self._leases[request].id for request in through if request not in broken]
        self._finish(done, failed=False)
        if broken:
            self._finish([self._leases[request].id for request in broken], failed=True)
            self._rules.substitutes.note_failure([request.url for request in broken])
        for request in through:
            self._loads.remove(self._leases.pop(request).host, request)
        self._broken.difference_update(through)
        self._frontier.leased.note_through(through)
