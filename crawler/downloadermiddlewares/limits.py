"""Adapt ``crawler.downloading`` to Scrapy: bounds on requests, hosts and answers."""

from __future__ import annotations

import asyncio
import json
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.exceptions import CannotResolveHostError, IgnoreRequest, NotConfigured
from scrapy.http import Response
from scrapy.resolver import dnscache
from scrapy.responsetypes import responsetypes

from crawler.downloader.large_bodies import DATA_LOSS, STOPPED, FileResponse
from crawler.downloading.encodings import (
    DamagedBodyError,
    Opening,
    TooLargeError,
    codings,
    is_of_the_file,
    open_body,
)
from crawler.downloading.message_head import ContentRange, range_in
from crawler.job_registry import CrawlerComponent, job_of
from crawler.options import Options
from crawler.pages.reasons import Reason
from crawler.request_meta import DOWNLOAD_SLOT, host_in, led_by
from crawler.storage import meta_names
from crawler.urls.private_hosts import AddressGuard

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from scrapy import Request, Spider
    from scrapy.crawler import Crawler

    from crawler.downloading.encodings import Opened

STREAM_CUT = "stream_cut"
"""Flag of a response: its compressed stream breaks off, and the body with it, or is damaged."""

_UNOPENED = "unopened: "
"""Prefix of a flag with a reason: the body could not be decompressed, and is as it came."""

# The body of a cut stream was decompressed, whatever else was wrong.
_CUTS = {STREAM_CUT: Reason.CUT_STREAM, DATA_LOSS: Reason.CUT_TRANSFER}

OF_RANGES = frozenset({HTTPStatus.PARTIAL_CONTENT, HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE})

FALSE_CODING = "false_coding"
"""Flag of a response: declared as compressed and not so; the body is as it came."""


class PrivateAddressError(IgnoreRequest):
    """A public page led to a loopback, link-local or private address."""


class UnopenedBodyError(DamagedBodyError):
    """Nothing of a body could be decompressed; ``response`` has it as it came."""

    def __init__(self, reason: str, response: Response) -> None:
        super().__init__(reason)
        self.response = response


class LongUrlError(IgnoreRequest):
    """A URL is longer than ``URLLENGTH_LIMIT``."""


