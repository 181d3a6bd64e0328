"""Fetch a few pages by Scrapy's downloader, for a command that is no crawl."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any, ClassVar, cast

from scrapy import Request, Spider
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.utils.reactor import _asyncio_reactor_path

from crawler.console.escaping import tidy_logs
from crawler.console.options import CommandError
from crawler.downloadermiddlewares.failures import explain
from crawler.pages.reasons import Reason, codes, detail_of, in_words
from crawler.reading.pool import Html
from crawler.request_meta import LED_BY, host_in
from crawler.urls.parts import MalformedUrl
from crawler.urls.seeds import check_seed

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping, Sequence

    from scrapy.http import Response
    from scrapy.settings import Settings
    from twisted.python.failure import Failure

    Note = Callable[[str, Html | str], None]

_SETTINGS: dict[str, Any] = {
    "JOBDIR": None,
    "FEEDS": {},
    "LOG_LEVEL": "ERROR",
    "PROGRESS_ENABLED": False,
    "METRICS_PORT": "",
    "WARC_ENABLED": False,
    "CRAWL_LEARN_URL_RULES": False,
    # What is asked for twice, or where a page leads in circles, is no page to compare.
    "RETRY_ENABLED": False,
    "REDIRECT_MAX_TIMES": 5,
}

_ENOUGH = 100_000  # bytes of a page that is asked for whether it is there
_REFUSALS = frozenset({401, 403, 407, 429, 451, 999})
_NOT_DEAD = frozenset({Reason.FORBIDDEN, Reason.REFUSED, Reason.TOO_LARGE})
_TIRED = frozenset({429, 503})  # statuses of a host that is asked nothing more
_NO_HEAD = frozenset(
    {
        Reason.CONNECTION_LOST,
        Reason.CONNECTION_LOST_MIDWAY,
        Reason.TIMEOUT,
        Reason.NO_HTTP,
        Reason.BAD_ANSWER,
    }
)
"""Statuses of HEAD from hosts that answer to GET alone."""


def fetch_pages(urls: Sequence[str], settings: Settings) -> list[Html]:
    """Fetch pages with the settings of the project: politely, within bounds, if robots.txt lets.

    Nothing else is asked for but their robots.txt, and where they redirect to. A process can do
    this once.

    Raises:
        CommandError: A URL is none, or gave no page.
        KeyboardInterrupt: Ctrl-C, after which answers under way are waited for; pressed twice, they
            are not.
    """
    for url in urls:
        try:
            check_seed(url)
        except MalformedUrl as error:
            raise CommandError(str(error)) from None
    results: dict[str, Html | str] = {}
    ask(_Pages, dict.fromkeys(urls), settings, results.__setitem__)
    return [_page(url, results) for url in urls]


def ask(
    spider: type[_Pages], urls: Mapping[str, str | None], settings: Settings, note: Note
) -> bool:
    """Note what came of URLs, each with the page that leads to it; return whether all was asked.

    Ctrl-C ends that, and is no error.

    Raises:
        CommandError: Nothing can be asked with these settings.
    """
    if settings["TWISTED_REACTOR"] != _asyncio_reactor_path:
        raise CommandError(f"to fetch pages TWISTED_REACTOR must be {_asyncio_reactor_path}")
    for name, value in (_SETTINGS | spider.fixed).items():
        settings.set(name, value, priority="cmdline")
    process = AsyncCrawlerProcess(settings)
    crawler = process.create_crawler(spider)
    task = process.crawl(crawler, urls=urls, note=note)
    tidy_logs()
    process.start()
    if task.done() and not task.cancelled() and (error := task.exception()):
        raise CommandError(f"nothing can be asked: {error}") from error
    return isinstance(crawler.spider, _Pages) and crawler.spider.ended_by == "finished"


def _page(url: str, results: dict[str, Html | str]) -> Html:
    if url not in results:
        raise KeyboardInterrupt
    found = results[url]
    if isinstance(found, str):
        raise CommandError(f"{url}: {found}")
    return found


class _Pages(Spider):
    """Requests some URLs and follows nothing."""

    name = "compare"
    fixed: ClassVar[dict[str, Any]] = {}  # further settings that nobody changes
    ended_by = ""

    def __init__(self, urls: Mapping[str, str | None], note: Note) -> None:
        super().__init__()
        self._urls, self._note = urls, note

    def closed(self, reason: str) -> None:
        """Note why it ends: Ctrl-C is another reason than that all was asked."""
        self.ended_by = reason

    async def start(self) -> AsyncIterator[Any]:
        """Yield a request for each URL."""
        for url in self._urls:
            yield self._request(url)

    def _request(self, url: str, method: str = "GET") -> Request:
        return Request(
            url,
            callback=self._take,
            errback=self._fail,
            method=method,
            meta={LED_BY: self._urls[url]},
            dont_filter=True,
            cb_kwargs={"asked": url},
        )

    def _take(self, response: Response, asked: str) -> None:
        kind = response.headers.get(b"Content-Type")
        content_type = None if kind is None else kind.decode("latin-1")
        self._note(asked, Html(response.url, response.body, content_type))

    def _fail(self, failure: Failure) -> None:
        request = cast("Request", failure.request)  # type: ignore[attr-defined]  # Scrapy adds it
        _, reason, _ = explain(failure, self.crawler.settings)
        self._note(request.cb_kwargs["asked"], in_words(reason) or "")


class Links(_Pages):
    """Asks for heads, and for pages where that gives an error; what refuses programs may be there.

    The next link of a host is asked when the one before is answered. A host that wants to be asked
    less is asked nothing more: its other links are not noted.
    """

    custom_settings = {"CONCURRENT_REQUESTS_PER_DOMAIN": 1, "DOWNLOAD_DELAY": 1.0}  # noqa: RUF012
    fixed: ClassVar[dict[str, Any]] = {
        "REDIRECT_MAX_TIMES": 20,
        # A password is for none of these hosts.
        "HTTPAUTH_USER": "",
        "HTTPAUTH_PASS": "",
    }

    async def start(self) -> AsyncIterator[Any]:
        """Yield a request to each host."""
        by_host: dict[str, list[str]] = {}
        for url in self._urls:
            by_host.setdefault(host_in(url), []).append(url)
        self._waiting = {host: iter(urls) for host, urls in by_host.items()}
        self._tired: set[str] = set()
        for waiting in self._waiting.values():
            yield self._request(next(waiting), "HEAD")

    def _take(self, response: Response, asked: str) -> None:
        self._answered(asked, "")

    def _fail(self, failure: Failure) -> None:
        request = cast("Request", failure.request)  # type: ignore[attr-defined]  # Scrapy adds it
        _, reason, status = explain(failure, self.crawler.settings)
        found, robots = codes(reason), detail_of(reason, Reason.ROBOTS_UNREACHABLE) or ""
        is_there = status in _REFUSALS or found & _NOT_DEAD or robots.startswith("HTTP ")
        if status in _TIRED or robots.startswith("HTTP "):
            self._tired.add(host_in(request.url))
            error: Any = failure.value  # of a status it has the answer
            is_there = is_there or b"Retry-After" in error.response.headers
        elif (
            request.method == "HEAD"
            and not is_there
            and status != HTTPStatus.GONE
            and (status or found & _NO_HEAD)
        ):
            meta = request.meta | {"download_maxsize": _ENOUGH}
            self.crawler.engine.crawl(request.replace(method="GET", meta=meta, priority=1))
            return
        self._answered(request.cb_kwargs["asked"], "" if is_there else in_words(reason) or "")

    def _answered(self, asked: str, why: str) -> None:
        """Note why a link is dead, if it is, and ask the next one of its host."""
        self._note(asked, why)
        host = host_in(asked)
        url = None if host in self._tired else next(self._waiting[host], None)
        if url is not None:
            self.crawler.engine.crawl(self._request(url, "HEAD"))
