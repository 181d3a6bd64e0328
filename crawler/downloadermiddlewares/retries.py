"""Retry later: a refused request returns to the queue, and its host is paused meanwhile."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from scrapy.downloadermiddlewares.retry import RetryMiddleware
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadTimeoutError,
    IgnoreRequest,
    StopDownload,
)
from twisted.python.failure import Failure

from crawler.downloader.large_bodies import EndlessAnswerError
from crawler.downloader.resolver import unknown_names
from crawler.downloadermiddlewares.failures import explain_error
from crawler.downloadermiddlewares.limits import (
    UnopenedBodyError,
    is_for_robots,
    leave_slot,
    why_cut,
    why_unopened,
)
from crawler.downloading.robots_groups import RobotsUnreachableError
from crawler.frontier.pauses import retry_after_secs
from crawler.job_registry import CrawlerComponent, job_of
from crawler.pages.reasons import in_words
from crawler.request_meta import DONT_CACHE, RETRY_TIMES, WAITED, host_in, host_name
from crawler.scheduling.scheduler import FrontierScheduler

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response

REFUSALS = frozenset({HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE})
"""Statuses that say of a host, not of a page, that it takes no requests now."""

# Other errors are about the page that was requested.
_NOBODY_ANSWERS = (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadTimeoutError,
)


class HostRestsError(IgnoreRequest):
    """A request is not sent, since its host is paused. It returns to its queue.

    A downloader middleware that raises it in ``process_request`` lets the request wait.
    """


class LimitReachedError(StopDownload):
    """An answer is not taken, since the limit of the run is reached. Its request waits again."""


class HostGivenUpError(IgnoreRequest):
    """A request is not sent, since its host is given up. It has failed."""


class GivenUpHosts(CrawlerComponent):
    """Fails the waiting requests of a host that is given up, without sending them.

    It is farther from the network than the middleware that requests robots.txt.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._pauses = job_of(crawler).frontier.pauses

    def process_request(self, request: Request) -> None:
        if not self._pauses:
            return
        host = leased_host(self._crawler, request)
        pause = None if host is None else self._pauses.given_up(host)
        if pause is not None:
            raise HostGivenUpError(
                f"its host is given up, after {pause.waited_secs:,.0f} s of pauses"
                f" ({pause.reason}); --revisit failed asks again"
            )


