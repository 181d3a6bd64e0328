"""Adapt ``crawler.rendering`` to Scrapy: requests of pages go through the crawl's own limits."""

from __future__ import annotations

import asyncio
import os
import time
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary

from scrapy import Request, signals
from scrapy.http.request import NO_CALLBACK

from crawler.downloadermiddlewares.retries import REFUSALS, wanted_secs
from crawler.downloading.cookies import read_cookies
from crawler.frontier.order import host_number
from crawler.job_registry import job_of
from crawler.options import Options
from crawler.pages.visits import NO
from crawler.rendering.browser import browser_path
from crawler.rendering.rendered_pages import (
    BEHAVIOURS,
    Cookie,
    NoBrowserError,
    RenderOptions,
    SubAnswer,
)
from crawler.rendering.renderer import Renderer
from crawler.rendering.traffic import (
    AnswerKey,
    KeptAnswers,
    is_for_the_crawl,
    kept_secs,
    key_of,
)
from crawler.request_meta import LED_BY, host_name
from crawler.spiders.arguments import AUTO

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.settings import BaseSettings

    from crawler.rendering.rendered_pages import SubRequest
    from crawler.spiders.arguments import RenderChoice

T = TypeVar("T")

_PRIORITY = 500
_MAX_REDIRECTS = 5
_LOOK_SECS = 0.1

_OWN_HEADERS = frozenset(
    {
        "accept-encoding",
        "connection",
        "content-length",
        "cookie",
        "host",
        "if-modified-since",
        "if-none-match",
        "priority",
        "proxy-authorization",
        "range",
        "te",
        "transfer-encoding",
        "upgrade",
        "user-agent",
    }
)
"""Headers of a page's request that the crawler sets itself or leaves out."""

_renderers: WeakKeyDictionary[Crawler, Renderer] = WeakKeyDictionary()


def renderer_of(
    crawler: Crawler,
    *,
    with_files: bool = False,
    screenshots: bool = False,
    for_disk: bool = False,
) -> Renderer:
    """Return the renderer of a crawl, made at the first call; its browser starts with a page.

    It is closed with the spider, and at the latest with the engine.

    Args:
        crawler: The crawl.
        with_files: Whether images, fonts and media are loaded.
        screenshots: Whether pictures are taken.
        for_disk: Whether documents are written to be opened without scripts.

    Raises:
        ValueError: A setting has a bad value; the message names it.
    """
    renderer = _renderers.get(crawler)
    if renderer is None:
        options = replace(
            render_options(crawler.settings),
            with_files=with_files,
            screenshots=screenshots,
            for_disk=for_disk,
        )
        fetching = PageRequests(crawler, options)
        renderer = _renderers[crawler] = Renderer(options, fetching.fetch)

        async def close() -> None:
            _renderers.pop(crawler, None)
            await renderer.close()

        async def end() -> None:
            await renderer.end()
            fetching.end()

        job_of(crawler).callbacks.at_end.append(lambda: fetching.begin(end()))
        # Weak references would be gone at once.
        for signal in (signals.spider_closed, signals.engine_stopped):
            crawler.signals.connect(close, signal, weak=False)
    return renderer


def render_options(settings: BaseSettings) -> RenderOptions:
    """Return the options that the settings make up.

    Raises:
        ValueError: A setting has a bad value; the message names it.
    """
    options = Options(settings)
    behaviours = options.names("CRAWL_RENDER_BEHAVIOURS")
    unknown = [name for name in behaviours if name not in BEHAVIOURS]
    if unknown:
        raise ValueError(
            f"CRAWL_RENDER_BEHAVIOURS must be some of {', '.join(BEHAVIOURS)}, got {unknown[0]}"
        )
    cores = os.cpu_count() or 1
    return RenderOptions(
        page_secs=options.number("CRAWL_RENDER_TIMEOUT_SECS"),
        max_subrequests=options.integer("CRAWL_RENDER_MAX_REQUESTS"),
        max_page_bytes=options.integer("CRAWL_RENDER_MAX_BYTES"),
        wait_for=str(options.raw("CRAWL_RENDER_WAIT_FOR")),
        behaviours=behaviours,
        user_agent=str(settings["USER_AGENT"] or ""),
        concurrency=options.integer("CRAWL_RENDER_CONCURRENCY") or cores,
        max_browser_mb=options.integer("CRAWL_RENDER_BROWSER_MAX_MB"),
        browser_path=str(options.raw("CRAWL_RENDER_BROWSER")),
    )


def browser_cookies(path: str) -> tuple[Cookie, ...]:
    """Return the cookies of a Netscape file, none without a file.

    Raises:
        ValueError: It cannot be read; the message names it.
    """
    if not path:
        return ()
    return tuple(
        Cookie(
            each.name,
            each.value or "",
            each.domain,
            each.path,
            -1.0 if each.expires is None else float(each.expires),
            is_secure=each.secure,
            is_http_only=each.has_nonstandard_attr("HTTPOnly"),
        )
        for each in read_cookies(path)
    )