class LongUrls(CrawlerComponent):
    """Refuses URLs that are too long, also those of redirects and of lists.

    Scrapy's spider middleware for that purpose sees no redirects, and drops
    long URLs without a message.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._longest = crawler.settings.getint("URLLENGTH_LIMIT")
        if not self._longest:
            raise NotConfigured

    def process_request(self, request: Request) -> None:
        if len(request.url) > self._longest:
            raise LongUrlError(
                f"its URL has {len(request.url):,} characters, URLLENGTH_LIMIT is {self._longest:,}"
            )


class OutOfScopeError(IgnoreRequest):
    """A redirect leads out of the scope of the crawl."""


class ForbiddenByRobotsError(IgnoreRequest):
    """The robots.txt of the host forbids the request."""


class ScopedRedirects(CrawlerComponent):
    """Refuses redirects out of the scope before any request is sent there.

    The spider's ``may_be_led(url, meta)`` decides.
    """

    def __init__(self, crawler: Crawler) -> None:
        spider: Any = crawler.spider
        if not hasattr(spider, "may_be_led"):
            raise NotConfigured
        self._spider = spider

    def process_request(self, request: Request) -> None:
        is_page = request.callback is None or request.callback == self._spider.parse
        if not is_page or not request.meta.get("redirect_urls"):
            return
        if not self._spider.may_be_led(request.url, request.meta):
            raise OutOfScopeError("redirected out of the scope")


def leave_slot(request: Request) -> None:
    """Forget in which slot a request was downloaded, unless it chose one itself.

    Scrapy notes the slot in ``meta``. Redirects copy that, and so do links of some spiders, to
    another host, whose own pace would not count then. With ``CONCURRENT_REQUESTS_PER_IP`` its name
    is the address of the host.
    """
    host = host_in(request.url)
    if request.meta.get(DOWNLOAD_SLOT) in (host, dnscache.get(host, host)):
        del request.meta[DOWNLOAD_SLOT]


REDIRECTS = frozenset({300, 301, 302, 303, 307, 308})


class ReadRedirects(CrawlerComponent):
    """Lets Scrapy read redirects as others do: HTTP 300, backslashes, no or an empty Location.

    Answers name their requests, of which the target of a redirect has the Referer. The Location of
    HTTP 300 is the page that the server prefers. A redirect that leads nowhere and has a body is a
    page, as browsers show it. An answer is left as it came where the spider wants to see its
    status.
    """

    def __init__(self, crawler: Crawler) -> None:
        if not crawler.settings.getbool("REDIRECT_ENABLED"):
            raise NotConfigured
        self._handled = frozenset(getattr(crawler.spider, "handle_httpstatus_list", ()))

    def process_response(self, request: Request, response: Response) -> Response:
        leave_slot(request)
        if response.status not in REDIRECTS or self._is_for_spider(request, response):
            return response
        response.request = response.request or request
        location = response.headers.get(b"Location") or b""
        if not location.strip():  # it would be the URL itself, again and again
            response.headers.pop(b"Location", None)
            return response.replace(status=HTTPStatus.OK) if response.body.strip() else response
        path, mark, query = location.partition(b"?")
        if b"\\" in path:
            response.headers[b"Location"] = path.replace(b"\\", b"/") + mark + query
        if response.status == HTTPStatus.MULTIPLE_CHOICES:
            return response.replace(status=HTTPStatus.FOUND)
        return response

    def _is_for_spider(self, request: Request, response: Response) -> bool:
        meta = request.meta
        if meta.get("dont_redirect") or meta.get("handle_httpstatus_all"):
            return True
        return response.status in self._handled.union(meta.get("handle_httpstatus_list", ()))


_MAX_NAMES = 1000


class PrivateAddresses(CrawlerComponent):
    """Refuses redirects and links from public hosts to private ones.

    A crawl whose own start is private may go anywhere: a request inherits
    its permission from the one that led to it. A public name that
    resolves to a private address is not resolved (``crawler.downloader.resolver``); where
    another resolver is chosen, the answer is thrown away.
    """

    def __init__(self, crawler: Crawler) -> None:
        if Options(crawler.settings).boolean("CRAWL_PRIVATE_ADDRESSES"):
            raise NotConfigured
        # A crawl that continues does not request its seeds again.
        seeds = getattr(crawler.spider, "seeds", ())
        # A spider of others may call anything its seeds.
        known = seeds if isinstance(seeds, list | tuple | frozenset | set) else ()
        self._job = job_of(crawler)
        self._guard = AddressGuard(
            (host_in(seed) for seed in known if isinstance(seed, str)),
            self._names(meta_names.PRIVATE_NAMES),
            lambda name: self._remember(meta_names.PRIVATE_NAMES, name),
            self._names(meta_names.PUBLIC_NAMES),
        )

    def _names(self, of: str) -> list[str]:
        names: list[str] = json.loads(self._job.database.meta(of) or "[]")
        return names

    def _remember(self, of: str, name: str) -> None:
        names = self._names(of)
        if len(names) < _MAX_NAMES:
            self._job.database.set_meta(of, json.dumps([*names, name]))

    def process_request(self, request: Request) -> None:
        """Refuse a request from a public page to a private address.

        Raises:
            PrivateAddressError: It goes from a public page to a private address.
        """
        host = host_in(request.url)
        if _is_start(request):
            self._guard.starts.add(host)
        if self._guard.is_private(host):
            self._check(request)
        # A page of a host was requested before its robots.txt; not if another host redirects to it.
        elif not is_for_robots(request) or led_by(request) is not None:
            self._guard.note_asked(host, allowed=self._may_be_private(request))

    def process_response(self, request: Request, response: Response) -> Response:
        """Refuse an answer from a private address that a public page led to.

        Raises:
            PrivateAddressError: A public page led to a name that resolves to a private address.
        """
        address = response.ip_address
        if address is None or "proxy" in request.meta:
            return response
        if not self._guard.is_private(str(address)):
            host = host_in(request.url)
            if self._guard.note_public(host):
                self._remember(meta_names.PUBLIC_NAMES, host)
            return response
        self._check(request)
        if not is_for_robots(request) or led_by(request) is not None:
            self._guard.note_private(host_in(request.url))
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:
        """Explain a name that was not resolved because its address is private.

        Raises:
            PrivateAddressError: A public page led to a name that resolves to a private address.
        """
        is_unknown = isinstance(exception, CannotResolveHostError)
        if is_unknown and self._guard.is_private(host_in(request.url)):
            self._check(request)

    def _check(self, request: Request) -> None:
        host = host_in(request.url)
        if self._guard.was_public(host):
            raise PrivateAddressError(
                f"refused: {host} is at a private address now, and was at a public one before "
                "(CRAWL_PRIVATE_ADDRESSES=True allows it)"
            )
        if not self._may_be_private(request):
            source = led_by(request)
            # Without a source it was a page that wants no Referer to be sent.
            raise PrivateAddressError(
                f"refused: {host_in(request.url)} is a private address, to which "
                f"{'a page' if source is None else host_in(source)} led "
                "(CRAWL_PRIVATE_ADDRESSES=True allows it)"
            )

    def _may_be_private(self, request: Request) -> bool:
        source = led_by(request)
        if source is None and request.meta.get("depth", 0) == 0:
            return True
        return self._guard.may_lead(source and host_in(source), host_in(request.url))


class ReplacedRequests(CrawlerComponent):
    """Notes the request of an answer, where another middleware replaces ``response.request``.

    Scrapy chooses the callback by ``response.request``; the queue knows only the request that it
    handed out.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._leased = job_of(crawler).frontier.leased

    def process_response(self, request: Request, response: Response) -> Response:
        if response.request is not None and response.request is not request:
            self._leased.note_replaced(response, request)
        return response


