"""What goes into a capture and what comes out of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from crawler.pages.verdicts import DUPLICATES

if TYPE_CHECKING:
    from crawler.pages.page_row import PageRow
    from crawler.reading.reading import Link


@dataclass(frozen=True, slots=True)
class Fetched:
    """An answer of a server, without anything of Scrapy's."""

    url: str
    canonical_url: str
    key: bytes
    depth: int
    status: int
    body: bytes
    content_type: str | None = None
    etag: str | None = None
    last_modified: str | None = None
    robots: frozenset[str] = frozenset()
    apart_from: frozenset[int] = frozenset()
    """Captures of this very thing under another name, of which it is no duplicate."""
    is_cut: bool = False
    """Whether the body is known to be a part of the page only."""


class Validators(NamedTuple):
    """What a server gave to recognise a version of a page by."""

    etag: str | None
    last_modified: str | None


@dataclass(frozen=True, slots=True)
class Captured:
    """What became of an answer: the stored row, and where the page leads."""

    row: PageRow
    verdict: str
    links: tuple[Link, ...] = ()
    nofollow: bool = False
    kept_url: str | None = None

    @property
    def is_duplicate(self) -> bool:
        """Whether another page holds what this one says, also where it is unchanged."""
        return self.row.verdict in DUPLICATES