class PageRequests:
    """Answers the requests of pages by Scrapy's downloader, with all middlewares of the crawl.

    So private addresses and what robots.txt forbids are refused, sizes and times bounded, the
    pause and the pace of each host kept, and answers recorded in archives. Nothing goes through
    scheduler and dupe filter: it is no page of the crawl.
    """

    def __init__(self, crawler: Crawler, options: RenderOptions) -> None:
        self._crawler = crawler
        self._options = options
        self._result = job_of(crawler).result
        self._pauses = job_of(crawler).frontier.pauses
        self._answers = KeptAnswers()
        self._under_way: dict[AnswerKey, asyncio.Task[SubAnswer | None]] = {}
        self._tasks: set[asyncio.Task[Any]] = set()

    async def fetch(self, wanted: SubRequest) -> SubAnswer | None:
        """Answer a request of a page; None refuses it."""
        key = key_of(wanted)
        if key is None:
            return await self._shielded(wanted)
        kept = self._answers.get(key)
        if kept is not None:
            self._count("kept")
            return kept
        if not is_for_the_crawl(wanted):
            answer = await self._shielded(wanted)
            if answer is not None:
                self._answers.keep(key, wanted, answer)
            return answer
        task = self._under_way.get(key)
        is_joined = task is not None
        if task is None:
            task = self._under_way[key] = self.begin(self._download(wanted))
            task.add_done_callback(lambda _: self._under_way.pop(key, None))
        answer = await asyncio.shield(task)
        if is_joined and (answer is None or not kept_secs(wanted, answer)):
            return await self._shielded(wanted)  # it is for that other page alone
        if answer is not None:
            self._answers.keep(key, wanted, answer)
        return answer

    async def _shielded(self, wanted: SubRequest) -> SubAnswer | None:
        return await asyncio.shield(self.begin(self._download(wanted)))

    def begin(self, doing: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Begin what ends by itself, such as a download even if its page ends before."""
        task = asyncio.ensure_future(doing)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def end(self) -> None:
        """End the downloads, for which no page waits any more."""
        for task in self._tasks - {asyncio.current_task()}:
            task.cancel()

    async def _download(self, wanted: SubRequest) -> SubAnswer | None:
        settings = self._crawler.settings
        most = wanted.max_bytes or self._options.max_page_bytes
        request = Request(
            wanted.url,
            NO_CALLBACK,
            wanted.method,
            headers=_headers(wanted, self._options.language),
            body=wanted.body,
            priority=_PRIORITY,
            dont_filter=True,
            meta={
                LED_BY: wanted.page_url,
                "depth": 1,
                "max_retry_times": 0 if wanted.method == "POST" else 1,
                "redirect_ttl": _MAX_REDIRECTS,
                "download_timeout": min(
                    self._options.page_secs, settings.getfloat("DOWNLOAD_TIMEOUT")
                ),
                "download_maxsize": min(most, settings.getint("DOWNLOAD_MAXSIZE") or most),
            },
        )
        if not await self._may_ask(request):
            self._count("paused")
            return None
        try:
            response = await self._crawler.engine.download_async(request)
        except Exception:  # whatever a download raises: the page goes on without
            self._count("refused")
            return None
        self._count("downloaded")
        self._result.count_for_browser(len(response.body))
        if response.status in REFUSALS:
            self._pause(request, response)
        return SubAnswer(response.status, _pairs(response), response.body)

    async def _may_ask(self, request: Request) -> bool:
        """Wait for the end of its host's pause, if that comes while the page can wait."""
        host = host_number(host_name(request))
        ends_at = time.monotonic() + self._options.page_secs
        while (left := self._pauses.left_secs(host)) > 0:
            if time.monotonic() + left > ends_at:
                return False
            await asyncio.sleep(min(left, _LOOK_SECS))
        return self._pauses.given_up(host) is None

    def _pause(self, request: Request, response: Response) -> None:
        host, reason = host_number(host_name(request)), f"HTTP {response.status}"
        self._pauses.begin(host, host_name(request), reason, wanted_secs(response))

    def _count(self, what: str) -> None:
        with suppress(RuntimeError):  # the crawl has ended
            self._crawler.stats.inc_value(f"render/requests_{what}")


def _headers(wanted: SubRequest, language: str) -> dict[str, str]:
    """Return the headers to send: those of scripts, but for what the crawler sets itself."""
    found = {
        name: value
        for name, value in wanted.headers
        if name.lower() not in _OWN_HEADERS and not name.lower().startswith(("sec-", ":"))
    }
    if found.get("accept-language", "").partition(",")[0] == language:  # the browser's own
        del found["accept-language"]
    return found


def _pairs(response: Response) -> tuple[tuple[str, str], ...]:
    headers: Any = response.headers
    return tuple(
        (name.decode("latin-1"), value.decode("latin-1"))
        for name in headers
        for value in headers.getlist(name)
    )


def wanted_rendering(settings: BaseSettings, choice: RenderChoice) -> RenderOptions | None:
    """Return how pages are rendered; None where none is.

    Raises:
        ValueError: A setting is bad, or there is nothing to render with.
    """
    options, chosen = render_options(settings), choice.mode
    is_fleet = Options(settings).boolean("FLEET_ENABLED")
    if chosen == NO or (not chosen and is_fleet):
        return None
    if is_fleet:
        raise ValueError(f"-a render={chosen}: a worker of a fleet renders no page yet")
    try:
        browser_path(options)
    except NoBrowserError as error:
        if not chosen and not options.browser_path:
            return None  # as without the extra
        raise ValueError(f"-a render={chosen or AUTO}: {error}") from None
    return options
