"""Render pages of a crawl: decide which, and fetch what they request by Scrapy's downloader.

Whatever a page requests goes through the middlewares, so that robots.txt, private addresses,
sizes, pauses of hosts and archives are what they are for pages.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections import OrderedDict
from contextlib import suppress
from dataclasses import replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from scrapy import Request, signals
from scrapy.http.request import NO_CALLBACK

from crawler.options import Options, did_you_mean
from crawler.pages.rendered import Rendered, choose, not_shown
from crawler.reading.link_extraction import resolve
from crawler.reading.link_kinds import ROUTE
from crawler.reading.reading import Link
from crawler.rendering.browser import find_browser, has_playwright
from crawler.rendering.options import (
    Behaviour,
    PageToRender,
    RenderError,
    RenderOptions,
    SubAnswer,
)
from crawler.request_meta import LED_BY

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.settings import BaseSettings

    from crawler.pages.page_context import Fetched
    from crawler.reading.reading import Reading
    from crawler.rendering.options import SubRequest
    from crawler.spiders.page_spider import PageSpider

logger = logging.getLogger(__name__)

NO: Final = "no"
AUTO: Final = "auto"
ALWAYS: Final = "always"
MODES: Final = (NO, AUTO, ALWAYS)

RENDER_MEANING: Final = (
    "show pages in a browser: no; auto: those that show nothing without their scripts; always: all "
    "with scripts (default auto with the extra render, else no; docs/rendering.md)"
)

_CACHE_BYTES = 67_108_864
_MAX_CACHED_BYTES = 8_388_608


def check_mode(arguments: Mapping[str, str]) -> None:
    """Check ``-a render``.

    Raises:
        ValueError: It is no mode.
    """
    mode = arguments.get("render", AUTO)
    if mode not in MODES:
        hint = did_you_mean(mode, MODES)
        raise ValueError(f"-a render must be no, auto or always, got {mode!r}{hint}")


def render_options(settings: BaseSettings) -> RenderOptions:
    """Return the options of rendering.

    Raises:
        ValueError: A setting has a bad value; the message names it.
    """
    options = Options(settings)
    names = options.names("CRAWL_RENDER_BEHAVIOURS")
    for name in names:
        if name not in set(Behaviour):
            hint = did_you_mean(name, tuple(Behaviour)) or f"; there are {', '.join(Behaviour)}"
            raise ValueError(f"CRAWL_RENDER_BEHAVIOURS: unknown behaviour {name!r}{hint}")
    return RenderOptions(
        secs=options.number("CRAWL_RENDER_SECS", at_least=1),
        max_requests=options.integer("CRAWL_RENDER_MAX_REQUESTS"),
        max_bytes=options.integer("CRAWL_RENDER_MAX_BYTES"),
        wait_for=str(options.raw("CRAWL_RENDER_WAIT_FOR")).strip(),
        behaviours=tuple(one for one in Behaviour if one in names),
        browser=str(options.raw("CRAWL_RENDER_BROWSER")).strip(),
        user_agent=str(settings["USER_AGENT"]),
        concurrency=options.integer("CRAWL_RENDER_PAGES") or os.cpu_count() or 1,
        max_mb=options.integer("CRAWL_RENDER_MAX_MB"),
    )


def wanted_rendering(settings: BaseSettings, chosen: str) -> RenderOptions | None:
    """Return how pages are rendered; None where none is.

    Args:
        settings: Settings of the crawl.
        chosen: A mode; empty for the usual one.

    Raises:
        ValueError: A setting is bad, or there is nothing to render with.
    """
    options = render_options(settings)
    is_fleet = Options(settings).boolean("FLEET_ENABLED")
    if chosen == NO or (not chosen and (is_fleet or not has_playwright())):
        return None
    if is_fleet:
        raise ValueError(f"-a render={chosen}: a worker of a fleet renders no page yet")
    try:
        find_browser(options.browser)
    except RenderError as error:
        if not chosen and not options.browser:
            return None  # as without the extra
        raise ValueError(f"-a render={chosen or AUTO}: {error}") from None
    return options


def render_pages(spider: PageSpider, chosen: str) -> None:
    """Render pages of a spider from now on, where that is wanted.

    Raises:
        ValueError: A setting is bad, or there is nothing to render with.
    """
    options = wanted_rendering(spider.crawler.settings, chosen)
    if options is None:
        return
    rendering = PageRendering(spider, options, is_always=chosen == ALWAYS)
    spider.archivist.render = rendering.render
    spider.crawler.signals.connect(rendering.close, signals.spider_closed)


class PageRendering:
    """Shows pages in a browser.

    Args:
        spider: The spider of the pages.
        options: How they are rendered.
        is_always: Whether all pages with scripts are, and not only those that show nothing.
    """

    def __init__(self, spider: PageSpider, options: RenderOptions, *, is_always: bool) -> None:
        self._spider = spider
        self._is_always = is_always
        self._secs = options.secs
        self._fetches = PageFetches(spider.crawler, options)
        from crawler.rendering.renderer import Renderer  # noqa: PLC0415  # it needs the extra

        self._renderer = Renderer(options, self._fetches.fetch)
        self._failure = ""

    async def render(self, fetched: Fetched, reading: Reading) -> Rendered | None:
        """Show an answer in the browser, if it is to be shown; see ``crawler.pages.rendered``."""
        if not self._is_wanted(fetched, reading):
            return None
        stats = self._spider.crawler.stats
        page = PageToRender(
            fetched.url, fetched.status, fetched.content_type or "text/html", fetched.body
        )
        try:
            shown = await self._renderer.render(page)
        except RenderError as error:
            self._say_once(str(error))
            return not_shown(reading, str(error))
        stats.inc_value("render/pages")
        if shown.html is None:
            stats.inc_value("render/failures")
            return not_shown(reading, shown.failure)
        answer = replace(fetched, body=shown.html, content_type="text/html; charset=utf-8")
        read = await self._spider.archivist.read(answer)
        routes = tuple(self._links(fetched.url, shown.routes))
        return choose(reading, read, shown.html, shown.missed, routes)

    def _is_wanted(self, fetched: Fetched, reading: Reading) -> bool:
        if not reading.is_page or fetched.is_cut or fetched.status != HTTPStatus.OK:
            return False
        if reading.is_app_shell:
            return True
        if not self._is_always or b"<script" not in fetched.body.lower():
            return False
        # What is a copy as it came is one in a browser too.
        digest = reading.visible_digest
        return digest is None or self._spider.job.store.find_visible(digest) is None

    def _links(self, page_url: str, urls: list[str]) -> Iterator[Link]:
        for url in urls:
            with suppress(ValueError):
                whole = resolve(page_url, url)
                if whole is not None:
                    key = self._spider.job.canonicalizer.key(whole)
                    yield Link(whole, key, nofollow=False, kind=ROUTE)

    def _say_once(self, failure: str) -> None:
        if failure != self._failure:
            self._failure = failure
            logger.error("no page is rendered: %s", failure)

    async def close(self) -> None:
        """End the browser."""
        await self._renderer.close()


class PageFetches:
    """Fetches what pages request, each URL once for the crawl while there is room for it.

    Args:
        crawler: The crawler whose downloader fetches.
        options: Limits of an answer.
    """

    def __init__(self, crawler: Crawler, options: RenderOptions) -> None:
        self._crawler = crawler
        self._options = options
        self._answers: OrderedDict[str, asyncio.Future[SubAnswer | None]] = OrderedDict()
        self._bytes = 0

    async def fetch(self, wanted: SubRequest) -> SubAnswer | None:
        """Return the answer to a request, None where it is refused or fails."""
        known = self._answers.get(wanted.url)
        if known is not None:
            self._answers.move_to_end(wanted.url)
            return await asyncio.shield(known)
        answered: asyncio.Future[SubAnswer | None] = asyncio.get_running_loop().create_future()
        self._answers[wanted.url] = answered
        answer = None
        try:
            answer = await self._download(wanted)
        finally:
            answered.set_result(answer)
            if answer is None or not _is_lasting(answer):
                self._answers.pop(wanted.url, None)
            else:
                self._bytes += len(answer.body)
                self._make_room()
        return answer

    def _make_room(self) -> None:
        for url in list(self._answers):
            if self._bytes <= _CACHE_BYTES:
                return
            known = self._answers[url]
            if known.done():
                del self._answers[url]
                answer = known.result()
                self._bytes -= 0 if answer is None else len(answer.body)

    async def _download(self, wanted: SubRequest) -> SubAnswer | None:
        meta = {
            LED_BY: wanted.page_url,
            "depth": 1,
            "dont_retry": True,
            "download_timeout": self._options.secs,
            "download_maxsize": self._options.max_bytes,
        }
        self._crawler.stats.inc_value("render/requests")
        try:
            request = Request(wanted.url, callback=NO_CALLBACK, meta=meta, dont_filter=True)
            response = await self._crawler.engine.download_async(request)
        except Exception as error:  # whatever a download raises
            logger.debug("%s: not fetched for %s: %r", wanted.url, wanted.page_url, error)
            return None
        return SubAnswer(response.status, _headers(response), response.body)


def _is_lasting(answer: SubAnswer) -> bool:
    """Return whether an answer is kept for other pages, and for the same one again."""
    said = answer.headers.get("cache-control", "").lower()
    is_small = len(answer.body) <= _MAX_CACHED_BYTES
    return answer.status == HTTPStatus.OK and is_small and "no-store" not in said


def _headers(response: Response) -> dict[str, str]:
    return {
        name.decode("latin-1").lower(): b", ".join(values).decode("latin-1")
        for name, values in response.headers.items()
    }
