"""Fetch a few pages by Scrapy's downloader, for a command that is no crawl."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from scrapy import Request, Spider
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.utils.reactor import _asyncio_reactor_path

from crawler.console.command_line import CommandError, tidy_logs
from crawler.downloadermiddlewares.failures import explain
from crawler.pages.reasons import Reason, codes, in_words
from crawler.reading.pool import Html
from crawler.request_meta import LED_BY
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
) -> None:
    """Note what came of URLs, each with the page that leads to it; Ctrl-C ends that, no error."""
    if settings["TWISTED_REACTOR"] != _asyncio_reactor_path:
        raise CommandError(f"to fetch pages TWISTED_REACTOR must be {_asyncio_reactor_path}")
    for name, value in _SETTINGS.items():
        settings.set(name, value, priority="cmdline")
    process = AsyncCrawlerProcess(settings)
    process.crawl(spider, urls=urls, note=note)
    tidy_logs()
    process.start()


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
    method = "GET"

    def __init__(self, urls: Mapping[str, str | None], note: Note) -> None:
        super().__init__()
        self._urls, self._note = urls, note

    async def start(self) -> AsyncIterator[Any]:
        """Yield a request for each URL."""
        for url, source in self._urls.items():
            yield Request(
                url,
                callback=self._take,
                errback=self._fail,
                method=self.method,
                meta={LED_BY: source},
                dont_filter=True,
                cb_kwargs={"asked": url},
            )

    def _take(self, response: Response, asked: str) -> None:
        kind = response.headers.get(b"Content-Type")
        content_type = None if kind is None else kind.decode("latin-1")
        self._note(asked, Html(response.url, response.body, content_type))

    def _fail(self, failure: Failure) -> Request | None:
        request = cast("Request", failure.request)  # type: ignore[attr-defined]  # Scrapy adds it
        _, reason, status = explain(failure, self.crawler.settings)
        if request.method == "HEAD" and status:
            meta = request.meta | {"download_maxsize": _ENOUGH}
            return request.replace(method="GET", meta=meta, priority=1)
        is_there = self.method == "HEAD" and (status in _REFUSALS or codes(reason) & _NOT_DEAD)
        self._note(request.cb_kwargs["asked"], "" if is_there else in_words(reason) or "")
        return None


class Links(_Pages):
    """Asks for heads, and for pages where that is refused; what refuses programs may be there."""

    method = "HEAD"
    custom_settings = {"CONCURRENT_REQUESTS_PER_DOMAIN": 1, "DOWNLOAD_DELAY": 1.0}  # noqa: RUF012
