"""Render a page: load it, do with it what was asked for, and take its document."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from importlib import resources
from typing import TYPE_CHECKING, Any
from urllib.parse import urldefrag

from playwright.async_api import Error

from crawler.rendering.browser import CLOSE_SECS, Browsers
from crawler.rendering.network import PageNetwork
from crawler.rendering.options import Behaviour, RenderedPage

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from crawler.rendering.browser import Browser
    from crawler.rendering.options import Fetch, PageToRender, RenderOptions

logger = logging.getLogger(__name__)

_MAX_ROUNDS = 20
_VIEWPORT = {"width": 1280, "height": 2000}
_MAX_HTML_CHARACTERS = 33_554_432


def _script(name: str) -> str:
    return (resources.files(__package__) / "scripts" / f"{name}.js").read_text("utf-8")


class Renderer:
    """Renders pages in tabs of their own, a few at a time, without cookies or storage in common.

    Args:
        options: How pages are rendered.
        fetch: Fetches what pages request.

    Raises:
        RenderError: There is nothing to render with.
    """

    def __init__(self, options: RenderOptions, fetch: Fetch) -> None:
        self._options = options
        self._fetch = fetch
        self._browsers = Browsers(options)
        self._tabs = asyncio.Semaphore(options.concurrency)
        self._scripts = {name: _script(name) for name in ("history", "document", "click_routes")}
        self._scripts |= {name: _script(name) for name in (Behaviour.SCROLL, Behaviour.OPEN)}

    @property
    def replaced(self) -> int:
        """Number of browsers that were replaced."""
        return self._browsers.replaced

    async def render(self, page: PageToRender) -> RenderedPage:
        """Render one page.

        Returns:
            What became of it; its ``failure`` says why there is no document.

        Raises:
            RenderError: The browser does not start.
        """
        async with self._tabs:
            result = RenderedPage()
            browser = await self._browsers.take()
            is_broken = False
            try:
                is_broken = await self._render(browser, page, result)
            finally:
                await asyncio.shield(self._browsers.give_back(browser, is_broken=is_broken))
            return result

    async def _render(self, browser: Browser, page: PageToRender, result: RenderedPage) -> bool:
        """Fill in the result; return whether the browser is not to be used again."""
        context: Any = None
        try:
            context = await asyncio.wait_for(self._context(browser), CLOSE_SECS * 2)
            await self._load(context, page, result)
        except TimeoutError:
            result.failure = result.failure or "it took too long"
        except Error as error:
            said = str(error).strip().splitlines()
            result.failure = result.failure or (said[0] if said else "the browser failed")
        if context is None:
            return True
        try:
            await asyncio.wait_for(context.close(), CLOSE_SECS)
        except (TimeoutError, Error):
            return True
        return False

    async def _context(self, browser: Browser) -> Any:
        context = await browser.started.new_context(
            user_agent=self._options.user_agent or None,
            viewport=_VIEWPORT,
            service_workers="block",
            accept_downloads=False,
            bypass_csp=True,
        )
        await context.add_init_script(self._scripts["history"])
        return context

    async def _load(self, context: Any, page: PageToRender, result: RenderedPage) -> None:
        network = PageNetwork(page, self._fetch, self._options, result)
        await context.route("**/*", network.answer)
        await context.route_web_socket("**/*", _refuse_socket)
        tab = await context.new_page()
        running: set[asyncio.Task[None]] = set()

        def start(work: Coroutine[Any, Any, None]) -> None:
            task = asyncio.ensure_future(_quietly(work))
            running.add(task)
            task.add_done_callback(running.discard)

        crashed = asyncio.get_running_loop().create_future()

        def crash(_: Any) -> None:
            if not crashed.done():
                crashed.set_result(None)

        tab.on("dialog", lambda dialog: start(dialog.dismiss()))
        tab.on("popup", lambda popup: start(popup.close()))
        tab.on("crash", crash)
        taking = asyncio.ensure_future(self._take(tab, page, network, result))
        try:
            await asyncio.wait({taking, crashed}, return_when=asyncio.FIRST_COMPLETED)
            if crashed.done():
                result.html, result.failure = None, "its tab crashed"
            else:
                await taking
        finally:
            taking.cancel()
            await asyncio.wait({taking})
            for task in running:
                task.cancel()

    async def _take(
        self, tab: Any, page: PageToRender, network: PageNetwork, result: RenderedPage
    ) -> None:
        try:
            async with asyncio.timeout(self._options.secs):
                milliseconds = self._options.secs * 1000
                await tab.goto(page.url, wait_until="domcontentloaded", timeout=milliseconds)
                await network.quiet()
                if self._options.wait_for:
                    await self._wait_for(tab, result)
                await self._behave(tab, network)
        except TimeoutError:
            # It never rests, or hangs: what it shows is taken where it still answers.
            result.missed.append(f"still loading after {self._options.secs:g} s")
        async with asyncio.timeout(CLOSE_SECS):
            first = urldefrag(page.url).url
            html = await tab.evaluate(self._scripts["document"], first)
            if len(html) > _MAX_HTML_CHARACTERS:
                result.failure = "its document is too large"
                return
            result.html = html.encode("utf-8", "replace")
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_SECS):
                if Behaviour.ROUTES in self._options.behaviours:
                    await tab.evaluate(self._scripts["click_routes"])
                for url in await tab.evaluate("() => [...window.__routes]"):
                    network.note_route(url)

    async def _wait_for(self, tab: Any, result: RenderedPage) -> None:
        try:
            await tab.wait_for_selector(
                self._options.wait_for, state="attached", timeout=self._options.secs * 1000
            )
        except Error as error:
            raise TimeoutError if "Timeout" in str(error) else error from None

    async def _behave(self, tab: Any, network: PageNetwork) -> None:
        for behaviour in self._options.behaviours:
            before: Any = None
            for _ in range(_MAX_ROUNDS if behaviour in self._scripts else 0):
                found = await tab.evaluate(self._scripts[behaviour])
                if found in {before, 0}:
                    break
                before = found if behaviour is Behaviour.SCROLL else None
                await network.quiet()

    async def close(self) -> None:
        """End the browser; pages that are under way fail."""
        await self._browsers.close()


async def _quietly(work: Coroutine[Any, Any, None]) -> None:
    with suppress(Exception):  # the tab is gone
        await work


async def _refuse_socket(socket: Any) -> None:
    await socket.close(code=1008, reason="refused")
