"""Request fingerprints over the canonical URL instead of w3lib's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import xxhash

from crawler.options import Options
from crawler.urls.canonical import Canonicalizer, MalformedUrl

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler


class CanonicalFingerprinter:
    """Identifies requests by method, canonical URL and body.

    A plain GET has the key of its canonical URL itself, so that links can be
    looked up before a ``Request`` is made of them.
    """

    def __init__(self, canonicalizer: Canonicalizer) -> None:
        self._canonicalizer = canonicalizer

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> CanonicalFingerprinter:
        """Read which URL rules are switched off."""
        disabled = Options(crawler.settings).names("URLS_DISABLED_RULES")
        return cls(Canonicalizer(disabled=disabled))

    def fingerprint(self, request: Request) -> bytes:
        """Return 16 bytes that are equal for requests of the same resource."""
        try:
            key = self._canonicalizer.key(request.url)
        except MalformedUrl:
            key = xxhash.xxh3_128_digest(request.url.encode("utf-8", "surrogatepass"))
        if request.method == "GET" and not request.body:
            return key
        return xxhash.xxh3_128_digest(b"\0".join((request.method.encode(), key, request.body)))
