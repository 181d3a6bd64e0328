"""Define the input and the result of a capture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from crawler.pages.verdicts import DUPLICATES

if TYPE_CHECKING:
    from crawler.pages.page_row import PageRow
    from crawler.reading.reading import Link


@dataclass(frozen=True, slots=True)
class Fetched:
    """An answer of a server, without any object of Scrapy."""

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
    """Ids of captures of the same page under another name, which never are its originals."""
    is_cut: bool = False
    """Whether the body is known to be only a part of the page."""


class Validators(NamedTuple):
    """The validators by which a server recognises a version of a page."""

    etag: str | None
    last_modified: str | None


@dataclass(frozen=True, slots=True)
class Captured:
    """The result of a capture: the stored row, and the links of the page."""

    row: PageRow
    verdict: str
    links: tuple[Link, ...] = ()
    nofollow: bool = False
    kept_url: str | None = None

    @property
    def is_duplicate(self) -> bool:
        """Whether another page holds the text of this one, also if it is unchanged."""
        return self.row.verdict in DUPLICATES