class PatientRetry(CrawlerComponent, RetryMiddleware):
    """Replaces Scrapy's middleware, which retries at once, for requests from our scheduler.

    A host that answers 429 or 503, that accepts no connection, or whose robots.txt cannot
    be had, is paused (``crawler.frontier.pauses``). A request that it refused waits behind its
    other requests, until its budget of time is spent. Another error of a server is one of its
    page: that is requested ``RETRY_TIMES`` more, later each time, and so is one without an answer.
    A host of a name that does not exist is asked as often at once, and not paused.

    A robots.txt is requested again with the next page that needs it, and not here. Other requests,
    such as those of media pipelines, are retried as in Scrapy.
    ``RETRY_ENABLED``, ``RETRY_HTTP_CODES``, ``RETRY_EXCEPTIONS`` and the keys of ``meta`` have
    Scrapy's meaning.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler.settings)
        self.crawler = crawler
        self._pauses = job_of(crawler).frontier.pauses
        self._sent: WeakSet[Request] = WeakSet()

    def process_request(self, request: Request) -> Request | None:
        """Postpone a request if its host was paused, or got a delay, after it was handed out."""
        host = leased_host(self.crawler, request)
        if host is None:
            return None
        if self._pauses.left_secs(host) or self._scheduler.has_to_wait(host):
            return self._later(request)
        self._sent.add(request)
        return None

    def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Request | Response:
        """Postpone a request that was refused; an answer from a cache passes."""
        host = leased_host(self.crawler, request)
        if host is None:
            if is_for_robots(request):
                return response
            return super().process_response(request, response)
        leave_slot(request)
        if request not in self._sent:
            return response
        self._sent.discard(request)
        if response.status not in self.retry_http_codes:
            if self._pauses:
                self._pauses.answered(host)
            return response
        reason, secs = f"HTTP {response.status}", wanted_secs(response)
        if response.status in REFUSALS or secs is not None:
            return self._refused(request, host, reason, secs) or response
        return self.ask_again(request, reason) or response

    def process_exception(
        self, request: Request, exception: Exception, spider: Spider | None = None
    ) -> Request | Response | None:
        host = leased_host(self.crawler, request)
        if host is None:
            return None if is_for_robots(request) else super().process_exception(request, exception)
        leave_slot(request)
        self._sent.discard(request)
        if isinstance(exception, HostRestsError | LimitReachedError):
            return self._later(request)
        if not isinstance(exception, self.exceptions_to_retry):
            return None
        reason = in_words(explain_error(exception)) or ""
        if isinstance(exception, RobotsUnreachableError):
            return self._refused(request, host, reason, exception.wanted_secs)
        is_unknown = host_in(request.url) in unknown_names
        if isinstance(exception, EndlessAnswerError):
            self._pauses.answered(host)
        elif isinstance(exception, _NOBODY_ANSWERS) and not is_unknown:
            self._rest(request, host, reason, None, is_silent=True)
        return self.ask_again(request, reason, is_at_once=is_unknown)

    def _refused(
        self, request: Request, host: int, reason: str, wanted_secs: float | None
    ) -> Request | None:
        waited_secs = request.meta.get(WAITED)
        secs = self._rest(request, host, reason, wanted_secs)
        if request.meta.get("dont_retry"):
            return None
        if waited_secs is None:
            waited_secs = 0.0
        elif self._pauses.policy.is_spent(waited_secs):
            return self._give_up()
        self._count(reason)
        return self._later(request, {WAITED: waited_secs + secs})

    def ask_again(
        self,
        request: Request,
        reason: str,
        notes: Mapping[str, Any] | None = None,
        *,
        is_at_once: bool = False,
    ) -> Request | None:
        """Postpone a request that our scheduler handed out, if it has retries left.

        Args:
            request: The request.
            reason: What was wrong with the answer, in words.
            notes: Further keys of ``meta`` for the retry.
            is_at_once: Whether nothing is won by waiting.

        Returns:
            The result for the caller, a middleware, to return; None where there are no retries
            left.
        """
        if request.meta.get("dont_retry"):
            return None
        times = request.meta.get(RETRY_TIMES, 0) + 1
        if times > request.meta.get("max_retry_times", self.max_retry_times):
            return self._give_up()
        self._count(reason)
        secs = None if is_at_once else self._pauses.policy.pause_secs(times)
        return self._later(request, {**(notes or {}), RETRY_TIMES: times}, secs)

    def _later(
        self,
        request: Request,
        notes: Mapping[str, Any] | None = None,
        secs: float | None = None,
    ) -> Request | None:
        return request if self._scheduler.ask_later(request, notes, secs) else None

    def _count(self, reason: str) -> None:
        self.crawler.stats.inc_value("retry/count")
        self.crawler.stats.inc_value(f"retry/reason_count/{reason}")

    @property
    def _scheduler(self) -> FrontierScheduler:
        scheduler = self.crawler.engine.scheduler
        assert isinstance(scheduler, FrontierScheduler)
        return scheduler

    def _give_up(self) -> Request | None:
        self.crawler.stats.inc_value("retry/max_reached")
        return None

    def _rest(
        self,
        request: Request,
        host: int,
        reason: str,
        wanted_secs: float | None,
        *,
        is_silent: bool = False,
    ) -> float:
        """Pause a host, and take back the requests in its slot; return for how many seconds."""
        name = host_name(request)
        secs = self._pauses.begin(host, name, reason, wanted_secs, is_silent=is_silent)
        if secs:
            self._take_back(self.crawler.engine.downloader.get_slot_key(request))
        return secs

    def _take_back(self, slot_name: str) -> None:
        slot = self.crawler.engine.downloader.slots.get(slot_name)
        if slot is None:
            return
        for waiting in list(slot.queue):
            request, answered = waiting
            if leased_host(self.crawler, request) is not None:
                slot.queue.remove(waiting)
                answered.errback(Failure(HostRestsError("its host rests")))


class WholeAnswers(CrawlerComponent):
    """Retries answers that are not whole, as ``PatientRetry`` does after an error.

    It is farther from the network than ``Decompression``, which finds that a stream breaks off. An
    answer that is still partial in the end passes; a body that cannot be decompressed does not.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    def process_response(self, request: Request, response: Response) -> Request | Response:
        """Let an answer pass, or postpone its request.

        Raises:
            UnopenedBodyError: Nothing of its body can be decompressed.
        """
        unopened = why_unopened(response)
        reason = unopened or why_cut(request, response)
        again = None if reason is None else self._again(request, reason)
        if again is None and unopened is not None:
            response.request = request
            raise UnopenedBodyError(unopened, response)
        return again or response

    def _again(self, request: Request, reason: str) -> Request | None:
        is_ours = leased_host(self._crawler, request) is not None
        if not is_ours or not self._crawler.settings.getbool("RETRY_ENABLED"):
            return None
        # A cache would give the same part again.
        return PatientRetry(self._crawler).ask_again(request, reason, {DONT_CACHE: True})


def leased_host(crawler: Crawler, request: Request) -> int | None:
    """Return the host of a request that our scheduler handed out, None for any other."""
    scheduler = crawler.engine.scheduler
    return scheduler.host_of(request) if isinstance(scheduler, FrontierScheduler) else None


def returned(crawler: Crawler, response: Response) -> tuple[Request, ...]:
    """Let a page wait again of which nothing was stored; return what is to be queued again."""
    request: Request = job_of(crawler).frontier.leased.request_of(response)
    if leased_host(crawler, request) is None:
        return (request.replace(dont_filter=True),)
    scheduler: Any = crawler.engine.scheduler  # ours, which handed it out
    scheduler.ask_later(request)
    return ()


def wanted_secs(response: Response) -> float | None:
    """Return how long a host asks to wait, in seconds; None where it does not say."""
    value = response.headers.get(b"Retry-After")
    if value is None:
        return None
    date = response.headers.get(b"Date") or b""
    return retry_after_secs(value.decode("latin-1"), date.decode("latin-1"))
