"""Answer the requests of one page by the crawler, within its bounds; keep answers for others."""

from __future__ import annotations

import asyncio
import re
import time
from collections import OrderedDict
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import urlsplit

from crawler.rendering.rendered_pages import (
    FOREIGN_DATA_FAILED,
    FOREIGN_SCRIPT_FAILED,
    SUBREQUEST_FAILED,
    TOO_MANY_BYTES,
    TOO_MANY_REQUESTS,
    SubRequest,
    Subrequested,
)
from crawler.urls.scope import registered_domain

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawler.rendering.rendered_pages import Fetch, PageToRender, RenderOptions, SubAnswer

MAX_ROUTES: Final = 1_000
"""URLs taken from one page's scripts, at most."""

_FLOOD: Final = 3
"""A page that makes this many times the requests that it may is stopped."""

_FLOOD_OF_REFUSED: Final = 5_000
"""End a page that makes this many for images and the like, which are refused."""

_AT_A_TIME: Final = 8
"""Requests of a page that are answered at a time, each with a body in memory."""

_MAX_POSTED_BYTES: Final = 1_000_000

_FILES = frozenset({"image", "media", "font"})
_NEVER = frozenset({"ping", "beacon", "cspviolationreport", "manifest"})
_DATA = frozenset({"xhr", "fetch", "websocket", "eventsource"})
_ADDING = frozenset({"Document", "Script", "XHR", "Fetch"})
"""Chromium's words for requests whose answers may add words to a page."""

_MAX_LOADING_SECS: Final = 3.0
"""An answer that a page was handed is waited for no longer: of some it reads nothing."""

_READING = frozenset({"GET", "HEAD"})

_NOT_THERE = frozenset({404, 410})
"""Statuses that are the answer which any reader gets, and no failure."""

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9a-z-]+")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")

_OF_THE_TRANSFER = frozenset(
    {
        "alt-svc",
        "clear-site-data",
        "connection",
        "content-disposition",
        "content-encoding",
        "content-length",
        "keep-alive",
        "nel",
        "refresh",
        "report-to",
        "reporting-endpoints",
        "strict-transport-security",
        "transfer-encoding",
    }
)
"""Headers that a browser is not handed: of the transfer, or such as begin something else."""

MAX_KEPT_BYTES: Final = 64_000_000
"""Bytes of all answers that are kept; those that were used longest ago go first."""

_ENTRY_BYTES = 2_000
"""Bytes that an answer takes beside its body."""

_FOR_THE_CRAWL = frozenset({"script", "stylesheet"})
_BY_ITS_AGE = frozenset({"fetch", "xhr"})
# The crawler's own name, languages and codings do not change; origin and accept are in the key.
_SAME_FOR_ALL = frozenset(
    {"", "accept", "accept-encoding", "accept-language", "origin", "user-agent"}
)
_OF_BROWSERS = _SAME_FOR_ALL - {"accept-language"} | {"cache-control", "dnt", "pragma", "referer"}
"""Headers that a browser sends by itself."""

_FOR_ONE = frozenset({"authorization", "cookie", "range"})
_AGE = re.compile(r"(?:^|[,\s])max-age\s*=\s*\"?(\d+)", re.IGNORECASE)
_FOREVER = float("inf")


