"""Keep the cookies of sites within bounds, and from one run to the next.

The module stands alone and is imported only after the add-on has run: Scrapy's cookies ask
tldextract at their import for the list of public suffixes.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections import defaultdict
from http import HTTPStatus
from http.cookiejar import DefaultCookiePolicy
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from scrapy.downloadermiddlewares.cookies import CookiesMiddleware
from scrapy.exceptions import NotConfigured
from scrapy.http.cookies import CookieJar

from crawler.downloadermiddlewares.limits import is_for_robots
from crawler.downloadermiddlewares.retries import leased_host
from crawler.downloading.cookies import (
    JAR,
    BoundedJar,
    CookieName,
    is_below,
    name_of,
    read_cookies,
    shortened,
    stored_cookies,
    write_cookies,
)
from crawler.options import Options
from crawler.request_meta import COOKIES, GUESS, SEED, compared, host_in
from crawler.spiders.page_spider import PageSpider
from crawler.spiders.site import SiteSpider

if TYPE_CHECKING:
    from asyncio import Future
    from collections.abc import Awaitable, Iterable
    from http.cookiejar import Cookie
    from urllib.request import Request as UrllibRequest

    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from crawler.job import Job

logger = logging.getLogger(__name__)

_MAX_HOSTS = 10_000
"""Remember of at most this many hosts that they were asked."""

_THIS_MACHINE = re.compile(r"(?:.+\.)?localhost|127(?:\.\d+){3}")

_SEVERAL = ""
"""Noted in place of the URL that a host was asked for, where that is not the only one."""


class Cookies(CookiesMiddleware):
    """Scrapy's middleware with bounds: the cookies of sites fill neither memory nor requests.

    Every jar begins with the cookies of ``-a cookies=FILE``. That of a crawl with a directory is
    kept there, with the cookies of sessions, as browsers restore them; those of the user are not.

    Files:
        cookies.txt: The cookies that sites gave, for their owner alone.
    """

    def __init__(
        self, max_cookies: int, *, debug: bool = False, given: Iterable[Cookie] = ()
    ) -> None:
        super().__init__(debug)
        self._max_cookies = max_cookies
        cookies = tuple(given)
        self._given = frozenset(map(name_of, cookies))
        self.jars = defaultdict(lambda: _BoundedCookies(max_cookies, cookies))
        # Of all requests that name none.
        self._jar: BoundedJar = self.jars[None].jar  # type: ignore[assignment]  # made above
        self._job: Job | None = None
        self._asked: dict[str, str] = {}
        self._without: WeakSet[Request] = WeakSet()
        self._of_seeds: set[CookieName] = set()
        # Domains: those whose session may have ended since the last run, those that are asked.
        self._due: set[str] = set()
        self._renewals: dict[str, Future[Any]] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Cookies:
        if not crawler.settings.getbool("COOKIES_ENABLED"):
            raise NotConfigured
        max_cookies = Options(crawler.settings).integer("CRAWL_MAX_COOKIES")
        spider = crawler.spider
        name = getattr(spider, "cookies", "") if isinstance(spider, PageSpider) else ""
        given = read_cookies(name) if name else ()
        debug = crawler.settings.getbool("COOKIES_DEBUG")
        middleware = cls(max_cookies, debug=debug, given=given)
        middleware.crawler = crawler
        if isinstance(spider, PageSpider):
            middleware.keep(spider.job)
            is_wanted = Options(crawler.settings).boolean("CRAWL_OMIT_COOKIES")
            spider.job.visits.cookies.is_on = is_wanted and not given
        return middleware

    def keep(self, job: Job) -> None:
        """Take the cookies of earlier runs of a crawl, and keep those of this one."""
        self._job = job
        if job.folder is not None:
            for cookie in stored_cookies(job.folder):
                if name_of(cookie) not in self._given:
                    self._due.add(cookie.domain)
                    self._of_seeds.add(name_of(cookie))
                    self._jar.set_cookie(cookie)
            job.database.before_commit.append(self._save)
            job.callbacks.at_close.append(self._save)
        self._jar.gained.clear()

    def _save(self) -> None:
        if self._job is None or self._job.folder is None or not self._jar.is_changed:
            return
        self._jar.is_changed = False
        kept = [one for one in self._jar if name_of(one) not in self._given]
        try:
            write_cookies(self._job.folder / JAR, [one for one in kept if not one.is_expired()])
        except OSError as error:
            logger.warning("%s: cannot be written: %s", self._job.folder / JAR, error.strerror)

    def process_request(  # type: ignore[override]  # Scrapy waits for what it returns
        self, request: Request, spider: Spider | None = None
    ) -> Awaitable[None] | None:
        renewal = self._renewal(request)
        if renewal is not None:
            return self._prepare_after(renewal, request)
        self._prepare(request)
        return None

    def _renewal(self, request: Request) -> Future[Any] | None:
        """Return what asks the seeds of the request's host for cookies that ended, if anything."""
        if is_for_robots(request):
            return None
        taken, host = self._jar.take_ended(), host_in(request.url)
        if not (taken or self._due or self._renewals):
            return None
        due = {domain for domain in self._due if is_below(host, domain)}
        self._due -= due
        ended = {name.domain for name in taken if name in self._of_seeds}
        ended |= set() if SEED in request.meta else due
        spider = self.crawler.spider if ended else None
        if isinstance(spider, SiteSpider) and spider.job.fleet is None:
            entries = map(self.crawler.engine.download_async, spider.entries(ended))
            renewal = asyncio.gather(*entries, return_exceptions=True)
            self._renewals.update(dict.fromkeys(ended, renewal))
        for domain in [one for one, renewal in self._renewals.items() if renewal.done()]:
            del self._renewals[domain]
        domains = () if SEED in request.meta else self._renewals
        return next((self._renewals[one] for one in domains if is_below(host, one)), None)

    async def _prepare_after(self, renewal: Future[Any], request: Request) -> None:
        await asyncio.wait([renewal])
        self._prepare(request)

    def _prepare(self, request: Request) -> None:
        if self._are_wanted(request):
            self._without.discard(request)
            super().process_request(request)
        else:
            self._without.add(request)
            request.headers.pop(b"Cookie", None)
        sent = request.headers.get(b"Cookie")
        if sent is not None:
            request.headers[b"Cookie"] = shortened(sent)
        if self._job is not None and not is_for_robots(request):
            for place in _places(request):
                is_first = self._asked.get(place, request.url) == request.url
                self._asked[place] = request.url if is_first else _SEVERAL
            while len(self._asked) > _MAX_HOSTS:
                del self._asked[next(iter(self._asked))]

    def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Request | Response:
        cookies = response.headers.getlist(b"Set-Cookie")
        if len(cookies) > self._max_cookies:
            response.headers.setlist(b"Set-Cookie", cookies[: self._max_cookies])
        self._jar.is_closed = request in self._without
        answer: Request | Response = super().process_response(request, response)
        self._jar.is_closed = False
        if SEED in request.meta:
            self._of_seeds |= self._jar.gained
        if self._job is not None and self._job.fleet is None and self._jar.gained:
            self._note_gained(self._job, request)
        self._jar.gained.clear()
        return answer if self._job is None else self._asked_with(self._job, request, response)

    def _are_wanted(self, request: Request) -> bool:
        told = compared(request)
        if told is not None:
            return told[0]
        return self._job is None or self._job.visits.cookies.are_sent(host_in(request.url))

    def _asked_with(self, job: Job, request: Request, response: Response) -> Request | Response:
        """Return the request once more, with cookies, for an answer without that is no page."""
        cookies, host, told = job.visits.cookies, host_in(request.url), compared(request)
        if told is not None:
            if told[0] and told[1] and told[1] != _in_place_of_page(response):
                cookies.need(host)
            return response
        came = _in_place_of_page(response)
        is_doubted = bool(came) and request in self._without and GUESS not in request.meta
        is_doubted = is_doubted and leased_host(self.crawler, request) is not None
        if not (is_doubted and cookies.is_checked(host, came.partition(" ")[0])):
            return response
        # As it was queued, so that the page that it leads to is not asked for a second time.
        scheduler: Any = self.crawler.engine.scheduler  # ours, which handed it out
        is_stored = scheduler.ask_later(request, {COOKIES: (request.url, True, came)})
        return request if is_stored else response

    def _note_gained(self, job: Job, request: Request) -> None:
        """Note the domains of new cookies, and those whose pages were asked for without one."""
        host, site = _places(request)
        for domain, _, name in self._jar.gained:
            job.visits.cookies.note_new(domain, name)
            asked = self._asked.get(site if domain.startswith(".") else host)
            if asked is not None and asked != request.url:
                job.visits.notes.note_late_cookie(domain.lstrip("."))


def _in_place_of_page(response: Response) -> str:
    """Return status and target of an answer that is no page, "" for a page."""
    if response.status < HTTPStatus.MULTIPLE_CHOICES or response.status == HTTPStatus.NOT_MODIFIED:
        return ""
    target = (response.headers.get(b"Location") or b"").decode("latin-1")
    return f"{response.status} {target.partition('?')[0]}"


def _places(request: Request) -> tuple[str, str]:
    """Return the host of a request, and the domain that its cookies may be for."""
    host = host_in(request.url)
    return host, ".".join(host.split(".")[-2:])


class _LikeBrowsers(DefaultCookiePolicy):
    """Sends secure cookies without encryption too to localhost and to 127.0.0.0/8."""

    def return_ok_secure(self, cookie: Cookie, request: UrllibRequest) -> bool:
        stays = _THIS_MACHINE.fullmatch(request.origin_req_host) is not None
        return stays or super().return_ok_secure(cookie, request)


class _BoundedCookies(CookieJar):
    def __init__(self, max_cookies: int, given: Iterable[Cookie]) -> None:
        super().__init__(_LikeBrowsers())
        self.jar = BoundedJar(max_cookies, self.policy)
        for cookie in given:
            self.jar.set_cookie(cookie)
