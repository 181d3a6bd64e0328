"""Keeps a crawl of public sites out of private networks; decompresses without guessing."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.exceptions import IgnoreRequest, NotConfigured
from scrapy.http import Response

from crawler.options import Options
from crawler.urls.addresses import is_private

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.crawler import Crawler


class PrivateAddressError(IgnoreRequest):
    """A public page led to a loopback, link-local or private address."""


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

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> PrivateAddresses:
        """Read whether private addresses are allowed."""
        return cls(crawler)

    def process_request(self, request: Request) -> None:
        """Let a request pass, or not.

        Raises:
            PrivateAddressError: It goes from a public page to a private address.
        """
        source = _source(request)
        if source is not None and self._is_private(_host(request.url)):
            self._check(request, source)

    def process_response(self, request: Request, response: Response) -> Response:
        """Let an answer pass, or not.

        Raises:
            PrivateAddressError: A public page led to a name that resolves to a private address.
        """
        address = response.ip_address
        if address is None or "proxy" in request.meta or not is_private(str(address)):
            return response
        source = _source(request)
        if source is not None:
            self._check(request, source)
        self._private_names.add(_host(request.url))
        return response

    def _check(self, request: Request, source: str) -> None:
        if not self._is_private(_host(source)):
            raise PrivateAddressError(
                f"refused: {_host(request.url)} is a private address, to which "
                f"{_host(source)} led (CRAWL_PRIVATE_ADDRESSES=True allows it)"
            )

    def _is_private(self, host: str) -> bool:
        return host in self._private_names or is_private(host)


class Decompression(HttpCompressionMiddleware):
    """Scrapy's, without the charset detection that it runs over the compressed bytes.

    ``TextResponse.replace`` asks for the encoding even where it is given another
    one; on a gzipped page without a declared charset that took a fifth of the
    main process's time.
    """

    def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Request | Response:
        """Decompress an answer."""
        if type(response) is not Response and response.headers.get(b"Content-Encoding"):
            parts = {name: getattr(response, name) for name in Response.attributes}
            response = Response(**parts)
        return super().process_response(request, response)


def _source(request: Request) -> str | None:
    """The URL that led to a request, or None for one that the crawl began with."""
    redirected: list[str] = request.meta.get("redirect_urls", [])
    if redirected:
        return redirected[0]
    referer = request.headers.get(b"Referer")
    return None if referer is None else referer.decode("latin-1")


def _host(url: str) -> str:
    return urlsplit(url).hostname or ""
