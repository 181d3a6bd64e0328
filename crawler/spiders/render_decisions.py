"""Decide which pages of a crawl are shown in a browser, and take what it shows."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from dataclasses import replace
from http import HTTPStatus
from typing import TYPE_CHECKING

from crawler.job_registry import job_of
from crawler.pages.reasons import NOT_WHOLE, SHOWN, Reason, codes, detail_of
from crawler.pages.rendered import (
    SHOWS_NOTHING,
    Rendered,
    choose,
    leads_on,
    not_shown,
    says_other,
)
from crawler.reading.content_types import has_script, why_not_html
from crawler.reading.link_extraction import resolve
from crawler.reading.link_kinds import PAGES, ROUTE
from crawler.reading.reading import Link
from crawler.reading.wall_signs import says_it_loads
from crawler.rendering.browser import OWN, browser_path
from crawler.rendering.rendered_pages import (
    FOREIGN_SCRIPT_FAILED,
    SCRIPT_ENDED,
    PageToRender,
    Pictures,
    RenderingError,
)
from crawler.spiders.arguments import ALWAYS
from crawler.spiders.page_rendering import (
    browser_cookies,
    render_options,
    renderer_of,
    wanted_rendering,
)
from crawler.storage import meta_names
from crawler.url_rules.render_kinds import RenderKinds

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from scrapy.crawler import Crawler

    from crawler.pages.page_context import Fetched
    from crawler.pages.page_row import PageRow
    from crawler.reading.reading import Reading
    from crawler.rendering.rendered_pages import RenderedPage
    from crawler.spiders.arguments import RenderChoice

logger = logging.getLogger(__name__)

_LOADING = "it says that it loads"

_MAX_KNOWN = 2_000
"""Texts of pages that are remembered, and ways in which each was shown, as digests."""

_SOON = 3
"""Pages that may wait for each tab of the browser before no further one is fetched."""


def render_pages(crawler: Crawler, choice: RenderChoice, cookies: str) -> None:
    """Render pages of a crawl from now on, where that is wanted.

    Args:
        crawler: The crawl.
        choice: Which pages are shown, and what is kept of them.
        cookies: The file of the cookies that the browser has; empty: there is none.

    Raises:
        ValueError: A setting is bad, or there is nothing to render with.
    """
    if wanted_rendering(crawler.settings, choice) is not None:
        job_of(crawler).processor.renderer = PageRendering(crawler, choice, cookies)


class PageRendering:
    """Shows pages of a crawl in a browser.

    With the mode ``always`` all pages with scripts are shown, and with screenshots those without
    too; else those that show nothing as they come, and those of kinds that show more there.

    Raises:
        ValueError: Pictures are wanted, and the crawl has no folder.
    """

    def __init__(self, crawler: Crawler, choice: RenderChoice, cookies: str) -> None:
        self._crawler = crawler
        self._job = job = job_of(crawler)
        self._choice = choice
        self._kinds = None if choice.mode == ALWAYS else RenderKinds(job.database)
        self._pictures: Pictures | None = None
        if choice.screenshots:
            if job.folder is None:
                raise ValueError("-a screenshots=yes needs -s JOBDIR=DIR, which has the pictures")
            self._pictures = Pictures(job.folder)
        options = render_options(crawler.settings)
        job.database.set_meta(meta_names.BROWSER, browser_path(options) or OWN)
        self._renderer = renderer_of(
            crawler,
            with_files=choice.screenshots,
            screenshots=choice.screenshots,
            for_disk=choice.for_disk,
        )
        self._cookies = browser_cookies(cookies)
        self._failure = ""
        self._shown_as: dict[bytes, dict[bytes, bytes]] = {}
        self._most_waiting = _SOON * options.concurrency
        self._waiting = 0
        self._under_way: dict[str, asyncio.Event] = {}  # First tries, by their host and kind.
        self._hanging: set[str] = set()
        """Places whose answers were outstanding when a page was asked once more."""

    @property
    def is_behind(self) -> bool:
        """Whether so many pages wait for the browser that none is to be fetched.

        Each of them is in memory alone, and a crawl that is told to end waits for all of them.
        """
        return self._waiting >= self._most_waiting

    def doubts(self, fetched: Fetched) -> bool:
        """Return whether an answer whose bytes are known may show something else in a browser."""
        if self._kinds is None:
            return self._choice.screenshots or has_script(fetched.body)
        if fetched.may_be_filled:
            return True
        kind = self._kinds[self._kinds.name(fetched.canonical_url)]
        return kind.may_need_browser and has_script(fetched.body)

    def may_differ(self, fetched: Fetched, rendered: Rendered | None, *, is_near: bool) -> bool:
        """Return whether a page that is to be dropped is to be looked at once more before."""
        if rendered is not None:
            return not (is_near or rendered.is_patient)
        is_page = fetched.status == HTTPStatus.OK and fetched.cut is None
        return is_page and fetched.may_be_filled

    async def look_again(self, fetched: Fetched, reading: Reading) -> Rendered:
        """Show a page that is to be dropped, with patience."""
        shown = await self._shown(fetched, reading, is_patient=True)
        if self._is_known(fetched.key, reading, shown):
            # Another page that came with these words shows these: they are copies there too.
            shown = replace(shown, reading=reading, is_taken=False, document=b"", is_copy=True)
        if self._kinds is not None and not reading.is_app_shell:
            is_gain = await self._shows_more(reading, shown.reading)
            name = self._kinds.name(fetched.canonical_url)
            self._kinds.note(name, is_gain=is_gain, is_whole=shown.is_whole)
        return shown

    def _is_known(self, key: bytes, plain: Reading, shown: Rendered) -> bool:
        """Return whether another page that came with these words was shown as this one.

        That the page was shown so is noted.
        """
        digest = shown.reading.visible_digest
        if plain.visible_digest is None or digest is None or plain.is_app_shell:
            return False
        if not (shown.is_whole and shown.is_taken):
            return False
        seen = self._shown_as.pop(plain.visible_digest, {})
        self._shown_as[plain.visible_digest] = seen
        if len(self._shown_as) > _MAX_KNOWN:
            del self._shown_as[next(iter(self._shown_as))]
        if len(seen) < _MAX_KNOWN:
            seen.setdefault(digest, key)
        return seen.get(digest, key) != key

    def must_see(self, row: PageRow) -> bool:
        """Return whether a page is to be sent whole, since a browser may show more of it now."""
        found = codes(row.reason)
        if found & NOT_WHOLE:
            return True
        if found & SHOWN:
            return False
        if self._kinds is None:
            return True
        return self._kinds[self._kinds.name(row.canonical_url)].may_need_browser

    async def render(self, fetched: Fetched, reading: Reading) -> Rendered | None:
        """Show an answer in the browser, if it is to be shown; see ``crawler.pages.rendered``."""
        if not self._may_be_shown(fetched, reading):
            return None
        if self._kinds is None or reading.is_app_shell or self._was_shown(fetched):
            shown = await self._shown(fetched, reading)
            why = detail_of(shown.reason, Reason.NOT_RENDERED)
            if reading.is_app_shell and why == SHOWS_NOTHING:
                return await self._shown(fetched, reading, is_patient=True)
            return shown
        return await self._tried(fetched, reading, self._kinds)

    async def _tried(
        self, fetched: Fetched, reading: Reading, kinds: RenderKinds
    ) -> Rendered | None:
        """Show an answer if one of its kind is to be tried, once its first try came to an end."""
        name, is_to_fill = kinds.name(fetched.canonical_url), fetched.may_be_filled
        host = name.partition("/")[0]
        while under_way := self._under_way.get(host) or self._under_way.get(name):
            self._waiting += 1  # It is in memory alone, too.
            try:
                await under_way.wait()
            finally:
                self._waiting -= 1
        kind = kinds[name]
        firsts = set() if kinds.host(name).tried else {host}
        firsts |= set() if kind.tried else {name}
        if not kinds.is_due(name, has_place=is_to_fill):
            if kind.is_unclear and is_to_fill:
                return await self._apart(fetched, reading, "others of its kind failed there")
            return None
        if is_to_fill and not kind.gained and reading.visible_digest in self._shown_as:
            return await self.look_again(fetched, reading)  # as it is to be where it is dropped
        ended = asyncio.Event()
        self._under_way.update(dict.fromkeys(firsts, ended))
        try:
            return await self._try(fetched, reading, kinds, name)
        finally:
            ended.set()
            for first in firsts:
                del self._under_way[first]

    async def _try(
        self, fetched: Fetched, reading: Reading, kinds: RenderKinds, name: str
    ) -> Rendered | None:
        """Show an answer, and note what that gave; return None where it is no more."""
        shown = await self._shown(fetched, reading)
        is_gain = await self._shows_more(reading, shown.reading)
        # A page without a place to fill waits for nothing.
        may_lack = fetched.may_be_filled or kinds[name].may_need_browser
        is_whole = shown.is_whole or not may_lack
        kinds.note(name, is_gain=is_gain, is_whole=is_whole)
        if is_gain:
            return shown
        if is_whole:
            self._is_known(fetched.key, reading, shown)
            return None
        if not shown.is_taken:
            return shown
        lacks = detail_of(shown.reason, Reason.RENDERED_IN_PART) or ""
        return await self._apart(fetched, shown.reading, lacks)

    async def _shows_more(self, plain: Reading, shown: Reading) -> bool:
        """Return whether a browser showed other words, or a link to a page not met yet."""
        is_other = await asyncio.to_thread(says_other, plain, shown)
        return is_other or leads_on(plain, shown, self._is_new)

    async def _shown(
        self, fetched: Fetched, reading: Reading, *, is_patient: bool = False
    ) -> Rendered:
        stats = self._crawler.stats
        headers = (("content-type", fetched.content_type or "text/html"),)
        page = PageToRender(
            *(fetched.url, fetched.body, fetched.status, headers, self._cookies, is_patient)
        )
        self._waiting += 1
        try:
            shown = await self._rendered(page)
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
        answer = replace(fetched, body=shown.body, content_type="text/html; charset=utf-8")
        lacks = self._lacks(fetched, reading, shown, is_patient=is_patient)
        read = await self._job.processor.read(answer, apart=bool(lacks))
        if is_patient and not lacks and says_it_loads(read.text or ""):
            lacks = (_LOADING,)
            read = await self._job.processor.read(answer, apart=True)
        routes = tuple(self._links(fetched.url, shown.routes))
        chosen = await asyncio.to_thread(choose, reading, read, shown.body, lacks, routes)
        works_on_disk = chosen.is_whole and self._works_on_disk(reading, shown)
        if works_on_disk and not is_patient:
            self._is_known(fetched.key, reading, chosen)  # copies are told by what it shows
            plain = replace(reading, links=chosen.reading.links)
            chosen = replace(chosen, reading=plain, is_taken=False, document=b"")
        if chosen.is_taken or chosen.is_whole:
            return replace(chosen, is_patient=is_patient, works_on_disk=works_on_disk)
        why = detail_of(chosen.reason, Reason.NOT_RENDERED) or ""
        return await self._apart(fetched, chosen.reading, why)

    def _works_on_disk(self, reading: Reading, shown: RenderedPage) -> bool:
        """Return whether a mirror is to have a page as it came, unless the user says otherwise.

        Its scripts fill it from what they bring along, as the search of a manual: they do the same
        where the page is opened from the disk, and show more than a document without them.
        """
        is_default = self._choice.for_disk and not self._choice.mode
        has_data = any(each.is_data for each in shown.subrequests)
        return is_default and not reading.is_app_shell and not has_data

    async def _rendered(self, page: PageToRender) -> RenderedPage:
        """Render a page, and once more where answers were outstanding that are not so always."""
        shown = await self._renderer.render(page)
        if not _places(shown) - self._hanging or len(self._hanging) >= _MAX_KNOWN:
            return shown
        again = await self._renderer.render(page)
        self._hanging |= _places(again)
        return max(shown, again, key=lambda each: (not each.unanswered, len(each.body)))

    def _lacks(
        self, fetched: Fetched, reading: Reading, shown: RenderedPage, *, is_patient: bool
    ) -> tuple[str, ...]:
        """Return what a document lacks that may be what tells its page from others.

        Whatever is missing may be all that tells a page apart which showed nothing as it came, is
        to be dropped, or was shown before. Of others a script of another site, which counts or
        advertises, seldom fills a page; and a page without a place to fill waits for nothing.
        """
        missed = [each for each in shown.missed if is_patient or each != SCRIPT_ENDED]
        if reading.is_app_shell or is_patient or self._was_shown(fetched):
            return tuple(missed)
        is_to_fill = fetched.may_be_filled
        return tuple(each for each in missed if is_to_fill and each != FOREIGN_SCRIPT_FAILED)

    async def _apart(self, fetched: Fetched, reading: Reading, why: str) -> Rendered:
        """Return a page as it came, told apart from all others, with the links of a reading."""
        apart = reading
        if not reading.is_app_shell:  # which is read so in any case
            apart = await self._job.processor.read(fetched, apart=True)
        return not_shown(replace(apart, links=reading.links), why)

    def _may_be_shown(self, fetched: Fetched, reading: Reading) -> bool:
        """Return whether an answer is a whole page, with scripts unless its picture is wanted."""
        is_html = why_not_html(fetched.content_type, fetched.body) is None
        is_whole = fetched.cut is None and fetched.status == HTTPStatus.OK
        if not (is_html and reading.is_page and is_whole):
            return False
        is_pictured = self._choice.screenshots and self._kinds is None
        return is_pictured or reading.is_app_shell or has_script(fetched.body)

    async def _keep_picture(self, fetched: Fetched, picture: bytes | None) -> None:
        if self._pictures is None or picture is None:
            return
        try:
            await asyncio.to_thread(self._pictures.put, fetched.key, picture)
        except OSError as error:
            self._say_once(f"no picture is kept: {error.strerror}")
        else:
            self._job.callbacks.pictured(fetched.url, picture)

    def _was_shown(self, fetched: Fetched) -> bool:
        """Return whether the browser showed the last capture of a page, or was to show it."""
        if self._job.visits.number == 1:
            return False
        previous = self._job.store.previous(fetched.key)
        return previous is not None and bool(codes(previous.reason) & (SHOWN | NOT_WHOLE))

    def _is_new(self, link: Link) -> bool:
        """Return whether a link leads to a page within the scope that was not met yet."""
        job = self._job
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
                    key = self._job.canonicalizer.key(whole)
                    yield Link(whole, key, nofollow=False, kind=ROUTE)

    def _say_once(self, failure: str) -> None:
        if failure != self._failure:
            self._failure = failure
            logger.error("rendering: %s", failure)


def _places(page: RenderedPage) -> set[str]:
    """Return the folders of the requests that waited for their answers when a page was read."""
    return {url.partition("?")[0].rpartition("/")[0] for url in page.unanswered}
