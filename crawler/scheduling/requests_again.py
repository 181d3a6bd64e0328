"""Request pages again that are known: for their links, with cookies, or where a wall stood.

Links are followed again after a shorter way, a moved scope or a promotion. A page that was fetched
waits in the queue again then, less deep, with a request that is answered from what is stored: no
page is fetched twice for that, unless its links are not known.
"""

from __future__ import annotations

import logging
import math
import time
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

from scrapy import Request
from scrapy.exceptions import NotConfigured
from scrapy.http import TextResponse

from crawler.downloading.cookies import is_below
from crawler.frontier.order import ShorterWay, host_number
from crawler.job_registry import CrawlerComponent
from crawler.lean_parts import refer
from crawler.pages.page_row import StoredUrl
from crawler.pages.reasons import Reason, codes
from crawler.pages.verdicts import NEW
from crawler.request_meta import (
    AGAIN,
    FIXED,
    LED_BY,
    OF_ONE_ANSWER,
    OF_REDIRECTS,
    WHOLE,
    depth_of,
    host_name,
    without,
)
from crawler.scheduling.request_codec import UnstorableError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from crawler.job import Job
    from crawler.pages.page_context import Captured

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
        self._rules = job.url_rules
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
        self._rules.note_nearer()

    def note_skipped(self) -> bool:
        """Let pages be as near to a seed as those of their URLs that learned rules skip.

        Returns:
            Whether there were such pages, or there may be more.
        """
        failed = getattr(self._crawler.spider, "failed", None)
        for url, depth in (nearer := self._rules.take_shorter()):
            self.note(Request(url, meta={"depth": depth}, errback=failed))
        return bool(nearer) or self._rules.is_comparing_depths


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


_SAMPLE = 3
"""URLs of a group that are asked first."""

_MAX_GROUPS = 20
"""Groups that are asked at all, the largest of them."""

_Asked = tuple[bytes, str]


class AskingAgain:
    """Requests known URLs once more.

    Args:
        job: What is stored.
        spider: Makes requests for known URLs; one of another project has no such method.
        enqueue: Queues a request.
    """

    def __init__(self, job: Job, spider: Any, enqueue: Callable[[Request], bool]) -> None:
        self._job = job
        self._spider = spider
        self._enqueue = enqueue

    def _ask_again(self, key: bytes, url: str) -> bool:
        depth = self._job.frontier.seen.depth(key) or 0
        referer = self._job.visits.known.referer(key)
        request = self._spider.known_request(StoredUrl(0, key, url, depth, NEW, referer))
        if request is None:
            return False
        self._job.frontier.redirects.forget(key)
        request.meta[WHOLE] = True
        return self._enqueue(request.replace(dont_filter=True))

    def _content_digest(self, key: bytes) -> bytes | None:
        row = self._job.store.previous(key)
        return None if row is None else row.last_text_digest or row.last_payload_digest


class LateCookies(AskingAgain):
    """Asks again what may have been a gate, where a site set a cookie only after it was asked for.

    A gate stands at many URLs: it redirects them to one, refuses them, or shows one text. When
    nothing else is left to do, some URLs of each such group are asked with the cookies of now, and
    where one of them gives something else, the whole group is. A site that gives cookies to each
    page costs a few requests that way, and none where its seed gave them.

    Of a host that got no cookies, and turns out to need them, all that is known is asked again.
    """

    def __init__(self, job: Job, spider: Any, enqueue: Callable[[Request], bool]) -> None:
        super().__init__(job, spider, enqueue)
        self._notes = job.visits.notes
        # What the asked URLs of each group said before; empty when the group is through.
        self._tried: dict[str, dict[bytes, bytes | None]] = {}

    @property
    def is_due(self) -> bool:
        return self._job.visits.asks_with_cookies

    def ask(self) -> bool:
        """Ask for some URLs again, where there is nothing else to do; return whether there are."""
        domains = self._notes.late_cookies
        found = sum(map(self._ask_all, self._job.visits.cookies.due))
        if domains:
            found += sum(self._ask(name, urls) for name, urls in self._groups(domains))
        if domains and not found:
            self._notes.forget_late_cookies()
        return found > 0

    def _ask_all(self, host: str) -> int:
        """Ask again for all that is known of a host."""
        self._job.visits.cookies.note_asked_again(host)
        visits = self._job.visits
        asked = {key: url for _, key, url in visits.known.repeated(visits.number)}
        asked.update((page.key, page.url) for page in self._job.store.urls())
        of_host = [(key, url) for key, url in asked.items() if urlsplit(url).hostname == host]
        return sum(self._ask_again(key, url) for key, url in of_host)

    def _groups(self, domains: Iterable[str]) -> list[tuple[str, list[_Asked]]]:
        """Return the largest groups of URLs with one answer; what has none of its kind is one."""
        groups: defaultdict[str, list[_Asked]] = defaultdict(list)
        for name, key, url in self._job.visits.known.repeated(self._job.visits.number):
            host = urlsplit(url).hostname or ""
            if any(is_below(host, domain) for domain in domains):
                groups[name].append((key, url))
        for name in [name for name, urls in groups.items() if len(urls) == 1]:
            groups[name.partition(" ")[0]] += groups.pop(name)
        return sorted(groups.items(), key=lambda group: -len(group[1]))[:_MAX_GROUPS]

    def _ask(self, name: str, urls: list[_Asked]) -> int:
        tried = self._tried.get(name)
        if tried is None:
            chosen = urls[:_SAMPLE]
        elif any(self._content_digest(key) != said for key, said in tried.items()):
            chosen = [(key, url) for key, url in urls if key not in tried]
        else:
            chosen = []
        self._tried[name] = {} if tried else {key: self._content_digest(key) for key, _ in chosen}
        return sum(self._ask_again(key, url) for key, url in chosen)


