"""Find Chromium, start it, and replace it when it is old or large."""

from __future__ import annotations

import asyncio
import importlib.util
import logging
import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from crawler.rendering.options import RenderError

if TYPE_CHECKING:
    from crawler.rendering.options import RenderOptions

logger = logging.getLogger(__name__)

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_ARGUMENTS: Final = (
    # No name is resolved and no address reached, whatever a page finds to ask by.
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--proxy-server=http://127.0.0.1:9",
    "--proxy-bypass-list=<-loopback>",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-sync",
    "--no-first-run",
    "--no-pings",
    "--mute-audio",
    "--disable-gpu",
    "--disable-dev-shm-usage",
)
CLOSE_SECS = 5.0
_LOOK_AT_MEMORY_EACH = 10
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


def has_playwright() -> bool:
    """Return whether the extra ``render`` is installed."""
    return importlib.util.find_spec("playwright") is not None


def find_browser(path: str = "") -> str:
    """Return the path of Chromium, empty where Playwright is to start its own.

    Args:
        path: Path or name that the user gave; empty looks for one.

    Raises:
        RenderError: Playwright is not installed, or there is no such browser.
    """
    if not has_playwright():
        raise RenderError("pages are rendered by Playwright: pip install 'crawl-once[render]'")
    if path:
        found = shutil.which(path)
        if found is None:
            raise RenderError(f"CRAWL_RENDER_BROWSER: there is no program {path}")
        return found
    found = next(filter(None, map(shutil.which, _NAMES)), None)
    if found is not None:
        return found
    cache = Path(os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or "~/.cache/ms-playwright")
    if any(cache.expanduser().glob("chromium*")):
        return ""
    raise RenderError(
        "no Chromium to render pages with: install chromium, run playwright install chromium, or "
        "name one by CRAWL_RENDER_BROWSER"
    )


class Browser:
    """A running Chromium."""

    def __init__(self, started: Any, processes: Any) -> None:
        self.started = started
        self._processes = processes
        self.pages = 0
        self.open_pages = 0
        self.is_retired = False

    async def held_mb(self) -> float:
        """Return the memory of its processes, shared pages counted once each; 0 if unknown."""
        found = await self._processes.send("SystemInfo.getProcessInfo")
        return sum(_held_mb(process["id"]) for process in found["processInfo"])

    async def close(self) -> None:
        """End it; after ``CLOSE_SECS`` it is left to its driver, which kills it at the end."""
        with suppress(Exception):
            await asyncio.wait_for(self.started.close(), CLOSE_SECS)


def _held_mb(process: int) -> float:
    try:
        _, resident, shared = Path(f"/proc/{process}/statm").read_text().split()[:3]
    except (OSError, ValueError):  # it has ended, or this is no Linux
        return 0.0
    return (int(resident) - int(shared)) * _PAGE_BYTES / 1e6


class Browsers:
    """Hands out one running browser, and another one when it is old, large or gone.

    Pages that are under way end in the browser that they began in.
    """

    def __init__(self, options: RenderOptions) -> None:
        self._options = options
        self._path = find_browser(options.browser)
        self._playwright: Any = None
        self._current: Browser | None = None
        self._retired: list[Browser] = []
        self._starting = asyncio.Lock()
        self.replaced = 0

    async def take(self) -> Browser:
        """Return a browser for one more page; give it back with ``give_back``.

        Raises:
            RenderError: It does not start.
        """
        async with self._starting:
            browser = self._current
            if browser is not None and not browser.started.is_connected():
                await self._retire(browser)
                browser = None
            if browser is None:
                browser = self._current = await self._start()
            browser.pages += 1
            browser.open_pages += 1
            return browser

    async def give_back(self, browser: Browser, *, is_broken: bool = False) -> None:
        """Give a browser back after a page; it is replaced where it is not good any more."""
        browser.open_pages -= 1
        is_old = browser.pages >= self._options.max_pages
        if not is_old and not is_broken and browser.pages % _LOOK_AT_MEMORY_EACH == 0:
            with suppress(Exception):  # it is gone, which the next page will see
                held = await asyncio.wait_for(browser.held_mb(), CLOSE_SECS)
                is_old = held > self._options.max_mb
        if is_old or is_broken:
            await self._retire(browser)
        if browser.is_retired and not browser.open_pages and browser in self._retired:
            self._retired.remove(browser)
            await browser.close()

    async def _retire(self, browser: Browser) -> None:
        if browser.is_retired:
            return
        browser.is_retired = True
        self.replaced += 1
        if self._current is browser:
            self._current = None
        self._retired.append(browser)

    async def _start(self) -> Browser:
        from playwright.async_api import Error, async_playwright  # noqa: PLC0415  # the extra

        try:
            if self._playwright is None:
                self._playwright = await async_playwright().start()
            started = await self._playwright.chromium.launch(
                executable_path=self._path or None,
                args=list(_ARGUMENTS),
                # root has no sandbox to put it into.
                chromium_sandbox=not hasattr(os, "geteuid") or os.geteuid() != 0,
                handle_sigint=False,
                handle_sigterm=False,
                handle_sighup=False,
            )
            return Browser(started, await started.new_browser_cdp_session())
        except (Error, OSError) as error:
            name = self._path or "Playwright's Chromium"
            said = str(error).strip().splitlines()
            raise RenderError(f"{name} does not start: {said[0] if said else error!r}") from None

    async def close(self) -> None:
        """End all browsers and their driver."""
        left = [*self._retired, *filter(None, [self._current])]
        self._retired, self._current = [], None
        for browser in left:
            await browser.close()
        if self._playwright is not None:
            with suppress(Exception):
                await asyncio.wait_for(self._playwright.stop(), CLOSE_SECS)
            self._playwright = None
