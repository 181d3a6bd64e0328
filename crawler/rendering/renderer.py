"""Render pages in a Chromium that has no network of its own, some at a time."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from crawler.rendering.browser import Browser
from crawler.rendering.rendered_pages import (
    CRASH,
    RenderedPage,
    RenderingEndedError,
    RenderingError,
)
from crawler.rendering.tab import PageTab

if TYPE_CHECKING:
    from crawler.rendering.rendered_pages import Fetch, PageToRender, RenderOptions

_WATCH_SECS: Final = 1.0
_FIRST_REST_SECS: Final = 10.0  # doubled at each further start that fails
_MAX_REST_SECS: Final = 600.0
"""Time without a start after one that failed, twice as long each time."""

_GRACE_SECS: Final = 3.0
"""Time of the pages that are in a tab when the crawl ends, most of which are done by then."""

_MEASURED_EVERY: Final = 10
"""Pages after which the memory of a browser is measured."""


class Renderer:
    """Renders pages, some at a time.

    A browser is replaced after a number of pages, above an amount of memory, and when it does not
    answer; pages that are in it by then end there.

    Args:
        options: What rendering may cost.
        fetch: Answers the requests of the pages.
    """

    def __init__(self, options: RenderOptions, fetch: Fetch) -> None:
        self._options = options
        self._fetch = fetch
        self._free = asyncio.Semaphore(options.concurrency)
        self._starting = asyncio.Lock()
        self._browser: Browser | None = None
        self._all: set[Browser] = set()
        self._watch: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[RenderedPage]] = set()
        self._in_tabs: set[asyncio.Task[RenderedPage] | None] = set()
        self._is_closed = self._is_ending = False
        self._failed_starts = 0
        self._rests_until, self._why_it_rests = 0.0, ""
        self.browsers_started = 0

    async def render(self, page: PageToRender) -> RenderedPage:
        """Render a page within its time; a page that fails has a result with ``failed``.

        Raises:
            NoBrowserError: The browser has ended, and another one does not start.
            RenderingError: The renderer is closed.
            RenderingEndedError: ``end`` was called, and the page was not done in time.
        """
        if self._is_ending:
            raise RenderingEndedError
        task = asyncio.ensure_future(self._render(page))
        self._tasks.add(task)
        try:
            return await task
        except asyncio.CancelledError:
            if not task.cancelled() or not (self._is_closed or self._is_ending):
                raise
        finally:
            self._tasks.discard(task)
        if self._is_ending:
            raise RenderingEndedError
        return RenderedPage(page.url, b"", failed=CRASH)

    async def _render(self, page: PageToRender) -> RenderedPage:
        async with self._free:
            browser, task = await self._take(), asyncio.current_task()
            self._in_tabs.add(task)
            try:
                return await PageTab(browser, self._options, self._fetch, page).render()
            finally:
                self._in_tabs.discard(task)
                browser.active -= 1
                await self._leave(browser)

    async def end(self) -> None:
        """End the pages that wait for a tab, and soon those in one; none is rendered any more."""
        self._is_ending = True
        for task in self._tasks - self._in_tabs:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=_GRACE_SECS)
        for task in self._tasks:
            task.cancel()

    async def close(self) -> None:
        """End all browsers; pages that are being rendered fail."""
        self._is_closed = True
        if self._watch is not None:
            self._watch.cancel()
        for task in list(self._tasks):
            task.cancel()
        async with self._starting:
            self._browser = None
            await asyncio.gather(*map(self._end, list(self._all)), return_exceptions=True)

    async def _take(self) -> Browser:
        """Return the browser of the next page, a new one where the last has done enough."""
        async with self._starting:
            if self._is_closed:
                raise RenderingError("the renderer is closed")
            if time.monotonic() < self._rests_until:
                raise RenderingError(self._why_it_rests)
            browser = self._browser
            if browser is None or await self._is_spent(browser):
                self._browser = None
                if browser is not None and not browser.active:
                    await self._end(browser)
                browser = self._browser = await self._new_browser()
            browser.active += 1
            browser.pages += 1
            return browser

    async def _is_spent(self, browser: Browser) -> bool:
        if browser.is_broken or browser.pages >= self._options.pages_per_browser:
            return True
        if not browser.pages or browser.pages % _MEASURED_EVERY:
            return False
        return await browser.memory_mb() > self._options.max_browser_mb

    async def _new_browser(self) -> Browser:
        browser = Browser(self._options)
        self._all.add(browser)
        try:
            await browser.start()
        except BaseException as error:
            self._all.discard(browser)
            if isinstance(error, RenderingError):
                self._rest(str(error))
            raise
        self.browsers_started += 1
        self._failed_starts = 0
        if self._watch is None:
            self._watch = asyncio.ensure_future(self._watch_pages())
        return browser

    def _rest(self, why: str) -> None:
        """Start no browser for some time, so that not every page waits for one that does not."""
        rest_secs = min(_FIRST_REST_SECS * 2**self._failed_starts, _MAX_REST_SECS)
        self._failed_starts += 1
        self._rests_until, self._why_it_rests = time.monotonic() + rest_secs, why

    async def _leave(self, browser: Browser) -> None:
        """End a browser with its last page, unless it is to have further ones."""
        if browser is not self._browser and not browser.active and browser in self._all:
            await self._end(browser)

    async def _end(self, browser: Browser) -> None:
        await browser.close()
        self._all.discard(browser)

    async def _watch_pages(self) -> None:
        """End the process of a page that takes all the memory of a browser for itself."""
        while True:
            await asyncio.sleep(_WATCH_SECS)
            for browser in list(self._all):
                if browser.active:
                    with suppress(OSError):
                        await browser.kill_large_page(self._options.max_browser_mb)