class Traffic:
    """Hands a page its document, and answers, refuses and counts its further requests.

    A POST by which a script asks for data is sent while the page loads, and none once its parts
    are clicked. All other requests that may change something on the server are refused.
    """

    def __init__(self, page: PageToRender, options: RenderOptions, fetch: Fetch) -> None:
        self._page = page
        self._options = options
        self._fetch = fetch
        self._is_handed = False
        self._asked = self._refused = 0
        self.unanswered: dict[object, str] = {}
        """URLs of requests that wait for their answer."""

        self._loading: set[str] = set()

        self.is_over = False
        """Whether the page has ended: what it still wants is not asked for."""

        self._bytes = len(page.body)
        self._changed_at = time.monotonic()
        self.subrequests: list[Subrequested] = []
        self.routes: dict[str, None] = {}
        self.missed: dict[str, None] = {}
        self.flooded = asyncio.Event()
        self.is_loading = True
        """Whether the page still loads by itself; what it asks for later, a click has begun."""

        self._free = asyncio.Semaphore(_AT_A_TIME)
        self.main_frame: Any = None

    @property
    def quiet_secs(self) -> float:
        """Seconds since the last request or answer; 0 while an answer is awaited, or is loaded."""
        secs = 0.0 if self.unanswered else time.monotonic() - self._changed_at
        return 0.0 if self._loading and secs < _MAX_LOADING_SECS else secs

    def note_begun(self, event: dict[str, Any]) -> None:
        """Note a request that the page has begun, which is about to be handed over."""
        if event.get("type") in _ADDING:
            self._loading.add(event["requestId"])
            self._changed_at = time.monotonic()

    def note_ended(self, event: dict[str, Any]) -> None:
        """Note that the page has an answer, or has given it up."""
        if event["requestId"] in self._loading:
            self._loading.discard(event["requestId"])
            self._changed_at = time.monotonic()

    def note_route(self, url: str) -> None:
        """Note a URL that a script led to."""
        bare, own = url.partition("#")[0], self._page.url.partition("#")[0]
        is_web = url.startswith(("http://", "https://"))
        # Some applications route by the fragment.
        is_other = bare != own or url.partition("#")[2].startswith(("/", "!"))
        if is_web and is_other and url != self._page.url and len(self.routes) < MAX_ROUTES:
            self.routes[url] = None

    async def answer(self, route: Any) -> None:
        """Answer one request of the page; called by Playwright."""
        request = route.request
        try:
            await self._answer(route, request)
        except Exception:  # the page may have ended meanwhile, or the browser refuses the answer
            self.note_failed(request.url, request.resource_type)
            with suppress(Exception):
                await route.abort("failed")

    async def _answer(self, route: Any, request: Any) -> None:
        if request.is_navigation_request():
            frame = _frame_of(request)
            if frame is None or frame.parent_frame is None:
                await self._navigate(route, request, is_page=frame == self.main_frame)
                return
        if not self._may_ask(request):
            await route.abort("blockedbyclient")
            return
        waiting = object()
        self.unanswered[waiting] = request.url
        try:
            async with self._free:
                await self._hand_over(route, request)
        finally:
            del self.unanswered[waiting]
            self._changed_at = time.monotonic()

    async def _hand_over(self, route: Any, request: Any) -> None:
        """Fetch what a request wants and hand it to the page."""
        wanted = None if self.is_over else self._wanted(request)
        answer = None
        if wanted is not None:
            # Others have their share of the bytes meanwhile.
            self._bytes += (reserved := wanted.max_bytes // _AT_A_TIME)
            try:
                answer = await self._fetch(wanted)
            except Exception:  # as one that was refused
                answer = None
            finally:
                self._bytes -= reserved
        if wanted is None or answer is None or 300 <= answer.status < 400:
            self.subrequests.append(Subrequested(request.url, 0, 0))
            self.note_failed(request.url, request.resource_type)
            await route.abort("blockedbyclient")
            return
        await self._fulfill(route, wanted, answer)

    async def _fulfill(self, route: Any, wanted: SubRequest, answer: SubAnswer) -> None:
        size = len(answer.body)
        is_data = wanted.resource_type in _DATA and answer.status < 400
        self.subrequests.append(Subrequested(wanted.url, answer.status, size, is_data))
        self._bytes += size
        if self._bytes > self._options.max_page_bytes:
            self.missed[TOO_MANY_BYTES] = None
            await route.abort("blockedbyclient")
            return
        if answer.status >= 400 and answer.status not in _NOT_THERE:
            self.note_failed(wanted.url, wanted.resource_type)
        await route.fulfill(
            status=answer.status, headers=for_browser(answer.headers), body=answer.body
        )
        self._changed_at = time.monotonic()

    async def _navigate(self, route: Any, request: Any, *, is_page: bool) -> None:
        """Hand the page its document; note where it, or another window, tries to go then."""
        if self._is_handed or not is_page:
            if request.method == "GET":
                self.note_route(request.url)
            await route.abort("aborted")
            return
        self._is_handed = True
        status = 200 if 300 <= self._page.status < 400 else self._page.status
        await route.fulfill(
            status=status, headers=for_browser(self._page.headers), body=self._page.body
        )

    def note_failed(self, url: str, kind: str) -> None:
        """Note that the page lacks a script or data; nothing else adds words to it."""
        if not self.is_loading:
            return
        is_own = _site_of(url) == _site_of(self._page.url)
        if kind in _DATA:
            self.missed[SUBREQUEST_FAILED if is_own else FOREIGN_DATA_FAILED] = None
        elif kind == "script":
            self.missed[SUBREQUEST_FAILED if is_own else FOREIGN_SCRIPT_FAILED] = None

    def _may_ask(self, request: Any) -> bool:
        """Count a request, and return whether it is one to be answered."""
        kind = request.resource_type
        if kind in _NEVER or (kind in _FILES and not self._options.with_files):
            self._refused += 1
            if self._refused > _FLOOD_OF_REFUSED:
                self.flooded.set()
            return False
        self._asked += 1
        if self._asked > self._options.max_subrequests:
            self.missed[TOO_MANY_REQUESTS] = None
            if self._asked > _FLOOD * self._options.max_subrequests:
                self.flooded.set()
            return False
        return True

    def _wanted(self, request: Any) -> SubRequest | None:
        """Return a request as it is to be sent; None where it is refused."""
        kind, method, body = request.resource_type, request.method, b""
        if not request.url.startswith(("http://", "https://")) or kind == "eventsource":
            return None
        if method == "POST" and kind in _DATA and self.is_loading:
            body = request.post_data_buffer or b""
            if len(body) > _MAX_POSTED_BYTES:
                return None
        elif method not in _READING:
            return None
        left = self._options.max_page_bytes - self._bytes
        if left <= 0:
            self.missed[TOO_MANY_BYTES] = None
            return None
        headers = tuple(request.headers.items())
        led_by = _document_of(request) or self._page.url
        return SubRequest(request.url, method, headers, kind, led_by, body, left)


def _site_of(url: str) -> str:
    """Return what pages and requests of one site have in common: the registered domain, or host."""
    host = urlsplit(url).hostname or ""
    return registered_domain(host) or host


def _frame_of(request: Any) -> Any:
    """Return the frame of a request; None for that of a window which is about to open."""
    with suppress(Exception):  # Playwright raises there
        return request.frame
    return None


def _document_of(request: Any) -> str | None:
    """Return the URL of the document that a request comes from, also within frames."""
    frame = _frame_of(request)
    if frame is not None and request.is_navigation_request():
        frame = frame.parent_frame
    while frame is not None:
        if frame.url.startswith(("http://", "https://")):
            return str(frame.url)
        frame = frame.parent_frame
    return None


def for_browser(headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return headers as a browser is handed them, those of one name joined."""
    joined: dict[str, str] = {}
    for name, value in headers:
        key = name.lower()
        if key in _OF_THE_TRANSFER or not _TOKEN.fullmatch(key) or _CONTROL.search(value):
            continue  # Chromium refuses the answer for such a header
        separator = "\n" if key == "set-cookie" else ", "
        joined[key] = f"{joined[key]}{separator}{value}" if key in joined else value
    return joined


class AnswerKey(NamedTuple):
    """The URL, origin and headers that tell answers apart."""

    url: str
    origin: str
    accept: str
    further: frozenset[tuple[str, str]]
    """Headers that scripts have added."""


class _Kept(NamedTuple):
    answer: SubAnswer
    ends_at: float


class KeptAnswers:
    """Answers to GET requests for scripts and styles, and for JSON as long as HTTP allows.

    Args:
        max_bytes: Bytes of all bodies together.
    """

    def __init__(self, max_bytes: int = MAX_KEPT_BYTES) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        self._kept: OrderedDict[AnswerKey, _Kept] = OrderedDict()

    def get(self, key: AnswerKey) -> SubAnswer | None:
        """Return a kept answer that is still valid. Complexity: O(1)."""
        kept = self._kept.get(key)
        if kept is None:
            return None
        if kept.ends_at <= time.monotonic():
            self._drop(key)
            return None
        self._kept.move_to_end(key)
        return kept.answer

    def keep(self, key: AnswerKey, request: SubRequest, answer: SubAnswer) -> None:
        """Keep an answer if that is allowed."""
        secs = kept_secs(request, answer)
        size = _ENTRY_BYTES + len(answer.body)
        if not secs or size > max(self._max_bytes // 4, _ENTRY_BYTES):
            return
        self._drop(key)
        self._kept[key] = _Kept(answer, time.monotonic() + secs)
        self._bytes += size
        while self._bytes > self._max_bytes:
            self._drop(next(iter(self._kept)))

    def _drop(self, key: AnswerKey) -> None:
        kept = self._kept.pop(key, None)
        if kept is not None:
            self._bytes -= _ENTRY_BYTES + len(kept.answer.body)


def key_of(request: SubRequest) -> AnswerKey | None:
    """Return the key of a request; None for one whose answer is never kept."""
    headers = dict(request.headers)
    is_kind = request.resource_type in _FOR_THE_CRAWL | _BY_ITS_AGE
    if request.method != "GET" or not is_kind or _FOR_ONE & headers.keys():
        return None
    url = request.url.partition("#")[0]
    further = frozenset(
        (name, value)
        for name, value in request.headers
        if name not in _OF_BROWSERS and not name.startswith(("sec-", ":"))
    )
    return AnswerKey(url, headers.get("origin", ""), headers.get("accept", ""), further)


def is_for_the_crawl(request: SubRequest) -> bool:
    """Return whether the answer is the same for all pages, which may wait for it together."""
    return request.resource_type in _FOR_THE_CRAWL


def kept_secs(request: SubRequest, answer: SubAnswer) -> float:
    """Return for how long an answer may be kept, in seconds; 0 if not at all."""
    if answer.status != 200:
        return 0.0
    joined: dict[str, str] = {}
    for name, value in answer.headers:
        joined[name.lower()] = f"{joined.get(name.lower(), '')},{value}"
    varies = {name.strip().lower() for name in joined.get("vary", "").split(",")}
    control = joined.get("cache-control", "").lower()
    if varies - _SAME_FOR_ALL or "no-store" in control or "private" in control:
        return 0.0
    if request.resource_type in _FOR_THE_CRAWL:
        return _FOREVER
    age = _AGE.search(control)
    is_json = "json" in joined.get("content-type", "").lower()
    return 0.0 if age is None or not is_json or "no-cache" in control else float(age[1])
