"""Decide which pages of a crawl are shown in a browser, and take what it shows."""

from __future__ import annotations

import asyncio
import logging
import re
from contextlib import suppress
from dataclasses import replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Final, NamedTuple

from crawler.options import Options, did_you_mean
from crawler.page_rendering import browser_cookies, render_options, renderer_of
from crawler.pages.reasons import NOT_WHOLE, SHOWN, Reason, codes, detail_of
from crawler.pages.rendered import Rendered, choose, not_shown, shows_more
from crawler.reading.content_types import why_not_html
from crawler.reading.link_extraction import resolve
from crawler.reading.link_kinds import PAGES, ROUTE
from crawler.reading.reading import Link
from crawler.rendering.browser import browser_path
from crawler.rendering.pictures import Pictures
from crawler.rendering.rendered_pages import (
    FOREIGN_SCRIPT_FAILED,
    NoBrowserError,
    PageToRender,
    RenderingError,
)
from crawler.url_rules.render_kinds import RenderKinds

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from scrapy.settings import BaseSettings

    from crawler.pages.page_context import Fetched
    from crawler.pages.page_row import PageRow
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

SCREENSHOTS_MEANING: Final = (
    "yes or no (default): keep a picture of each page; shows all pages in the browser, unless "
    "render=auto says which"
)
RENDER_MEANING: Final = (
    "show pages in a browser: no; auto: those that show more there; always: all with scripts "
    "(default auto with the extra render, else no; docs/rendering.md)"
)


class RenderChoice(NamedTuple):
    """What the arguments of a spider say of rendering.

    Attributes:
        mode: One of ``MODES``; empty: auto where there is a browser.
        screenshots: Whether a picture of each page is kept.
        for_disk: Whether documents are written to be opened without scripts.
    """

    mode: str = ""
    screenshots: bool = False
    for_disk: bool = False


def render_choice(arguments: Mapping[str, str]) -> RenderChoice:
    """Return what ``-a render`` and ``-a screenshots`` say.

    Raises:
        ValueError: One of them is wrong, or they contradict each other.
    """
    mode, wanted = arguments.get("render"), arguments.get("screenshots", "no")
    if mode is not None and mode not in MODES:
        hint = did_you_mean(mode, MODES)
        raise ValueError(f"-a render must be no, auto or always, got {mode!r}{hint}")
    if wanted not in {"yes", "no"}:
        raise ValueError(f"-a screenshots must be yes or no, got {wanted!r}")
    if wanted == "no":
        return RenderChoice(mode or "")
    if mode == NO:
        raise ValueError(
            "-a screenshots=yes takes pictures in a browser, and -a render=no has none"
        )
    return RenderChoice(mode or ALWAYS, screenshots=True)


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


def render_pages(spider: PageSpider, choice: RenderChoice) -> None:
    """Render pages of a spider from now on, where that is wanted.

    Raises:
        ValueError: A setting is bad, or there is nothing to render with.
    """
    if wanted_rendering(spider.crawler.settings, choice) is not None:
        spider.archivist.renderer = PageRendering(spider, choice)


