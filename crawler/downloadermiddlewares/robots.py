"""Obey robots.txt as RFC 9309 wants it, at a bounded cost, and report where it cannot be had."""

from __future__ import annotations

import asyncio
import math
import time
import zlib
from collections import OrderedDict
from contextlib import suppress
from http import HTTPStatus
from typing import TYPE_CHECKING, NamedTuple, TypeAlias
from urllib.parse import urlsplit

from protego import Protego
from scrapy import Request, signals
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    NotConfigured,
    StopDownload,
)
from scrapy.http.request import NO_CALLBACK
from scrapy.robotstxt import RobotParser, decode_robotstxt
from scrapy.utils.httpobj import urlparse_cached
from scrapy.utils.misc import build_from_crawler, load_object
from scrapy.utils.python import to_unicode
from twisted.python.failure import Failure

from crawler.downloadermiddlewares.failures import explain
from crawler.downloadermiddlewares.limits import ForbiddenByRobotsError, is_for_robots
from crawler.downloadermiddlewares.retries import wanted_secs
from crawler.downloading.robots_groups import RobotsUnreachableError, lines_for, product_token
from crawler.job_registry import CrawlerComponent, job_of
from crawler.options import Options
from crawler.pages.reasons import Reason, in_words, together
from crawler.request_meta import ROBOTS_BYTES
from crawler.storage.errors import CrawlStorageError
from crawler.urls.hosts import DEFAULT_PORTS
from crawler.urls.parts import MalformedUrl

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.http import Response

# The page's own request would meet them too.
_OF_THE_HOST = (CannotResolveHostError, DownloadConnectionRefusedError)
_NO_ANSWER = (*_OF_THE_HOST, DownloadFailedError, DownloadTimeoutError, OSError)

_MAX_REDIRECTS = 5
# A larger one is read in a thread: 500 kB of patterns take a second, which must block nothing.
_QUICKLY_READ_BYTES = 10_000
MAX_PARSED = 1_000
"""Hold the parsed rules of at most this many hosts, apart from those of long files.

Fifty rules are 15 kB and 110 objects that each collection of garbage walks over; parsing them
takes a quarter of a millisecond.
"""

_PRIORITY = 1000
# A partial robots.txt still has rules.
_META = {"dont_obey_robotstxt": True, "download_fail_on_dataloss": False}

MAX_AGE_SECS = 86_400.0
"""Request a robots.txt again whose rules are so old, in seconds (RFC 9309, section 2.4)."""

_KEPT_ON_SECS = 3_600.0
"""Keep old rules this much longer where the robots.txt cannot be had again, in seconds."""

ASK_AGAIN_SECS = 1.0
"""Request a robots.txt that could not be had again after this many seconds.

That happens if a page needs it, or when its host's pause is over.
"""


class FirstRules(RobotParser):
    """Reads the groups for this crawler in the first ``CRAWL_MAX_ROBOTS_BYTES``, whole lines.

    Args:
        body: Content of the file.
        agent: User agent of the crawler.
    """

    def __init__(self, body: bytes, agent: str) -> None:
        text = decode_robotstxt(body, None)
        self._agent = agent
        self._is_short = len(text) <= _QUICKLY_READ_BYTES
        self._text = zlib.compress(text.encode(), 1)
        self._parsed = {agent: _parsed(text, agent)}

    @property
    def rp(self) -> Protego:
        """Protego's parser of the rules for the crawler."""
        return self._for(self._agent)

    def pack(self) -> None:
        """Hold the text of a short file alone, until its rules are asked for."""
        if self._is_short:
            self._parsed.clear()

    @classmethod
    def from_crawler(cls, crawler: Crawler, robotstxt_body: bytes) -> Self:
        settings = crawler.settings
        limit = Options(settings).integer("CRAWL_MAX_ROBOTS_BYTES")
        if len(robotstxt_body) > limit:
            robotstxt_body = robotstxt_body[:limit].rpartition(b"\n")[0]
        return cls(robotstxt_body, str(settings["ROBOTSTXT_USER_AGENT"] or settings["USER_AGENT"]))

    def allowed(self, url: str | bytes, user_agent: str | bytes) -> bool:
        agent = to_unicode(user_agent)
        return self._for(agent).can_fetch(to_unicode(url), product_token(agent))

    def crawl_delay(self, user_agent: str | bytes) -> float | None:
        agent = to_unicode(user_agent)
        return self._for(agent).crawl_delay(product_token(agent))

    def _for(self, agent: str) -> Protego:
        """Return the rules for an agent: mostly the crawl's, but a request may have another."""
        rules = self._parsed.get(agent)
        if rules is None:
            rules = self._parsed[agent] = _parsed(zlib.decompress(self._text).decode(), agent)
        return rules