class Decompression(HttpCompressionMiddleware):
    """Scrapy's middleware with its own bounds and without charset detection over compressed bytes.

    ``TextResponse.replace`` computes the encoding even where it is given another
    one; on a gzipped page without a declared charset that took a fifth of the
    main process's time. A body that is declared as compressed and is not is read as it
    came. A stream that breaks off is marked, and so is a body that cannot be decompressed at all,
    which ``crawler.downloadermiddlewares.retries.WholeAnswers`` refuses when retries do not help.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler=crawler)
        self._max_bytes = crawler.settings.getint("DOWNLOAD_MAXSIZE") or 2**30

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Decompression:
        if not crawler.settings.getbool("COMPRESSION_ENABLED"):
            raise NotConfigured
        return cls(crawler)

    def process_response(  # type: ignore[override]  # Scrapy awaits what can be awaited
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Response | Awaitable[Response]:
        """Decompress an answer; one in a file in a thread, to a file.

        Raises:
            TooLargeError: It is larger than ``DOWNLOAD_MAXSIZE`` when decompressed.
        """
        if request.method == "HEAD":
            return response
        max_bytes = request.meta.get("download_maxsize") or self._max_bytes
        if isinstance(response, FileResponse):
            return _opened_file(response, max_bytes)
        try:
            return decompressed(response, max_bytes)
        except DamagedBodyError as error:
            return _unopened(response, error)


async def _opened_file(response: FileResponse, max_bytes: int) -> Response:
    """Decompress a body in its file. Raises as ``decompressed``."""
    layers = _layers(response)
    if not layers:
        return response
    opening = Opening(layers, max_bytes)
    try:
        head = await asyncio.to_thread(response.file.convert, opening.pieces)
    except DamagedBodyError as error:
        return _unopened(response, error)
    except TooLargeError:
        response.file.drop()
        raise
    return _with_body(response, head, _flags(opening))


def _unopened(response: Response, error: DamagedBodyError) -> Response:
    return response.replace(flags=[*response.flags, f"{_UNOPENED}{error}"])


def why_cut(request: Request | None, response: Response) -> Reason | None:
    """Return why an answer is known to be partial; None where it is not, or is to be no more."""
    flags = response.flags
    if STOPPED in flags:
        return None
    if response.status in OF_RANGES and (request is None or b"Range" not in request.headers):
        found = content_range(response)
        if found is None or found.first or not found.is_to_end:
            return Reason.UNASKED_PART
    return next((reason for flag, reason in _CUTS.items() if flag in flags), None)


def content_range(response: Response) -> ContentRange | None:
    """Return the range that an answer declares, None where it declares none or an unknown size."""
    return range_in(response.headers.get(b"Content-Range"))


def why_unopened(response: Response) -> str | None:
    """Return why nothing of a body could be decompressed; None for any other body."""
    if STOPPED in response.flags:
        return None
    flags = (flag for flag in response.flags if flag.startswith(_UNOPENED))
    return next((flag.removeprefix(_UNOPENED) for flag in flags), None)


def decompressed(response: Response, max_bytes: int) -> Response:
    """Return an answer without its declared codings; flags tell what was wrong with them.

    Raises:
        DamagedBodyError: It cannot be decompressed.
        TooLargeError: It is larger than ``max_bytes`` when decompressed.
    """
    layers = _layers(response)
    if not layers:
        return response
    opened = open_body(response.body, layers, max_bytes)
    return _with_body(response, opened.body, _flags(opened))


def _layers(response: Response) -> list[str]:
    """Return the codings to undo; that of a packed file is its own, and is declared no longer."""
    declared = response.headers.getlist(b"Content-Encoding")
    layers = codings(value.decode("latin-1") for value in declared)
    kind = (response.headers.get(b"Content-Type") or b"").decode("latin-1")
    if is_of_the_file(layers, response.url, kind, response.body):
        del response.headers[b"Content-Encoding"]
        return []
    return layers


def _flags(opened: Opened | Opening) -> list[str]:
    flags = {STREAM_CUT: opened.is_cut, FALSE_CODING: opened.is_as_it_came}
    return [flag for flag, is_set in flags.items() if is_set]


def _with_body(response: Response, body: bytes, flags: list[str]) -> Response:
    del response.headers[b"Content-Encoding"]
    if isinstance(response, FileResponse):
        return response.replace(body=body, flags=[*response.flags, *flags])
    kind = responsetypes.from_args(headers=response.headers, url=response.url, body=body)
    parts = {name: getattr(response, name) for name in Response.attributes}
    return kind(**parts | {"body": body, "flags": [*response.flags, *flags]})


def _is_start(request: Request) -> bool:
    """Return whether the crawl began with a request; its robots.txt does not count."""
    at_start = request.meta.get("depth", 0) == 0 and led_by(request) is None
    return at_start and not is_for_robots(request)


def is_for_robots(request: Request) -> bool:
    """Return whether a request is Scrapy's own for a robots.txt."""
    return bool(request.meta.get("dont_obey_robotstxt")) and urlsplit(request.url).path == (
        "/robots.txt"
    )
