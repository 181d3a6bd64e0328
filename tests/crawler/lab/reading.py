"""Sources read to their end."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crawler.lab.crawl_source import CrawlSource, LabPage, Sources


def read_all(source: CrawlSource | Sources) -> list[LabPage]:
    """Everything that is there now."""
    found: list[LabPage] = []
    while pages := source.read_new():
        found += pages
    return found


def texts_of(source: CrawlSource | Sources, pages: list[LabPage]) -> list[str | None]:
    """What pages say."""
    return list(source.texts([page.id for page in pages]))


def paths_of(pages: list[LabPage]) -> list[str]:
    """The last parts of the URLs."""
    return [page.url.rpartition("/")[2] for page in pages]
