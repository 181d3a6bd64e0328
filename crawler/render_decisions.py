"""Decide which pages of a crawl are shown in a browser, and take what it shows."""

from __future__ import annotations

import logging
import re
from contextlib import suppress
from dataclasses import replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from crawler.options import Options, did_you_mean
from crawler.page_rendering import browser_cookies, render_options, renderer_of
from crawler.pages.reasons import Reason, codes
from crawler.pages.rendered import Rendered, choose, not_shown, shows_more
from crawler.reading.link_extraction import resolve
from crawler.reading.link_kinds import PAGES, ROUTE
from crawler.reading.reading import Link
from crawler.rendering.browser import browser_path
from crawler.rendering.rendered_pages import NoBrowserError, PageToRender, RenderingError
from crawler.url_rules.render_kinds import RenderKinds

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from scrapy.settings import BaseSettings

    from crawler.pages.page_context import Fetched
    from crawler.reading.reading import Reading
    from crawler.rendering.rendered_pages import RenderOptions
    from crawler.spiders.page_spider import PageSpider

logger = logging.getLogger(__name__)

_PLACE = re.compile(
    rb"<(div|main|section)\s(?:[^<>]{0,200}\s)?id\s?=[^<>]{1,200}>\s{0,50}</\1>"
    rb"|<\w{1,30}-[\w-]{1,60}(?:\s[^<>]{0,300})?>\s{0,50}</",
    re.IGNORECASE,
)
"""An element that a script may fill; bounded, since pages are hostile."""

_MAX_SEARCHED_BYTES = 500_000

_SOON = 3
"""Pages that may wait for each tab of the browser before no further one is fetched."""

NO: Final = "no"
AUTO: Final = "auto"
ALWAYS: Final = "always"
MODES: Final = (NO, AUTO, ALWAYS)

RENDER_MEANING: Final = (
    "show pages in a browser: no; auto: those that show more there; always: all with scripts "
    "(default auto with the extra render, else no; docs/rendering.md)"
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
        spider.archivist.renderer = PageRendering(spider, is_always=chosen == ALWAYS)


class PageRendering:
    """Shows pages of a spider in a browser.

    Args:
        spider: The spider.
        is_always: Whether all pages with scripts are shown, and not only those that show nothing,
            and those of kinds that show more there.
    """

    def __init__(self, spider: PageSpider, *, is_always: bool) -> None:
        self._spider = spider
        self._kinds = None if is_always else RenderKinds(spider.job.database)
        self._renderer = renderer_of(spider.crawler)
        self._cookies = browser_cookies(getattr(spider, "cookies", ""))
        self._failure = ""
        self._most_waiting = _SOON * render_options(spider.crawler.settings).concurrency
        self._waiting = 0

    @property
    def is_behind(self) -> bool:
        """Whether so many pages wait for the browser that none is to be fetched.

        Each of them is in memory alone, and a crawl that is told to end waits for all of them.
        """
        return self._waiting >= self._most_waiting

    async def render(self, fetched: Fetched, reading: Reading) -> Rendered | None:
        """Show an answer in the browser, if it is to be shown; see ``crawler.pages.rendered``."""
        if not _may_be_shown(fetched, reading):
            return None
        if reading.is_app_shell:
            return await self._shown(fetched, reading)
        # What is a copy as it came is one in a browser too.
        digest = reading.visible_digest
        is_copy = digest is not None and self._spider.job.store.find_visible(digest) is not None
        if self._was_shown(fetched) or (self._kinds is None and not is_copy):
            return await self._shown(fetched, reading)
        if self._kinds is None or is_copy:
            return None
        kind = self._kinds.name(fetched.canonical_url)
        if not self._kinds.is_due(kind, has_place=_has_place(fetched.body)):
            return None
        shown = await self._shown(fetched, reading)
        is_gain = shown.is_taken and shows_more(reading, shown.reading, self._is_new)
        self._kinds.note(kind, is_gain=is_gain)
        return shown if is_gain else None

    async def _shown(self, fetched: Fetched, reading: Reading) -> Rendered:
        stats = self._spider.crawler.stats
        headers = (("content-type", fetched.content_type or "text/html"),)
        page = PageToRender(fetched.url, fetched.body, fetched.status, headers, self._cookies)
        self._waiting += 1
        try:
            shown = await self._renderer.render(page)
        except RenderingError as error:
            self._say_once(str(error))
            return not_shown(reading, str(error))
        finally:
            self._waiting -= 1
        stats.inc_value("render/pages")
        if shown.failed:
            stats.inc_value("render/failures")
            return not_shown(reading, shown.failed)
        answer = replace(fetched, body=shown.body, content_type="text/html; charset=utf-8")
        read = await self._spider.archivist.read(answer)
        routes = tuple(self._links(fetched.url, shown.routes))
        return choose(reading, read, shown.body, shown.missed, routes)

    def _was_shown(self, fetched: Fetched) -> bool:
        """Return whether the last capture of a page is what the browser showed of it."""
        if self._spider.job.visits.number == 1:
            return False
        previous = self._spider.job.store.previous(fetched.key)
        return previous is not None and Reason.RENDERED in codes(previous.reason)

    def _is_new(self, link: Link) -> bool:
        """Return whether a link leads to a page within the scope that was not met yet."""
        job = self._spider.job
        return (
            link.kind in PAGES
            and link.key not in job.frontier.seen
            and job.run.may_ask(link.url, {})
        )

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


def _may_be_shown(fetched: Fetched, reading: Reading) -> bool:
    """Return whether an answer is a whole page with scripts."""
    if not reading.is_page or fetched.is_cut or fetched.status != HTTPStatus.OK:
        return False
    return reading.is_app_shell or b"<script" in fetched.body.lower()


def _has_place(body: bytes) -> bool:
    return _PLACE.search(body, 0, _MAX_SEARCHED_BYTES) is not None
