"""robots.txt at a bounded cost, and a word where it could not be had."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    StopDownload,
)
from scrapy.robotstxt import ProtegoRobotParser
from scrapy.utils.httpobj import urlparse_cached
from twisted.python.failure import Failure

from crawler.downloadermiddlewares import PrivateAddressError, is_for_robots
from crawler.failures import explain
from crawler.jobs import job_of
from crawler.options import Options
from crawler.pages.errors import StorageError

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.robotstxt import RobotParser

# Of the host, which the failure of the page's own request says too; the last one of a host that
# is none.
_SAID_ANYWAY = (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    PrivateAddressError,
    ValueError,
)

_ALLOWED = "taken as if it forbade nothing"
_RECEIVED = "crawl_robots_bytes"


class FirstRules(ProtegoRobotParser):
    """Reads the first ``CRAWL_MAX_ROBOTS_BYTES``, whole lines of them.

    The parser runs in the main process, where 30 MB would take half a minute.
    """

    @classmethod
    def from_crawler(cls, crawler: Crawler, robotstxt_body: bytes) -> FirstRules:
        """See the base class."""
        limit = Options(crawler.settings).integer("CRAWL_MAX_ROBOTS_BYTES")
        if len(robotstxt_body) > limit:
            robotstxt_body = robotstxt_body[:limit].rpartition(b"\n")[0]
        return cls(robotstxt_body, crawler.spider)


class RobotsRules(RobotsTxtMiddleware):
    """Scrapy's, which downloads no more than is read, and stores why nothing could be read.

    A robots.txt that cannot be had forbids nothing, as in Scrapy. That it could not be had comes
    to ``_robots_error``, which is private, so it is looked for at the start.

    Raises:
        RuntimeError: This version of Scrapy has no such method.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        if not hasattr(RobotsTxtMiddleware, "_robots_error"):
            raise RuntimeError(
                "this version of Scrapy has no RobotsTxtMiddleware._robots_error; use another one, "
                "or Scrapy's own middleware in DOWNLOADER_MIDDLEWARES"
            )
        self._limit = Options(crawler.settings).integer("CRAWL_MAX_ROBOTS_BYTES")
        self._job = job_of(crawler)
        self._schemes: dict[str, str] = {}
        crawler.signals.connect(self._count, signals.bytes_received)

    async def process_request(self, request: Request, spider: Spider | None = None) -> None:
        """Let a request pass as robots.txt wants it; prepare that one's own."""
        if is_for_robots(request) or _RECEIVED in request.meta:
            # Without a limit of its own: cut where that is reached, not thrown away.
            request.meta.update({_RECEIVED: 0, "download_maxsize": 0})
        await super().process_request(request)

    async def robot_parser(self, request: Request) -> RobotParser | None:
        """See the base class."""
        parts = urlparse_cached(request)
        self._schemes.setdefault(parts.netloc, parts.scheme)
        return await super().robot_parser(request)

    def _count(self, data: bytes, request: Request) -> None:
        received = request.meta.get(_RECEIVED)
        if received is None:
            return
        request.meta[_RECEIVED] = received + len(data)
        if received + len(data) > self._limit:
            raise StopDownload(fail=False)

    def _robots_error(self, exc: Exception, netloc: str) -> None:
        if not isinstance(exc, _SAID_ANYWAY):
            failure = Failure(exc)  # type: ignore[no-untyped-call]
            verdict, reason, status = explain(failure, self.crawler.settings)
            url = f"{self._schemes[netloc]}://{netloc}/robots.txt"
            with suppress(StorageError):  # the job remembers it, and the crawl ends
                self._job.store_failure(url, verdict, f"{reason}; {_ALLOWED}", status=status)
        super()._robots_error(exc, netloc)
