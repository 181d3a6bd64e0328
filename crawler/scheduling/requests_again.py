"""Request pages again that are known, for their links.

Links are followed again after a shorter way, a moved scope or a promotion. A page that was fetched
waits in the queue again then, less deep, with a request that is answered from what is stored: no
page is fetched twice for that, unless its links are not known.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Protocol

from scrapy import Request
from scrapy.exceptions import NotConfigured
from scrapy.http import TextResponse

from crawler.frontier.order import ShorterWay, host_number
from crawler.job_registry import CrawlerComponent
from crawler.lean_parts import refer
from crawler.pages.reasons import Reason, codes
from crawler.request_meta import (
    AGAIN,
    FIXED,
    LED_BY,
    OF_ONE_ANSWER,
    OF_REDIRECTS,
    depth_of,
    host_name,
    without,
)
from crawler.scheduling.request_codec import UnstorableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from crawler.job import Job
    from crawler.pages.page_context import Captured
    from crawler.pages.page_row import StoredUrl

logger = logging.getLogger(__name__)

_LEFT_OUT = OF_ONE_ANSWER | OF_REDIRECTS


class FollowingSpider(Protocol):
    """A spider of ours, as far as links are followed again."""

    job: Job

    def key_of(self, request: Request) -> bytes: ...

    def links_of(self, key: bytes, response: Response | None = None) -> Captured | None: ...

    def follows(self, captured: Captured) -> bool: ...

    def follow(self, response: Response, captured: Captured) -> Iterator[Request]: ...

    def page_request(
        self, url: str, meta: dict[str, Any] | None = None, source: str | None = None
    ) -> Request | None: ...


def has_links(request: Request, spider: Spider) -> bool:
    """Return whether a request leads to a page whose links are stored, of a spider of ours."""
    is_page = request.callback is None or request.callback == getattr(spider, "parse", None)
    return is_page and request.method == "GET" and hasattr(spider, "links_of")


def request_again(request: Request, spider: Spider) -> Request | None:
    """Return the request that follows the links of a page again; None where it has none."""
    if not has_links(request, spider):
        return None
    return request.replace(meta={**without(request.meta, _LEFT_OUT), AGAIN: True})


def take_shortest_way(spider: FollowingSpider, response: Response) -> None:
    """Let a page be as near to a seed as is known when it was answered."""
    if response.request is not None:
        known = spider.job.frontier.seen.depth(spider.key_of(response.request))
        if known is not None and known < response.meta.get("depth", 0):
            response.meta["depth"] = known


def follow_again(spider: FollowingSpider, response: Response) -> Iterator[Request]:
    """Yield the requests for the links of a stored page, or for where it redirected."""
    assert response.request is not None
    key = spider.key_of(response.request)
    captured = spider.links_of(key, response)
    if captured is not None:
        spider.job.store.note_depth(key, response.meta["depth"])
        if spider.follows(captured):
            yield from spider.follow(response, captured)
        return
    url = spider.job.frontier.redirects.target_url(key) or response.url
    target = spider.page_request(url, source=spider.job.visits.known.referer(key))
    response.meta["depth"] -= 1  # Scrapy takes it for a link of the page
    if target is not None:
        yield target


def links_request(
    spider: FollowingSpider, url: str, depth: int, source_url: str, referer: str | None = None
) -> Request | None:
    """Return a request for the links of a page, without a download where they are stored.

    Args:
        spider: One of our spiders.
        url: URL of the page, or of the end of a redirect.
        depth: Number of links that lead to it from a seed.
        source_url: URL of the page that leads there.
        referer: What to send as the Referer, if it has to be fetched after all.
    """
    meta = {"depth": depth, LED_BY: source_url, FIXED: True, AGAIN: True}
    request = spider.page_request(url, meta, referer)
    # Its key counts as seen: of a page that was read, or of the end of a redirect.
    return None if request is None else request.replace(dont_filter=True)


class ShorterWays:
    """Lowers pages that were queued before, where a request is nearer to a seed.

    Args:
        crawler: The crawl.
        job: What it has seen.
        stored: Returns a request as the queue holds it.
        lower: Tells the queue.
    """

    def __init__(
        self,
        crawler: Crawler,
        job: Job,
        stored: Callable[[Request], Any],
        lower: Callable[[ShorterWay], None],
    ) -> None:
        self._crawler = crawler
        self._seen = job.frontier.seen
        self._validation = job.url_rules.validation
        self._known = job.visits.known
        self._stored = stored
        self._lower = lower

    def note(self, request: Request) -> None:
        """Let a page that was queued before be as near to a seed as this request for it is."""
        key = self._crawler.request_fingerprinter.fingerprint(request)
        depth, known = depth_of(request.meta), self._seen.depth(key)
        if known is None or known <= depth:
            return
        self._seen.lower(key, depth)
        spider: Any = self._crawler.spider
        again = request_again(request, spider)
        if again is not None and b"Referer" not in again.headers:
            refer(self._crawler, again, self._known.referer(key))
        try:
            stored = None if again is None else self._stored(again)
        except UnstorableError as error:
            # What waits needs none to be nearer.
            stored = None
            told = "%s cannot be stored, so links that were too deep are not followed: %s"
            logger.error(told, request, error)  # noqa: TRY400
            self._crawler.stats.inc_value("scheduler/unserializable")
        host = host_number(host_name(request))
        self._lower(ShorterWay(key, depth, host, request.url, request.priority, stored))
        self._validation.note_nearer()

    def note_skipped(self) -> None:
        """Let pages be as near to a seed as those of their URLs that learned rules skip."""
        failed = getattr(self._crawler.spider, "failed", None)
        for url, depth in self._validation.take_nearer():
            self.note(Request(url, meta={"depth": depth}, errback=failed))


_MAX_LOOKED_AT = 20
"""Look at this many captures a turn; with forty links each it takes some milliseconds."""


class UnfollowedLinks:
    """Follows links of stored pages that were refused, or that belonged to duplicates.

    Pages are looked at from the first one after the redirect of a seed has moved the scope, with
    redirects that were refused; from a promoted duplicate on where links of duplicates are not
    followed. How far it came is in ``meta``, committed with what it queued, so a kill loses
    nothing of it outside a fleet.

    Args:
        job: What is stored.
        spider: Says by ``leads_further(key)`` whether the links of a page are to be followed again;
            nothing is followed for a spider of another project, which has no such method.
        enqueue: Queues a request.
    """

    def __init__(self, job: Job, spider: Any, enqueue: Callable[[Request], bool]) -> None:
        self._job = job
        self._notes = job.visits.notes
        self._redirects = job.frontier.redirects
        self._spider = spider
        self._enqueue = enqueue

    @property
    def is_busy(self) -> bool:
        return self._notes.is_following_again

    def follow_some(self) -> None:
        """Look at some captures; queue what leads into the scope of today."""
        last = self._notes.followed_again
        if last is None:
            return
        if not hasattr(self._spider, "leads_further"):
            self._notes.note_followed_again(None)
            return
        refused = Reason.REDIRECTED_OUT.stored()
        pages = self._job.store.urls_after(last, _MAX_LOOKED_AT, refused)
        for page in pages:
            if Reason.REDIRECTED_OUT in codes(page.reason):
                self._take_redirect(page)
            elif self._spider.leads_further(page.key):
                self._ask(page.url, page)
        self._notes.note_followed_again(pages[-1].id if pages else None)

    def _take_redirect(self, refused: StoredUrl) -> None:
        url = self._end(refused.key)
        if url is not None and self._job.run.may_ask(url, {}) and self._ask(url, refused):
            self._job.store.forget(refused.id)
            self._job.visits.known.forget(refused.key)
            self._job.result.forget_dead_seed(refused.url)

    def _ask(self, url: str, source: StoredUrl) -> bool:
        """Queue a request that needs no download where links of its page are stored."""
        request = links_request(self._spider, url, source.depth, source.url, source.referer)
        return request is not None and self._enqueue(request)

    def _end(self, key: bytes | None) -> str | None:
        """Return where redirects led in the end; None where that is not known."""
        url, passed = None, set[bytes]()
        while key is not None and key not in passed:
            passed.add(key)
            url = self._redirects.target_url(key) or url
            key = self._redirects.target(key)
        return url


class StoredLinks(CrawlerComponent):
    """Answers in place of the site where only the links of a stored page are to be followed.

    The first of all middlewares: nothing is asked, so that nothing has to be allowed.
    """

    def __init__(self, crawler: Crawler) -> None:
        spider: Any = crawler.spider
        if not hasattr(spider, "links_of"):
            raise NotConfigured
        self._spider: FollowingSpider = spider

    def process_request(self, request: Request) -> Response | None:
        """Return an empty response, or None where the page has to be fetched for its links."""
        if AGAIN not in request.meta:
            return None
        key = self._spider.key_of(request)
        if self._spider.links_of(key) or self._spider.job.frontier.redirects.target_url(key):
            return TextResponse(request.url, request=request, flags=["stored"])
        del request.meta[AGAIN]
        return None
