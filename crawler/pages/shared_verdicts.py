"""Define verdicts that many crawls make together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from crawler.pages.page_row import PageRow
    from neardup import Document, Parameters, Verdict


@dataclass(frozen=True, slots=True)
class OriginalPage:
    """A kept page of any crawl directory; the names are those of ``PageRow``.

    Attributes:
        text_digest: Digest of its kept text, or None for a file that is no page.
    """

    key: bytes
    url: str
    canonical_url: str
    depth: int
    visit: int
    fetched_at: float
    words: int | None
    is_main: int | None
    text_digest: bytes | None
    visible_digest: bytes | None
    words_digest: bytes | None
    fingerprint: int | None

    @classmethod
    def of(cls, row: PageRow) -> OriginalPage:
        """Return the facts of a row."""
        return cls(
            key=row.key,
            url=row.url,
            canonical_url=row.canonical_url,
            depth=row.depth,
            visit=row.visit,
            fetched_at=row.fetched_at,
            words=row.words,
            is_main=row.is_main,
            text_digest=row.text_digest,
            visible_digest=row.visible_digest,
            words_digest=row.words_digest,
            fingerprint=row.fingerprint,
        )


@dataclass(frozen=True, slots=True)
class PageVerdict:
    """A verdict with the page that it names, or None if it names none.

    The id in the verdict means nothing to a crawl.
    """

    verdict: Verdict
    original: OriginalPage | None = None


class FleetKeptText(NamedTuple):
    """A text that a fleet keeps, zstd, and its page."""

    original: OriginalPage
    text: bytes


class SharedVerdicts(Protocol):
    """Decides for many crawls at once, and answers a repeated question as before.

    A page is named by its owner: its own key, or that of the page that it is a part of. It is never
    a duplicate of its own earlier text. The page given with it is stored for the crawls that have
    its duplicates.
    """

    def tune(self, parameters: Parameters) -> None:
        """Judge by other parameters from now on."""

    async def find_payload(self, digest: bytes, owner: bytes) -> PageVerdict | None:
        """Return the kept page that was read from these bytes, unless it is the owner's."""

    async def claim_file(
        self, digest: bytes, owner: bytes, page: OriginalPage
    ) -> PageVerdict | None:
        """Keep a file that is no page, or return the one that has its bytes already."""

    async def judge(
        self, owner: bytes, document: Document, page: OriginalPage, *, keeps: bool = False
    ) -> PageVerdict:
        """Judge a text, and keep it if it repeats none.

        Args:
            owner: Key of the owner.
            document: Text of the page.
            page: Facts of the page for other crawls, stored if it is kept.
            keeps: Whether it is kept without a judgement: a promoted duplicate.
        """
