"""Fetch a few pages by Scrapy's downloader, for a command that is no crawl."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from scrapy import Request, Spider
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.utils.reactor import _asyncio_reactor_path

from crawler.console.command_line import CommandError, tidy_logs
from crawler.downloadermiddlewares.failures import explain
from crawler.pages.reasons import in_words
from crawler.reading.pool import Html
from crawler.urls.parts import MalformedUrl
from crawler.urls.seeds import check_seed

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from scrapy.http import Response
    from scrapy.settings import Settings
    from twisted.python.failure import Failure

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
    if settings["TWISTED_REACTOR"] != _asyncio_reactor_path:
        raise CommandError(f"to fetch pages TWISTED_REACTOR must be {_asyncio_reactor_path}")
    for name, value in _SETTINGS.items():
        settings.set(name, value, priority="cmdline")
    results: dict[str, Html | str] = {}
    process = AsyncCrawlerProcess(settings)
    process.crawl(_Pages, urls=urls, results=results)
    tidy_logs()
    process.start()
    return [_page(url, results) for url in urls]


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

    def __init__(self, urls: Sequence[str], results: dict[str, Html | str]) -> None:
        super().__init__()
        self._urls, self._results = urls, results

    async def start(self) -> AsyncIterator[Any]:
        """Yield a request for each URL."""
        for url in dict.fromkeys(self._urls):
            yield Request(
                url,
                callback=self._take,
                errback=self._fail,
                dont_filter=True,
                cb_kwargs={"asked": url},
            )

    def _take(self, response: Response, asked: str) -> None:
        kind = response.headers.get(b"Content-Type")
        content_type = None if kind is None else kind.decode("latin-1")
        self._results[asked] = Html(response.url, response.body, content_type)

    def _fail(self, failure: Failure) -> None:
        request = cast("Request", failure.request)  # type: ignore[attr-defined]  # Scrapy adds it
        _, reason, _ = explain(failure, self.crawler.settings)
        self._results[request.cb_kwargs["asked"]] = in_words(reason) or ""