class LatelyAsked:
    """The rules that were asked for last; all others are packed.

    Args:
        most: Number of those that stay parsed.
    """

    def __init__(self, most: int = MAX_PARSED) -> None:
        self._most = most
        self._rules: OrderedDict[int, FirstRules] = OrderedDict()

    def note(self, rules: RobotParser) -> None:
        """Note that rules are asked for now. Complexity: O(1)."""
        if not isinstance(rules, FirstRules):
            return
        self._rules[id(rules)] = rules
        self._rules.move_to_end(id(rules))
        if len(self._rules) > self._most:
            self._rules.popitem(last=False)[1].pack()


def _parsed(text: str, agent: str) -> Protego:
    return Protego.parse(lines_for(text, agent).as_text())


class _Rules(NamedTuple):
    """The rules of a site, and the time until which they hold."""

    parser: RobotParser
    until: float


class _Unreachable(NamedTuple):
    """The reason why no rules could be had, and the time until which none are requested."""

    error: Exception
    until: float


_Found: TypeAlias = _Rules | _Unreachable


class RobotsRules(CrawlerComponent):
    """Refuses requests that robots.txt forbids.

    As RFC 9309 has it, section 2.3.1: an answer 4xx forbids nothing, whatever its body says, but
    429 and 5xx, and no answer, forbid everything: a page is refused then, as where its host answers
    429 (``crawler.downloadermiddlewares.retries``). Up to five redirects are followed; more of
    them, or a bad one, forbid nothing. Rules belong to a scheme, a host and a port (2.3), and are
    asked for again after a day; where they cannot be had then, the old ones hold on (2.4).
    """

    def __init__(self, crawler: Crawler) -> None:
        settings = crawler.settings
        if not settings.getbool("ROBOTSTXT_OBEY"):
            raise NotConfigured
        self._crawler = crawler
        self._stats = crawler.stats
        self._agent: str | None = settings["ROBOTSTXT_USER_AGENT"]
        self._default_agent = str(settings["USER_AGENT"])
        self._parser: type[RobotParser] = load_object(settings["ROBOTSTXT_PARSER"])
        build_from_crawler(self._parser, crawler, b"")  # it may lack a library
        self._limit = Options(settings).integer("CRAWL_MAX_ROBOTS_BYTES")
        self._job = job_of(crawler)
        self._canonicalizer = self._job.canonicalizer
        self._sites: dict[str, _Found | asyncio.Future[_Found | None]] = {}
        self._lately = LatelyAsked()
        self._moved: set[str] = set()
        crawler.signals.connect(self._count, signals.bytes_received)

    async def process_request(self, request: Request) -> None:
        """Refuse a request that robots.txt forbids; bound one for a robots.txt.

        Raises:
            ForbiddenByRobotsError: robots.txt forbids it.
            RobotsUnreachableError: robots.txt cannot be had now.
        """
        if is_for_robots(request) or ROBOTS_BYTES in request.meta:
            self._prepare(request)
        is_web = urlparse_cached(request).scheme in {"http", "https"}
        if request.meta.get("dont_obey_robotstxt") or not is_web:
            return
        rules = await self._rules_for(request)
        self._lately.note(rules)
        agent = self._agent or request.headers.get(b"User-Agent") or self._default_agent
        if not all(rules.allowed(url, agent) for url in self._spellings(request.url)):
            self._stats.inc_value("robotstxt/forbidden")
            raise ForbiddenByRobotsError("Forbidden by robots.txt")

    def _prepare(self, request: Request) -> None:
        # Without a limit of its own: the body is cut at the limit, not thrown away.
        request.meta.update({ROBOTS_BYTES: 0, "download_maxsize": 0})
        request.meta.setdefault("redirect_ttl", _MAX_REDIRECTS)
        if "redirect_urls" in request.meta:
            self._moved.add(request.meta["redirect_urls"][0])

    def _spellings(self, url: str) -> Iterator[str]:
        """Yield a URL as it is asked, and as a server may read its path."""
        yield url
        if "%" in url or "/." in url:
            with suppress(MalformedUrl):
                yield self._canonicalizer.exact(url)

    async def _rules_for(self, request: Request) -> RobotParser:
        parts = urlparse_cached(request)
        port = DEFAULT_PORTS[parts.scheme]
        site = f"{parts.scheme}://{parts.netloc.lower().removesuffix(port)}"
        known = self._sites.get(site)
        found = None
        if isinstance(known, asyncio.Future):
            found, known = await asyncio.shield(known), None
        elif known is not None and known.until > time.monotonic():
            found = known
        if found is None:
            found = await self._look_up(site, request, known)
        if isinstance(found, _Unreachable):
            raise found.error.with_traceback(None)
        return found.parser

    async def _look_up(self, site: str, request: Request, before: _Found | None) -> _Found:
        asking = self._sites[site] = asyncio.get_running_loop().create_future()
        found = before
        try:
            found = await self._ask(site, request)
            if isinstance(found, _Unreachable) and isinstance(before, _Rules):
                found = _Rules(before.parser, time.monotonic() + _KEPT_ON_SECS)
        finally:
            if found is None:  # cancelled
                del self._sites[site]
            else:
                self._sites[site] = found
            asking.set_result(found)
        return found

    async def _ask(self, site: str, request: Request) -> _Found:
        url = f"{site}/robots.txt"
        asked = Request(url, priority=_PRIORITY, meta=dict(_META), callback=NO_CALLBACK)
        self._stats.inc_value("robotstxt/request_count")
        try:
            response = await self._crawler.engine.download_async(asked)
        except Exception as error:  # whatever a download raises
            return await self._after_error(url, error, request)
        self._stats.inc_value(f"robotstxt/response_status_count/{response.status}")
        return await self._after_answer(url, response, request)

    async def _after_answer(self, url: str, response: Response, request: Request) -> _Found:
        status = response.status
        if status == HTTPStatus.TOO_MANY_REQUESTS or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            return self._unreachable(f"HTTP {status}", wanted_secs(response))
        if HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES:
            return await self._parse(response.body, request)
        with suppress(CrawlStorageError):  # the job remembers it, and the crawl ends
            self._job.visits.notes.note_no_robots(urlsplit(url).netloc, f"HTTP {status}")
        return await self._parse(b"", request)

    async def _after_error(self, url: str, error: Exception, request: Request) -> _Found:
        self._stats.inc_value(f"robotstxt/exception_count/{type(error).__name__}")
        if isinstance(error, _OF_THE_HOST) and url not in self._moved:
            return _Unreachable(error, -math.inf)
        failure = Failure(error)
        verdict, reason, status = explain(failure, self._crawler.settings)
        if isinstance(error, _NO_ANSWER):
            return self._unreachable(in_words(reason) or "")
        with suppress(CrawlStorageError):  # the job remembers it, and the crawl ends
            nothing = Reason.ROBOTS_FORBID_NOTHING.stored()
            self._job.store_failure(url, verdict, together(reason, nothing), status=status)
        return await self._parse(b"", request)

    def _unreachable(self, reason: str, wanted_secs: float | None = None) -> _Unreachable:
        first_secs = self._job.frontier.pauses.policy.pause_secs(1, wanted_secs)
        until = time.monotonic() + min(ASK_AGAIN_SECS, first_secs)
        return _Unreachable(RobotsUnreachableError(reason, wanted_secs), until)

    async def _parse(self, body: bytes, request: Request) -> _Rules:
        if issubclass(self._parser, FirstRules) and len(body) > _QUICKLY_READ_BYTES:
            read = self._parser.from_crawler
            rules: RobotParser = await asyncio.to_thread(read, self._crawler, body)
        else:
            rules = build_from_crawler(self._parser, self._crawler, body)
        await self._crawler.signals.send_catch_log_async(
            signal=signals.robots_parsed, robotparser=rules, request=request
        )
        return _Rules(rules, time.monotonic() + MAX_AGE_SECS)

    def _count(self, data: bytes, request: Request) -> None:
        received = request.meta.get(ROBOTS_BYTES)
        if received is None:
            return
        request.meta[ROBOTS_BYTES] = received + len(data)
        if received + len(data) > self._limit:
            raise StopDownload(fail=False)