_REST_SECS = 5.0
"""Ask again where a text was not met for so long."""

_MIN_ROUND = 8
"""Ask for this many URLs at least once one of them gave a page."""

_MAX_FAILURES = 4
"""Where pages came before, ask this many times more, each after twice the time: 155 s in all."""


@dataclass(slots=True)
class _Text:
    """A text that stands at several URLs.

    Attributes:
        urls: The URLs by their keys, without those that gave a page.
        met_at: The time at which it was met last.
        asked: What the URLs of the last round said before, until it is looked at what came.
        size: How many URLs are asked for next; 0: none any more.
        failures: Rounds without a page, one after the other.
    """

    urls: dict[bytes, str] = field(default_factory=dict)
    met_at: float = 0.0
    asked: dict[bytes, bytes | None] = field(default_factory=dict)
    size: int = 1
    failures: int = 0
    has_opened: bool = False

    def note(self, opened: Collection[bytes]) -> None:
        """Note which URLs of the last round gave a page."""
        if len(opened) == len(self.asked):
            self.met_at = 0.0  # it is gone
        for key in opened:
            self.urls.pop(key, None)
        self.has_opened = self.has_opened or bool(opened)
        self.failures = 0 if opened else self.failures + 1
        self.size = max(_MIN_ROUND, 2 * len(opened)) if opened else 1
        if not opened and not (self.has_opened and self.failures <= _MAX_FAILURES):
            self.size = 0
        self.asked = {}


class PassingWalls(AskingAgain):
    """Asks again where one text stood in place of pages, since it may have been there for a while.

    A site that is being mended, or was asked too often, may say so with HTTP 200. When nothing else
    is left to do, one URL of each such text is asked for. Where a page comes, more are asked, twice
    as many as gave pages the last time, until all pages came or none does. So a text that stays
    costs one request a visit, and a server that bears few requests is asked for few. A replay, and
    a spider of another project, ask for nothing.

    Attributes:
        due_at: The time of the monotonic clock at which the next text is to be asked for.
    """

    def __init__(self, job: Job, spider: Any, enqueue: Callable[[Request], bool]) -> None:
        super().__init__(job, spider, enqueue)
        self._walls = job.processor.walls
        self._texts: defaultdict[int, _Text] = defaultdict(_Text)
        self.due_at = math.inf

    @property
    def is_due(self) -> bool:
        return self._walls.are_met

    def ask(self) -> bool:
        """Ask for some URLs, where there is nothing else to do; return whether there are any."""
        self.due_at = math.inf
        if not self.is_due:
            return False
        standing = set[bytes]()
        if hasattr(self._spider, "parse_control"):  # an archive gives no other answer
            for number, key, url, met_at in self._walls.standing(self._job.visits.number):
                text = self._texts[number]
                text.urls[key] = url
                text.met_at = max(text.met_at, met_at)
                standing.add(key)
        found = sum(self._ask_some(text, standing) for text in self._texts.values())
        if not found and self.due_at == math.inf:
            self._walls.note_asked()
        return found > 0

    def _ask_some(self, text: _Text, standing: Collection[bytes]) -> int:
        """Ask for some URLs of a text, unless it was met a short while ago."""
        if text.asked:
            text.note([key for key in text.asked if self._has_opened(key, text, standing)])
        if not text.size or not text.urls:
            return 0
        secs = text.met_at + _REST_SECS * 2**text.failures - time.time()
        if secs > 0:
            self.due_at = min(self.due_at, time.monotonic() + secs)
            return 0
        chosen = list(islice(text.urls.items(), text.size))
        text.asked = {key: self._content_digest(key) for key, _ in chosen}
        return sum(self._ask_again(key, url) for key, url in chosen)

    def _has_opened(self, key: bytes, text: _Text, standing: Collection[bytes]) -> bool:
        return key not in standing and self._content_digest(key) != text.asked[key]
