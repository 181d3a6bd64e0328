"""Keeps a crawl of public sites out of private networks; decompresses without guessing."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.exceptions import IgnoreRequest, NotConfigured
from scrapy.http import Response
from scrapy.responsetypes import responsetypes

from crawler.options import Options
from crawler.urls.addresses import is_private

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.crawler import Crawler

LED_BY = "crawl_led_by"
"""Key of ``Request.meta``: the URL that led to a request which has no ``Referer`` to say so."""

GZIP_CUT = "gzip_cut"
"""Flag of a response: its gzip stream breaks off, and the body with it, or is damaged."""

NOT_GZIP = "not_gzip"
"""Flag of a response: declared as gzip and none; the body is as it came."""

_GZIP_MAGIC = b"\x1f\x8b"


class PrivateAddressError(IgnoreRequest):
    """A public page led to a loopback, link-local or private address."""


class DamagedBodyError(Exception):
    """A body cannot be decompressed."""


class PrivateAddresses:
    """Refuses redirects and links from public hosts to private ones.

    A crawl whose own start is private may go where it likes: what a request
    may do is inherited from the one that led to it. A public name that
    resolves to a private address is known only from the answer, which is then
    thrown away.
    """

    def __init__(self, crawler: Crawler) -> None:
        if Options(crawler.settings).boolean("CRAWL_PRIVATE_ADDRESSES"):
            raise NotConfigured
        self._private_names: set[str] = set()
        # A crawl that goes on does not ask for its seeds again.
        seeds = getattr(crawler.spider, "seeds", ())
        self._starts = {_host(seed) for seed in seeds}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> PrivateAddresses:
        """Read whether private addresses are allowed."""
        return cls(crawler)

    def process_request(self, request: Request) -> None:
        """Let a request pass, or not.

        Raises:
            PrivateAddressError: It goes from a public page to a private address.
        """
        host = _host(request.url)
        if _is_start(request):
            self._starts.add(host)
        if self._is_private(host):
            self._check(request)

    def process_response(self, request: Request, response: Response) -> Response:
        """Let an answer pass, or not.

        Raises:
            PrivateAddressError: A public page led to a name that resolves to a private address.
        """
        address = response.ip_address
        if address is None or "proxy" in request.meta or not is_private(str(address)):
            return response
        self._check(request)
        if not _is_for_robots(request):
            self._private_names.add(_host(request.url))
        return response

    def _check(self, request: Request) -> None:
        """Refuse a request to a private host, unless what led to it is private as well."""
        source = _source(request)
        if source is not None:
            host = _host(source)
            own = host == _host(request.url) and host in self._starts
            allowed = own or self._is_private(host)
        elif request.meta.get("depth", 0) == 0:
            allowed = True
        else:  # a page that wants no Referer to be sent
            host = "a page"
            allowed = bool(self._starts) and all(map(self._is_private, self._starts))
        if not allowed:
            raise PrivateAddressError(
                f"refused: {_host(request.url)} is a private address, to which {host} led "
                "(CRAWL_PRIVATE_ADDRESSES=True allows it)"
            )

    def _is_private(self, host: str) -> bool:
        return host in self._private_names or is_private(host)


class Decompression(HttpCompressionMiddleware):
    """Scrapy's, without the charset detection that it runs over the compressed bytes.

    ``TextResponse.replace`` asks for the encoding even where it is given another
    one; on a gzipped page without a declared charset that took a fifth of the
    main process's time. What is declared as gzip and is none is read as it
    came, and a stream that breaks off is marked.
    """

    def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Request | Response:
        """Decompress an answer.

        Raises:
            DamagedBodyError: It cannot be decompressed.
        """
        declared = b",".join(response.headers.getlist(b"Content-Encoding")).strip().lower()
        if not declared:
            return response
        if type(response) is not Response:
            parts = {name: getattr(response, name) for name in Response.attributes}
            response = Response(**parts)
        is_gzip = declared in {b"gzip", b"x-gzip"} and request.method != "HEAD"
        if is_gzip and response.body and not response.body.startswith(_GZIP_MAGIC):
            return _as_it_came(response)
        try:
            opened = super().process_response(request, response)
        except IgnoreRequest:
            raise
        except Exception as error:  # each of the decompressors has errors of its own
            raise DamagedBodyError(f"damaged {declared.decode('latin-1')}: {error}") from error
        assert isinstance(opened, Response)
        if is_gzip and _breaks_off(response.body, len(opened.body)):
            opened.flags.append(GZIP_CUT)
        return opened


def _as_it_came(response: Response) -> Response:
    del response.headers[b"Content-Encoding"]
    kind = responsetypes.from_args(headers=response.headers, url=response.url, body=response.body)
    return response.replace(cls=kind, flags=[*response.flags, NOT_GZIP])


def _breaks_off(packed: bytes, size: int) -> bool:
    """Whether a gzip stream that gave ``size`` bytes lacks its end."""
    if not packed or int.from_bytes(packed[-4:], "little") == size % 2**32:
        return False
    # Its last four bytes are not its size: cut, or there are several members, or something follows.
    while packed.startswith(_GZIP_MAGIC):
        unpacker = zlib.decompressobj(wbits=31)
        try:
            unpacker.decompress(packed)
        except zlib.error:
            return True
        if not unpacker.eof:
            return True
        packed = unpacker.unused_data
    return False


def _source(request: Request) -> str | None:
    """The URL that led to a request, or None where nothing says it."""
    redirected: list[str] = request.meta.get("redirect_urls", [])
    if redirected:
        return redirected[0]
    referer = request.headers.get(b"Referer")
    if referer is not None:
        return referer.decode("latin-1")
    led_by: str | None = request.meta.get(LED_BY)
    return led_by


def _is_start(request: Request) -> bool:
    """Whether the crawl began with a request; not so its robots.txt."""
    at_start = request.meta.get("depth", 0) == 0 and _source(request) is None
    return at_start and not _is_for_robots(request)


def _is_for_robots(request: Request) -> bool:
    return bool(request.meta.get("dont_obey_robotstxt")) and urlsplit(request.url).path == (
        "/robots.txt"
    )


def _host(url: str) -> str:
    return urlsplit(url).hostname or ""
