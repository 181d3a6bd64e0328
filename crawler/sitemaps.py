"""The addresses in a sitemap, whatever arrives under its name."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lxml.etree import LxmlError
from scrapy.utils.gz import gunzip
from scrapy.utils.sitemap import Sitemap

from crawler.reading.links import resolve

if TYPE_CHECKING:
    from collections.abc import Iterator

_GZIP_MAGIC = b"\x1f\x8b"


@dataclass(frozen=True, slots=True)
class SitemapContent:
    """What a sitemap lists: pages, or where ``is_index`` further sitemaps."""

    is_index: bool
    locations: tuple[str, ...]

    def urls(self, base: str) -> Iterator[str]:
        """The locations that lead to http and https, absolute; the others are left out."""
        for location in self.locations:
            try:
                url = resolve(base, location)
            except ValueError:
                continue
            if url is not None:
                yield url


def read_sitemap(body: bytes, max_bytes: int) -> SitemapContent | None:
    """Read a sitemap, gzipped or not; None for what is none.

    Args:
        body: The file as it came.
        max_bytes: Give up where it is larger when decompressed.
    """
    try:
        if body.startswith(_GZIP_MAGIC):
            body = gunzip(body, max_size=max_bytes)
        if b"<" not in body:
            return None
        sitemap = Sitemap(body)
        locations = tuple(str(entry["loc"]).strip() for entry in sitemap if entry.get("loc"))
    except (OSError, EOFError, ValueError, zlib.error, LxmlError, StopIteration):
        return None
    return SitemapContent(sitemap.type == "sitemapindex", locations)
