"""The addresses in a sitemap, whatever arrives under its name."""

from __future__ import annotations

from dataclasses import dataclass

from lxml.etree import LxmlError
from scrapy.utils.gz import gunzip
from scrapy.utils.sitemap import Sitemap

_GZIP_MAGIC = b"\x1f\x8b"


@dataclass(frozen=True, slots=True)
class SitemapContent:
    """What a sitemap lists: pages, or where ``is_index`` further sitemaps."""

    is_index: bool
    locations: tuple[str, ...]


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
    except (OSError, ValueError, LxmlError, StopIteration):
        return None
    return SitemapContent(sitemap.type == "sitemapindex", locations)
