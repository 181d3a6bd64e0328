"""Answer the requests of a page: from what was fetched for it, by the crawler, or not at all."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urldefrag

from crawler.rendering.options import SubRequest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crawler.rendering.options import Fetch, PageToRender, RenderedPage, RenderOptions

logger = logging.getLogger(__name__)

QUIET_SECS = 0.25
"""A page is loaded once it wanted nothing for this long."""

_SHOWN: Final = frozenset({"image", "font", "media", "texttrack", "manifest", "ping", "cspreport"})
"""Kinds of requests that bring no text, which are refused without a word."""

_SENT = frozenset({"GET", "HEAD"})
_NOT_PASSED_ON = frozenset(
    "connection content-encoding content-length keep-alive proxy-authenticate set-cookie"
    " strict-transport-security trailer transfer-encoding upgrade".split()
)
_MAX_ROUTES = 1_000


class PageNetwork:
    """Answers what one page requests, within its limits; Chromium itself reaches nothing.

    Args:
        page: The page, whose answer was fetched already.
        fetch: Fetches everything else.
        options: Limits of the page.
        result: What is noted of the page.
    """

    def __init__(
        self, page: PageToRender, fetch: Fetch, options: RenderOptions, result: RenderedPage
    ) -> None:
        self._page = page
        self._fetch = fetch
        self._options = options
        self._result = result
        self._requests = self._bytes = self._pending = 0
        self._changes = 0
        self._is_handed_out = False

    async def answer(self, route: Any) -> None:
        """Answer one request of the page; ``route`` is Playwright's."""
        self._pending += 1
        self._changes += 1
        try:
            await self._answer(route)
        except asyncio.CancelledError:
            raise
        except Exception:  # the tab is gone, or Chromium does not take the answer
            logger.debug("%s: a request was not answered", self._page.url, exc_info=True)
            with suppress(Exception):
                await route.abort()
        finally:
            self._pending -= 1
            self._changes += 1

    async def _answer(self, route: Any) -> None:
        request = route.request
        if request.is_navigation_request() and request.frame.parent_frame is None:
            await self._navigate(route, request.url)
        elif request.resource_type in _SHOWN or not request.url.startswith(("http://", "https://")):
            await route.abort()
        elif request.method not in _SENT:
            self._miss(f"{request.method} is not sent")
            await route.abort()
        else:
            await self._load(route, request)

    async def _navigate(self, route: Any, url: str) -> None:
        """Hand out the page once; whatever it goes to later is a route."""
        if self._is_handed_out:
            self.note_route(url)
            await route.fulfill(status=204)  # the browser stays where it is
            return
        self._is_handed_out = True
        # Of its headers none but the type: a policy of the site is for its own visitors.
        headers = {"content-type": self._page.content_type or "text/html"}
        await route.fulfill(status=self._page.status, headers=headers, body=self._page.body)

    async def _load(self, route: Any, request: Any) -> None:
        if self._requests >= self._options.max_requests:
            self._miss("too many requests")
            await route.abort()
            return
        self._requests += 1
        url = urldefrag(request.url).url
        answer = await self._fetch(SubRequest(url, self._page.url, request.resource_type))
        if answer is None:
            self._miss(f"{request.resource_type} not fetched")
            await route.abort()
            return
        self._bytes += len(answer.body)
        if self._bytes > self._options.max_bytes:
            self._miss("too many bytes")
            await route.abort()
            return
        if answer.status >= 400:
            self._miss(f"{request.resource_type}: HTTP {answer.status}")
        await route.fulfill(
            status=answer.status, headers=_passed_on(answer.headers, request), body=answer.body
        )

    def note_route(self, url: str) -> None:
        """Note a URL that a script went to."""
        if url.startswith(("http://", "https://")) and len(self._result.routes) < _MAX_ROUTES:
            self._result.routes.append(url)

    def _miss(self, what: str) -> None:
        if what not in self._result.missed:
            self._result.missed.append(what)

    async def quiet(self) -> None:
        """Wait until nothing is under way, and nothing was for ``QUIET_SECS``."""
        while True:
            seen = self._changes
            await asyncio.sleep(QUIET_SECS)
            if not self._pending and self._changes == seen:
                return


def _passed_on(headers: Mapping[str, str], request: Any) -> dict[str, str]:
    """Return the headers of an answer for the browser.

    The request was made without cookies of the page's own, so that any page may read it.
    """
    kept = {name: value for name, value in headers.items() if name.lower() not in _NOT_PASSED_ON}
    origin = request.headers.get("origin")
    if origin is not None:
        kept["access-control-allow-origin"] = origin
        kept["access-control-allow-credentials"] = "true"
    return kept
