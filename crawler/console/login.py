"""Run ``--login``: a window in which the person logs in, and the cookies of that for a crawl."""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from crawler.console.escaping import say
from crawler.console.options import CommandError
from crawler.downloading.cookies import netscape_cookie, write_cookies
from crawler.rendering.browser import browser_path
from crawler.rendering.login import has_display, log_in
from crawler.spiders.page_rendering import render_options
from crawler.urls.seeds import host_folder
from neardup.plurals import many

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterable, Iterator, Mapping
    from http.cookiejar import Cookie

    from scrapy.settings import BaseSettings

_NO_DISPLAY = (
    "--login opens a window, and this machine has no display (DISPLAY is not set); log in with the "
    "browser of another one, export its cookies as a Netscape file, and give --cookies FILE"
)


@contextmanager
def login_cookies(url: str, settings: BaseSettings) -> Iterator[str]:
    """Yield the path of a cookie file of a person who logs in first.

    It is removed after the block; the profile of the browser stays, one for each host.

    Raises:
        CommandError: There is no display, or no cookie.
        NoBrowserError: There is no browser.
    """
    if not has_display():
        raise CommandError(_NO_DISPLAY)
    profile = _profiles() / host_folder(url)
    with TemporaryDirectory(prefix="crawl-once-") as place:
        path = browser_path(render_options(settings), with_windows=True)
        say(
            f"log in, in the window that opens at {url}; then close it, or press Enter here",
            flush=True,
        )
        cookies = _run(_logged_in(url, profile, path))
        file = Path(place) / "cookies.txt"
        count = write_cookies(file, given_cookies(cookies))
        if not count:
            raise CommandError(f"--login: the browser holds no cookie of a login at {url}")
        say(f"{many(count, 'cookie')} from the browser; its profile is {profile}", flush=True)
        yield str(file)


def _run(login: Coroutine[Any, Any, list[Mapping[str, Any]]]) -> list[Mapping[str, Any]]:
    """Run a coroutine in a loop of its own; that of the thread is Scrapy's, and is left alone."""
    loop = asyncio.new_event_loop()
    task = loop.create_task(login)
    try:
        return loop.run_until_complete(task)
    except KeyboardInterrupt:
        task.cancel()
        with suppress(asyncio.CancelledError):
            loop.run_until_complete(task)
        raise
    finally:
        loop.close()


async def _logged_in(url: str, profile: Path, path: str | None) -> list[Mapping[str, Any]]:
    loop = asyncio.get_running_loop()
    entered = asyncio.Event()
    is_terminal = sys.stdin is not None and sys.stdin.isatty()
    if is_terminal:
        loop.add_reader(sys.stdin.fileno(), _note_line, entered)
    try:
        return await log_in(url, profile, path, entered.wait())
    finally:
        if is_terminal:
            loop.remove_reader(sys.stdin.fileno())


def _note_line(entered: asyncio.Event) -> None:
    sys.stdin.readline()
    entered.set()


def _profiles() -> Path:
    """Return the folder of the browser's profiles, as the XDG base directories have it."""
    base = os.environ.get("XDG_DATA_HOME", "")
    home = Path(base) if os.path.isabs(base) else Path.home() / ".local" / "share"
    return home / "crawl-once" / "browser"


def given_cookies(cookies: Iterable[Mapping[str, Any]]) -> Iterator[Cookie]:
    """Yield cookies of Playwright as a Netscape file has them."""
    for cookie in cookies:
        domain = str(cookie["domain"])
        if "." not in domain:
            domain += ".local"  # as http.cookiejar has a name without a full stop
        yield netscape_cookie(
            cookie["name"],
            cookie["value"],
            domain,
            cookie["path"],
            int(cookie["expires"]) if cookie["expires"] > 0 else None,
            is_secure=cookie["secure"],
            is_http_only=cookie["httpOnly"],
        )
