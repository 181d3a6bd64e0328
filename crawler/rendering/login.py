"""Let a person log in, in a visible Chromium, and take the cookies of that."""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from crawler.rendering.rendered_pages import NoBrowserError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Mapping
    from pathlib import Path

_LOOK_SECS = 0.5
"""Read the cookies at this interval, in seconds: those of a closed window cannot be read."""

_DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY")


def has_display() -> bool:
    """Return whether a window can be opened, as far as the environment tells."""
    if not sys.platform.startswith("linux"):
        return True
    return any(os.environ.get(name) for name in _DISPLAYS)


async def log_in(
    url: str, profile: Path, browser_path: str | None, done: Awaitable[object]
) -> list[Mapping[str, Any]]:
    """Open a URL in a window, and return the cookies when the person is done.

    Files:
        profile: folder of the browser's profile, for the owner alone; it is made where it is
            missing, and keeps the person logged in from one time to the next.

    Args:
        url: URL that is opened.
        profile: Folder of the profile.
        browser_path: Path of the browser; None for Playwright's own.
        done: Ends when the person says so; the end of the window is the same.

    Raises:
        NoBrowserError: The browser does not start.
    """
    from playwright.async_api import Error, async_playwright  # noqa: PLC0415  # an extra

    profile.mkdir(mode=0o700, parents=True, exist_ok=True)
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    async with async_playwright() as playwright:
        try:
            context = await playwright.chromium.launch_persistent_context(
                profile,
                headless=False,
                executable_path=browser_path,
                chromium_sandbox=not is_root,  # root has no sandbox in Chromium
                no_viewport=True,
                # The command is told of Ctrl-C, and ends the browser.
                handle_sigint=False,
            )
        except Error as error:
            raise NoBrowserError(_why(error)) from None
        closed = asyncio.Event()
        context.on("close", lambda *_: closed.set())
        ends = [asyncio.ensure_future(done), asyncio.ensure_future(closed.wait())]
        cookies: list[Mapping[str, Any]] = []
        try:
            page = context.pages[0] if context.pages else await context.new_page()
            with suppress(Error):  # the page says what is wrong with it, or the window is closed
                await page.goto(url, wait_until="commit")
            with suppress(Error):  # the window is closed, and the last cookies count
                while True:
                    cookies = list(await context.cookies())
                    if any(end.done() for end in ends) or not context.pages:
                        break
                    await asyncio.wait(
                        ends, timeout=_LOOK_SECS, return_when=asyncio.FIRST_COMPLETED
                    )
        finally:
            for end in ends:
                end.cancel()
            with suppress(Error):
                await context.close()
    return cookies


def _why(error: Exception) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    if any("ProcessSingleton" in line or "SingletonLock" in line for line in lines):
        return "the browser of an earlier --login is still open; close it first"
    return f"the browser does not start: {lines[0]}"
