"""Scrapy's scheduler over the job's request queue."""

from __future__ import annotations

import heapq
import logging
import pickle
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING, Any

from scrapy.core.scheduler import BaseScheduler
from scrapy.utils.misc import build_from_crawler, load_object
from scrapy.utils.request import request_from_dict

from crawler.jobs import job_of
from crawler.pages.errors import StorageError
from crawler.pages.verdicts import UNREADABLE

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.dupefilters import BaseDupeFilter
    from twisted.internet.defer import Deferred

    from crawler.frontier.queue import QueuedRequest

logger = logging.getLogger(__name__)


class FrontierScheduler(BaseScheduler):
    """Hands out requests from ``crawl.db`` and acknowledges them when they are through.

    A request is through when its download, callback and item pipelines are:
    when it left ``inprogress`` of the engine's slot. That set is private to
    Scrapy, so ``open`` looks whether it is there and fails where it is not.
    Requests that cannot be pickled (a lambda as callback) are kept in memory,
    named in a warning, and lost by a kill. Without JOBDIR all are, as they are.

    Files:
        crawl.db: the tables ``requests`` and ``seen``.
    """

    def __init__(self, crawler: Crawler, dupefilter: BaseDupeFilter) -> None:
        self._crawler = crawler
        self._dupefilter = dupefilter
        self._job = job_of(crawler)
        self._leases: dict[Request, int] = {}
        self._broken: set[Request] = set()
        self._in_memory: list[tuple[int, int, Request]] = []
        self._arrivals = count()
        self._inprogress: set[Request] = set()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> FrontierScheduler:
        """Build with the project's dupe filter."""
        dupefilter = load_object(crawler.settings["DUPEFILTER_CLASS"])
        return cls(crawler, build_from_crawler(dupefilter, crawler))

    def open(self, spider: Spider) -> Deferred[None] | None:
        """Go on with the visit that was stopped, or begin the next one.

        Raises:
            RuntimeError: This version of Scrapy tracks requests in progress otherwise.
        """
        self._spider = spider
        slot = getattr(self._crawler.engine, "_slot", None)
        inprogress = getattr(slot, "inprogress", None)
        if not isinstance(inprogress, set):
            raise RuntimeError(  # noqa: TRY004  # not the caller's mistake
                "this version of Scrapy keeps no set engine._slot.inprogress, "
                "by which finished requests are recognised; use another version, or "
                "SCHEDULER = 'scrapy.core.scheduler.Scheduler'"
            )
        self._inprogress = inprogress
        self._job.begin_visit()
        return self._dupefilter.open()

    def close(self, reason: str) -> Deferred[None] | None:
        """Acknowledge what is through and commit."""
        with suppress(StorageError):
            self._acknowledge()
        self._job.commit()
        return self._dupefilter.close(reason)

    def enqueue_request(self, request: Request) -> bool:
        """Queue a request that was not queued before; say whether it was queued."""
        try:
            return self._enqueue(request)
        except StorageError:  # the job remembers it, and the crawl ends
            return False

    def _enqueue(self, request: Request) -> bool:
        seen = not request.dont_filter and self._dupefilter.request_seen(request)
        if request.meta.get("redirect_urls"):
            self._note_redirect(request, seen=seen)
        if seen:
            self._dupefilter.log(request, self._spider)
            return False
        if self._job.folder is None:
            self._push_in_memory(request)
            self._crawler.stats.inc_value("scheduler/enqueued")
            return True
        try:
            parts = request.to_dict(spider=self._spider)
            url = parts.pop("url")
            packed = pickle.dumps(parts, pickle.HIGHEST_PROTOCOL)
        except (ValueError, TypeError, AttributeError, pickle.PicklingError) as error:
            self._keep_in_memory(request, error)
        else:
            self._job.queue.push(url, request.priority, packed)
        self._crawler.stats.inc_value("scheduler/enqueued")
        return True

    def _note_redirect(self, request: Request, *, seen: bool) -> None:
        """Remember a redirect; where it closes a circle, none of its URLs is a page."""
        of = self._crawler.request_fingerprinter.fingerprint
        source_url = request.meta["redirect_urls"][-1]
        source = of(request.replace(url=source_url))
        self._job.redirects.note(source, source_url, of(request))
        if seen:
            reason = "redirected in a circle"
            for url in self._job.redirects.circle(source):
                self._job.store_failure(url, UNREADABLE, reason, depth=request.meta.get("depth", 0))
                if url in self._job.seeds:
                    self._job.dead_seeds[url] = reason

    def _keep_in_memory(self, request: Request, error: Exception) -> None:
        logger.warning(
            "%s cannot be stored (%s) and would be lost by a kill; "
            "callbacks must be methods of the spider",
            request,
            error,
        )
        self._push_in_memory(request)

    def _push_in_memory(self, request: Request) -> None:
        heapq.heappush(self._in_memory, (-request.priority, next(self._arrivals), request))

    def next_request(self) -> Request | None:
        """The next request by priority, then in order of arrival."""
        try:
            return self._next()
        except StorageError:
            return None

    def _next(self) -> Request | None:
        self._acknowledge()
        self._job.commit_if_due()
        if self._is_at_limit() or self._job.failure is not None:
            return None
        request = heapq.heappop(self._in_memory)[2] if self._in_memory else self._from_queue()
        if request is not None:
            self._crawler.stats.inc_value("scheduler/dequeued")
        return request

    def _from_queue(self) -> Request | None:
        while (queued := self._job.queue.lease()) is not None:
            request = self._rebuild(queued)
            if request is not None:
                self._leases[request] = queued.id
                return request
        return None

    def _rebuild(self, queued: QueuedRequest) -> Request | None:
        """Make a request of its stored parts; one that cannot be made is named and set aside."""
        try:
            parts: dict[str, Any] = pickle.loads(queued.request)  # noqa: S301  # written by us
            return request_from_dict({**parts, "url": queued.url}, spider=self._spider)
        except Exception as error:  # whatever a spider's own classes raise
            logger.error("%s cannot be taken up again: %s", queued.url, error)  # noqa: TRY400
            self._job.queue.finish([queued.id], failed=True)
            self._job.broken_requests += 1
            return None

    def has_pending_requests(self) -> bool:
        """Whether there is more to hand out."""
        if self._is_at_limit() or self._job.failure is not None:
            return False
        return bool(self._in_memory) or len(self._job.queue) > 0

    def _is_at_limit(self) -> bool:
        """Whether the pages stored and those under way make up ``max_pages``."""
        limit = self._job.limit
        return limit is not None and self._job.pages + len(self._leases) >= limit

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
        done = [self._leases[r] for r in through if r not in self._broken]
        failed = [self._leases[r] for r in through if r in self._broken]
        self._job.queue.finish(done)
        self._job.queue.finish(failed, failed=True)
        for request in through:
            del self._leases[request]
        self._broken.difference_update(through)