class PageRendering:
    """Shows pages of a spider in a browser.

    With the mode ``always`` all pages with scripts are shown, and with screenshots those without
    too; else those that show nothing as they come, and those of kinds that show more there.

    Raises:
        ValueError: Pictures are wanted, and the crawl has no folder.
    """

    def __init__(self, spider: PageSpider, choice: RenderChoice) -> None:
        self._spider = spider
        self._choice = choice
        self._kinds = None if choice.mode == ALWAYS else RenderKinds(spider.job.database)
        self._pictures: Pictures | None = None
        if choice.screenshots:
            if spider.job.folder is None:
                raise ValueError("-a screenshots=yes needs -s JOBDIR=DIR, which has the pictures")
            self._pictures = Pictures(spider.job.folder)
        self._renderer = renderer_of(
            spider.crawler,
            with_files=choice.screenshots,
            screenshots=choice.screenshots,
            for_disk=choice.for_disk,
        )
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

    def doubts(self, fetched: Fetched, *, is_copy: bool) -> bool:
        """Return whether an answer whose bytes are known may show something else in a browser."""
        if self._kinds is None:
            return self._choice.screenshots or _has_script(fetched.body)
        if not _has_script(fetched.body):
            return False
        kind = self._kinds.kind(self._kinds.name(fetched.canonical_url))
        return kind.may_need_browser or (is_copy and (kind.is_unclear or not kind.copies))

    def must_see(self, row: PageRow) -> bool:
        """Return whether a page is to be sent whole, since a browser may show more of it now."""
        found = codes(row.reason)
        if found & NOT_WHOLE:
            return True
        if self._kinds is None or found & SHOWN:
            return False
        return self._kinds.kind(self._kinds.name(row.canonical_url)).may_need_browser

    async def render(self, fetched: Fetched, reading: Reading) -> Rendered | None:
        """Show an answer in the browser, if it is to be shown; see ``crawler.pages.rendered``."""
        if not self._may_be_shown(fetched, reading):
            return None
        if self._kinds is None or reading.is_app_shell or self._was_shown(fetched):
            return await self._shown(fetched, reading)
        return await self._tried(fetched, reading, self._kinds)

    async def _tried(
        self, fetched: Fetched, reading: Reading, kinds: RenderKinds
    ) -> Rendered | None:
        """Show an answer if one of its kind is to be tried, and note what that gave."""
        name, has_place = kinds.name(fetched.canonical_url), _has_place(fetched.body)
        is_copy = self._is_copy(fetched, reading)
        if not kinds.is_due(name, has_place=has_place, is_copy=is_copy):
            if kinds.kind(name).is_unclear and has_place:
                return await self._apart(fetched, reading, "others of its kind failed there")
            return None
        shown = await self._shown(fetched, reading)
        is_gain = shows_more(reading, shown.reading, self._is_new)
        # A page without a place to fill waits for nothing.
        is_whole = shown.is_whole or not (has_place or kinds.kind(name).may_need_browser)
        kinds.note(name, is_gain=is_gain, is_whole=is_whole)
        if is_gain:
            return shown
        if is_whole:
            return None
        if not shown.is_taken:
            return shown
        lacks = detail_of(shown.reason, Reason.RENDERED_IN_PART) or ""
        return await self._apart(fetched, shown.reading, lacks)

    async def _shown(self, fetched: Fetched, reading: Reading) -> Rendered:
        stats = self._spider.crawler.stats
        headers = (("content-type", fetched.content_type or "text/html"),)
        page = PageToRender(fetched.url, fetched.body, fetched.status, headers, self._cookies)
        self._waiting += 1
        try:
            shown = await self._renderer.render(page)
        except RenderingError as error:
            self._say_once(str(error))
            return await self._apart(fetched, reading, str(error))
        finally:
            self._waiting -= 1
        stats.inc_value("render/pages")
        if shown.failed:
            stats.inc_value("render/failures")
            return await self._apart(fetched, reading, shown.failed)
        await self._keep_picture(fetched, shown.screenshot)
        lacks = what_it_lacks(
            shown.missed, is_shell=reading.is_app_shell, has_place=_has_place(fetched.body)
        )
        answer = replace(fetched, body=shown.body, content_type="text/html; charset=utf-8")
        read = await self._spider.archivist.read(answer, apart=bool(lacks))
        routes = tuple(self._links(fetched.url, shown.routes))
        chosen = choose(reading, read, shown.body, lacks, routes)
        if chosen.is_taken or chosen.is_whole:
            return chosen
        why = detail_of(chosen.reason, Reason.NOT_RENDERED) or ""
        return await self._apart(fetched, chosen.reading, why)

    async def _apart(self, fetched: Fetched, reading: Reading, why: str) -> Rendered:
        """Return a page as it came, told apart from all others, with the links of a reading."""
        apart = reading
        if not reading.is_app_shell:  # which is read so in any case
            apart = await self._spider.archivist.read(fetched, apart=True)
        return not_shown(replace(apart, links=reading.links), why)

    def _may_be_shown(self, fetched: Fetched, reading: Reading) -> bool:
        """Return whether an answer is a whole page, with scripts unless its picture is wanted."""
        is_html = why_not_html(fetched.content_type, fetched.body) is None
        if not (is_html and reading.is_page) or fetched.is_cut or fetched.status != HTTPStatus.OK:
            return False
        is_pictured = self._choice.screenshots and self._kinds is None
        return is_pictured or reading.is_app_shell or _has_script(fetched.body)

    async def _keep_picture(self, fetched: Fetched, picture: bytes | None) -> None:
        if self._pictures is None or picture is None:
            return
        try:
            await asyncio.to_thread(self._pictures.put, fetched.key, picture)
        except OSError as error:
            self._say_once(f"no picture is kept: {error.strerror}")

    def _is_copy(self, fetched: Fetched, reading: Reading) -> bool:
        """Return whether another page that is kept says the same as this one, as it came."""
        if reading.visible_digest is None:
            return False
        found = self._spider.job.store.find_visible(reading.visible_digest)
        return found is not None and found.key != fetched.key

    def _was_shown(self, fetched: Fetched) -> bool:
        """Return whether the last capture of a page is what the browser showed of it."""
        if self._spider.job.visits.number == 1:
            return False
        previous = self._spider.job.store.previous(fetched.key)
        return previous is not None and bool(codes(previous.reason) & SHOWN)

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
            logger.error("rendering: %s", failure)


def what_it_lacks(missed: Iterable[str], *, is_shell: bool, has_place: bool) -> tuple[str, ...]:
    """Return what a document lacks that may be what tells its page from others.

    Args:
        missed: What the browser could not have.
        is_shell: Whether the page showed nothing as it came. Whatever it missed may be its text.
        has_place: Whether it has a place to fill. A script of another site, which counts or
            advertises, seldom fills it; and a page without such a place waits for nothing.
    """
    if is_shell:
        return tuple(missed)
    return tuple(each for each in missed if has_place and each != FOREIGN_SCRIPT_FAILED)


def _has_script(body: bytes) -> bool:
    return b"<script" in body.lower()


def _has_place(body: bytes) -> bool:
    return _PLACE.search(body, 0, _MAX_SEARCHED_BYTES) is not None
