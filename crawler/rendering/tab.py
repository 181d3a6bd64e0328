"""Lead one page through a browser: hand it over, wait, let it open what is closed, read its DOM."""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import time
from contextlib import suppress
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from crawler.rendering.rendered_pages import (
    CRASH,
    SCRIPT_ENDED,
    STILL_OPEN,
    TIME,
    TOO_MANY_BYTES,
    RenderedPage,
)
from crawler.rendering.traffic import Traffic

if TYPE_CHECKING:
    from collections.abc import Awaitable, Sequence

    from crawler.rendering.browser import Browser
    from crawler.rendering.rendered_pages import Cookie, Fetch, PageToRender, RenderOptions

logger = logging.getLogger(__name__)

_QUIET_SECS: Final = 0.4
_DOM_QUIET_MS: Final = 150
"""A page is done when its network, and its DOM, have been quiet for these."""

_PATIENT_SECS: Final = 3.0
"""Wait until the network of a page is quiet for this many seconds."""

_MAX_DOM_SECS: Final = 2.0
"""A DOM that never rests, as with a clock, is waited for no longer after the network is quiet."""

_MAX_TIMER_SECS: Final = 5.0
_MAX_GROWTH_SECS: Final = 10.0
"""Tasks and timers below a second are waited for no longer after the network is quiet and no text
is added, which counts for the second of these at most: some pages set such timers for ever."""

_MIN_LOOKS: Final = 20
"""Ask a page this often for its work before a bound counts: it may have been given no time."""

_LOOK_SECS: Final = 0.05
_READ_SECS: Final = 5.0  # what is there is read, although the page's time is over
_END_SECS: Final = 3.0  # then the browser counts as broken
_MAX_SCROLLS: Final = 50
_MAX_CLICKS: Final = 20
_SCREENSHOT_PIXELS: Final = 8_000


class CrashError(Exception):
    """The process of a page has ended."""


class DomTooLargeError(Exception):
    """The DOM of a page is larger than it may be."""


@cache
def script(name: str) -> str:
    """Return the text of a script of ours."""
    return files("crawler.rendering").joinpath("scripts", f"{name}.js").read_text("utf-8")


