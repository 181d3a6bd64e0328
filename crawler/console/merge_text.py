"""What came of making one crawl of many, as people read it on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.maintenance.merge.merging import Merged

_MOST_LOST = 20


def merged_lines(merged: Merged, folder: str) -> Iterator[str]:
    """How much there is, what was there twice, and what is lost."""
    yield f"{folder}: {merged.pages:,} URLs of {merged.directories:,} directories"
    yield ""
    yield f"{merged.kept:>11,}  pages kept"
    yield f"{merged.duplicates:>11,}  duplicates"
    if merged.fetched_twice:
        yield f"{merged.fetched_twice:>11,}  pages that two of the crawls had fetched: there once"
    if merged.heirs:
        yield f"{merged.heirs:>11,}  duplicates of what no crawl has: judged again"
    yield from _lost(merged)
    yield ""
    yield f"scrapy verify {folder} checks it; scrapy report {folder} says more"


def _lost(merged: Merged) -> Iterator[str]:
    if not merged.lost:
        return
    then = "queued, to be fetched again" if merged.queued else "to be fetched again"
    yield f"{len(merged.lost):>11,}  duplicates of which nobody holds the text: {then}"
    for url in merged.lost[:_MOST_LOST]:
        yield f"             {url}"
    if len(merged.lost) > _MOST_LOST:
        yield f"             and {len(merged.lost) - _MOST_LOST:,} more (--json names all)"
