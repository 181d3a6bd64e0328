"""Decide which pages of a crawl are shown in a browser, and take what it shows."""

from __future__ import annotations

import logging
from contextlib import suppress
from dataclasses import replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from crawler.options import Options, did_you_mean
from crawler.page_rendering import browser_cookies, render_options, renderer_of
from crawler.pages.rendered import Rendered, choose, not_shown
from crawler.reading.link_extraction import resolve
from crawler.reading.link_kinds import ROUTE
from crawler.reading.reading import Link
from crawler.rendering.browser import browser_path
from crawler.rendering.pages import NoBrowserError, PageToRender, RenderingError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from scrapy.settings import BaseSettings

    from crawler.pages.page_context import Fetched
    from crawler.reading.reading import Reading
    from crawler.rendering.pages import RenderOptions
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


def check_mode(arguments: Mapping[str, str]) -> None:
    """Check ``-a render``.

    Raises:
        ValueError: It is no mode.
    """
    mode = arguments.get("render", AUTO)
    if mode not in MODES:
        hint = did_you_mean(mode, MODES)
        raise ValueError(f"-a render must be no, auto or always, got {mode!r}{hint}")


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


def render_pages(spider: PageSpider, chosen: str) -> None:
    """Render pages of a spider from now on, where that is wanted.

    Raises:
        ValueError: A setting is bad, or there is nothing to render with.
    """
    if wanted_rendering(spider.crawler.settings, chosen) is not None:
        rendering = PageRendering(spider, is_always=chosen == ALWAYS)
        spider.archivist.render = rendering.render


class PageRendering:
    """Shows pages of a spider in a browser.

    Args:
        spider: The spider.
        is_always: Whether all pages with scripts are shown, and not only those that show nothing.
    """

    def __init__(self, spider: PageSpider, *, is_always: bool) -> None:
        self._spider = spider
        self._is_always = is_always
        self._renderer = renderer_of(spider.crawler)
        self._cookies = browser_cookies(getattr(spider, "cookies", ""))
        self._failure = ""

    async def render(self, fetched: Fetched, reading: Reading) -> Rendered | None:
        """Show an answer in the browser, if it is to be shown; see ``crawler.pages.rendered``."""
        if not self._is_wanted(fetched, reading):
            return None
        stats = self._spider.crawler.stats
        headers = (("content-type", fetched.content_type or "text/html"),)
        page = PageToRender(fetched.url, fetched.body, fetched.status, headers, self._cookies)
        try:
            shown = await self._renderer.render(page)
        except RenderingError as error:
            self._say_once(str(error))
            return not_shown(reading, str(error))
        stats.inc_value("render/pages")
        if shown.failed:
            stats.inc_value("render/failures")
            return not_shown(reading, shown.failed)
        answer = replace(fetched, body=shown.body, content_type="text/html; charset=utf-8")
        read = await self._spider.archivist.read(answer)
        routes = tuple(self._links(fetched.url, shown.routes))
        return choose(reading, read, shown.body, shown.missed, routes)

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

    def _links(self, page_url: str, urls: Iterable[str]) -> Iterator[Link]:
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