class PageTab:
    """One page in a context of its own, which ends with it."""

    def __init__(
        self, browser: Browser, options: RenderOptions, fetch: Fetch, page: PageToRender
    ) -> None:
        self._browser = browser
        self._options = options
        self._to_render = page
        self._traffic = Traffic(page, options, fetch)
        self._crashed = asyncio.get_running_loop().create_future()
        self._ends_at = time.monotonic() + options.page_secs
        self._context: Any = None
        self._page: Any = None
        self._cdp: Any = None
        self._world = 0
        self._missed: tuple[str, ...] = ()
        self._unanswered: tuple[str, ...] = ()
        self._asides: set[asyncio.Future[Any]] = set()

    async def render(self) -> RenderedPage:
        """Render the page; one that fails says why."""
        begun = time.monotonic()
        body, picture, failed = b"", None, ""
        try:
            body, picture = await self._unless_crashed(self._render())
        except TimeoutError:
            failed = TIME
        except CrashError:
            failed = CRASH
        except DomTooLargeError:
            failed = TOO_MANY_BYTES
        except Exception as error:  # whatever Playwright raises
            lines = str(error).strip().splitlines()
            failed = CRASH if self._browser.is_broken else (lines[:1] or ["unknown"])[0]
        finally:
            await self._end()
        traffic = self._traffic
        return RenderedPage(
            url=self._to_render.url,
            body=body,
            routes=tuple(traffic.routes),
            missed=tuple(traffic.missed) if failed else self._missed,
            failed=failed,
            subrequests=tuple(traffic.subrequests),
            unanswered=self._unanswered if body else tuple(traffic.unanswered.values()),
            screenshot=picture,
            secs=time.monotonic() - begun,
        )

    async def _unless_crashed(self, rendering: Awaitable[Any]) -> Any:
        """Await the result, but no longer than the page may take and its process lives."""
        task = asyncio.ensure_future(rendering)
        # Reading what is there, once the time is over, has a time of its own.
        secs = self._options.page_secs + 2 * _READ_SECS
        try:
            await asyncio.wait(
                {task, self._crashed}, timeout=secs, return_when=asyncio.FIRST_COMPLETED
            )
            if task.done():
                return task.result()
            if self._crashed.done():
                raise CrashError
            raise TimeoutError
        finally:
            task.cancel()
            with suppress(BaseException):
                await task

    async def _render(self) -> tuple[bytes, bytes | None]:
        await self._open()
        await self._hand_over()
        await self._wait_until_idle()
        await self._wait_for_selector()
        if "scroll" in self._options.behaviours or self._to_render.is_patient:
            await self._scroll()
        unanswered = tuple(self._traffic.unanswered.values())
        if unanswered:
            self._traffic.missed[STILL_OPEN] = None
        self._traffic.is_loading = False
        html = await self._click() if "click" in self._options.behaviours else await self._html()
        self._missed = tuple(self._traffic.missed)
        self._unanswered = unanswered
        picture = await self._picture() if self._options.screenshots else None
        if "routes" in self._options.behaviours and not self._is_over:
            await self._collect_routes()
        return html, picture

    async def _collect_routes(self) -> None:
        """Note where elements lead that are no links; the page may change by that."""
        urls, clicked = await self._call(f"({script('routes')})()")
        for url in urls:
            self._traffic.note_route(url)
        if clicked:
            await self._wait_until_idle(2.0)

    async def _open(self) -> None:
        options = self._options
        width, height = options.viewport
        self._context = await self._in_time(
            self._browser.new_context(
                viewport={"width": width, "height": height},
                user_agent=options.user_agent or None,
                locale=options.language,
                accept_downloads=False,
                service_workers="block",
                reduced_motion="reduce",
            )
        )
        await self._in_time(self._context.add_init_script(script("quiet")))
        await self._add_cookies()
        self._page = await self._in_time(self._context.new_page())
        self._traffic.main_frame = self._page.main_frame
        self._context.on("page", lambda other: self._aside(other.close()))
        self._page.on("dialog", lambda dialog: self._aside(dialog.dismiss()))
        self._page.on("download", lambda download: self._aside(download.cancel()))
        self._page.on("crash", self._note_crash)
        self._page.on("websocket", self._note_websocket)
        self._page.on("requestfailed", self._note_failed_request)
        self._page.on("pageerror", self._note_error)
        self._page.on("framenavigated", self._note_navigation)
        await self._in_time(self._context.route("**/*", self._traffic.answer))
        self._cdp = await self._in_time(self._context.new_cdp_session(self._page))
        self._cdp.on("Network.requestWillBeSent", self._traffic.note_begun)
        for event in ("Network.loadingFinished", "Network.loadingFailed"):
            self._cdp.on(event, self._traffic.note_ended)
        await self._in_time(self._cdp.send("Network.enable"))

    async def _add_cookies(self) -> None:
        """Add all cookies, or where the browser refuses one of them, all others."""
        refused = self._browser.refused_cookies
        cookies = [each for each in self._to_render.cookies if each not in refused]
        if not cookies or await self._takes(cookies):
            return
        for cookie in cookies:
            if not await self._takes([cookie]):
                refused.add(cookie)  # its value is a secret
                logger.warning(
                    "the browser does not take the cookie %s of %s", cookie.name, cookie.domain
                )

    async def _takes(self, cookies: Sequence[Cookie]) -> bool:
        """Add cookies, all or none; return whether the browser takes them."""
        try:
            await self._in_time(self._context.add_cookies(list(map(_for_playwright, cookies))))
        except TimeoutError:
            raise
        except Exception:  # whatever Playwright raises
            return False
        return True

    def _aside(self, doing: Awaitable[Any]) -> None:
        task = asyncio.ensure_future(_quietly(doing))
        self._asides.add(task)
        task.add_done_callback(self._asides.discard)

    def _note_crash(self, *_: Any) -> None:
        if not self._crashed.done():
            self._crashed.set_result(None)

    def _note_websocket(self, socket: Any) -> None:
        self._traffic.note_failed(socket.url, "websocket")

    def _note_failed_request(self, request: Any) -> None:
        # One that the page gave up: the crawl may be slower than a reader's browser. A script that
        # was answered by a page of HTML "fails" too.
        if request.resource_type in {"fetch", "xhr"}:
            self._traffic.note_failed(request.url, request.resource_type)

    def _note_error(self, *_: Any) -> None:
        if self._traffic.is_loading:
            self._traffic.missed[SCRIPT_ENDED] = None

    def _note_navigation(self, frame: Any) -> None:
        if frame == self._traffic.main_frame:
            self._traffic.note_route(frame.url)

    async def _hand_over(self) -> None:
        """Load the document; raise TimeoutError where its scripts do not come to an end."""
        url = self._to_render.url
        await self._in_time(self._page.goto(url, wait_until="commit", timeout=0))
        tree = await self._in_time(self._cdp.send("Page.getFrameTree"))
        world = {"frameId": tree["frameTree"]["frame"]["id"], "worldName": "crawler"}
        made = await self._in_time(self._cdp.send("Page.createIsolatedWorld", world))
        self._world = made["executionContextId"]
        await self._call(script("changes"))
        # Playwright's own notion of loading does not end where a script tried to leave the page.
        while not self._is_over and await self._call("document.readyState") == "loading":
            await asyncio.sleep(_LOOK_SECS)

    async def _wait_until_idle(self, max_secs: float = 3600.0) -> None:
        """Wait until the page has no work left, or the time is over."""
        traffic = self._traffic
        ends_at = min(self._ends_at, time.monotonic() + max_secs)
        quiet_secs = _PATIENT_SECS if self._to_render.is_patient else _QUIET_SECS
        quiet_since, looks = 0.0, 0
        while not traffic.flooded.is_set():
            now = time.monotonic()
            if now >= ends_at:
                if now >= self._ends_at:
                    traffic.missed[TIME] = None
                return
            if traffic.quiet_secs < quiet_secs:
                looks = 0
            else:
                quiet_since = quiet_since if looks else now
                looks += 1
                work = await self._call("pendingWork()")
                # Requests that the page has begun by then were told of before it answered.
                if traffic.quiet_secs >= quiet_secs and _is_done(work, now - quiet_since, looks):
                    return
            await asyncio.sleep(_LOOK_SECS)

    async def _wait_for_selector(self) -> None:
        selector = self._options.wait_for
        if not selector or self._traffic.flooded.is_set():
            return
        looked = f"document.querySelector({json.dumps(selector)}) !== null"
        while not await self._call(looked):
            if time.monotonic() >= self._ends_at:
                self._traffic.missed[TIME] = None
                return
            await asyncio.sleep(_LOOK_SECS)
        await self._wait_until_idle()

    async def _scroll(self) -> None:
        before: list[Any] = []
        for _ in range(_MAX_SCROLLS):
            if self._is_over:
                return
            now = await self._call(f"({script('scroll')})()")
            await self._wait_until_idle(2.0)
            if now[1] and now == before and not self._traffic.unanswered:
                return
            before = now

    async def _click(self) -> bytes:
        """Open what can be opened; return the DOM before a click that left the page's URL."""
        html = await self._html()
        for _ in range(_MAX_CLICKS):
            if self._is_over or not await self._call(f"({script('click')})()"):
                break
            await self._wait_until_idle(2.0)
            if self._page.url.partition("#")[0] != self._to_render.url.partition("#")[0]:
                break
            html = await self._html()
        return html

    @property
    def _is_over(self) -> bool:
        return self._traffic.flooded.is_set() or time.monotonic() >= self._ends_at

    async def _html(self) -> bytes:
        for_disk = "true" if self._options.for_disk else "false"
        most = self._options.max_page_bytes
        html = await self._call(f"({script('serialise')})({for_disk}, {most})")
        if html is None:
            raise DomTooLargeError
        return bytes(html.encode("utf-8", "replace"))

    async def _picture(self) -> bytes | None:
        if self._is_over:
            return None
        sizes = await self._call("[innerWidth, document.documentElement.scrollHeight]")
        height = max(1, min(sizes[1], _SCREENSHOT_PIXELS))
        clip = {"x": 0, "y": 0, "width": sizes[0], "height": height, "scale": 1}
        wanted = {"format": "webp", "quality": 70, "captureBeyondViewport": True, "clip": clip}
        with suppress(TimeoutError):
            sent = self._cdp.send("Page.captureScreenshot", wanted)
            return base64.b64decode((await asyncio.wait_for(sent, _READ_SECS))["data"])
        return None

    async def _call(self, expression: str) -> Any:
        """Evaluate JavaScript where the page's scripts can have changed nothing.

        Raises:
            TimeoutError: The page is busy with its own scripts.
        """
        asked = {
            "expression": expression,
            "contextId": self._world,
            "returnByValue": True,
            "awaitPromise": True,
        }
        secs = max(self._ends_at - time.monotonic(), _READ_SECS)
        got = await asyncio.wait_for(self._cdp.send("Runtime.evaluate", asked), secs)
        if "exceptionDetails" in got:
            raise RuntimeError(f"a script of ours failed: {got['exceptionDetails'].get('text')}")
        return got["result"].get("value")

    async def _in_time(self, doing: Awaitable[Any]) -> Any:
        left = max(self._ends_at - time.monotonic(), 0.1)
        return await asyncio.wait_for(doing, left)

    async def _end(self) -> None:
        """Close the context; a browser that does not answer is broken."""
        self._traffic.is_over = True
        if self._context is not None:
            try:
                await asyncio.wait_for(self._context.close(), _END_SECS)
            except TimeoutError:
                self._browser.is_broken = True
            except Exception:  # the browser has ended
                self._browser.is_broken = True


def _is_done(work: tuple[bool, bool, float, float], quiet_secs: float, looks: int) -> bool:
    """Return whether a page has no work left, or has had the time for it.

    Args:
        work: What ``pendingWork()`` of ``changes.js`` returned.
        quiet_secs: Seconds for which the network has been quiet enough.
        looks: How often the page was asked meanwhile.
    """
    is_idle, has_timers, still_ms, ungrown_ms = work
    if not is_idle or has_timers:
        busy_secs = min(quiet_secs, max(ungrown_ms / 1000, quiet_secs - _MAX_GROWTH_SECS))
        return looks >= _MIN_LOOKS and busy_secs >= _MAX_TIMER_SECS
    return still_ms >= _DOM_QUIET_MS or quiet_secs >= _MAX_DOM_SECS


async def _quietly(doing: Awaitable[Any]) -> None:
    with suppress(Exception):
        await doing


def _for_playwright(cookie: Cookie) -> dict[str, Any]:
    return {
        "name": cookie.name,
        "value": cookie.value,
        "domain": cookie.domain,
        "path": cookie.path,
        "expires": cookie.expires,
        "secure": cookie.is_secure,
        "httpOnly": cookie.is_http_only,
    }
