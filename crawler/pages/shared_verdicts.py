"""Verdicts that many crawls make together: what a crawl asks of whoever knows all their texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from crawler.pages.page_row import PageRow
    from neardup import Document, Parameters, Verdict


@dataclass(frozen=True, slots=True)
class OriginalPage:
    """A kept page, whichever crawl directory has it; names as in ``PageRow``.

    Attributes:
        text_digest: Of the text that it was kept with; None for a file that is no page.
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
        """What a row says of it."""
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
    """A verdict, and the page that it names; None where it names none.

    The number that the verdict has for that page means nothing to a crawl.
    """

    verdict: Verdict
    original: OriginalPage | None = None


class SharedVerdicts(Protocol):
    """Decides for many crawls at once; asked twice, for a lost answer, it says the same again.

    A page is named by its owner: its own key, or that of the page of which it is a part. It is
    never a duplicate of what it said itself. The page told with it is what others learn of it
    where they are its duplicates.
    """

    def tune(self, parameters: Parameters) -> None:
        """Judge by other parameters from now on."""

    async def find_payload(self, digest: bytes, owner: bytes) -> PageVerdict | None:
        """The kept page that was read from these bytes, another one than the owner."""

    async def claim_file(
        self, digest: bytes, owner: bytes, page: OriginalPage
    ) -> PageVerdict | None:
        """Keep a file that is no page; where another has its bytes already, say which one."""

    async def judge(
        self, owner: bytes, document: Document, page: OriginalPage, *, keeps: bool = False
    ) -> PageVerdict:
        """Decide on a text, and keep it where it repeats none.

        Args:
            owner: The page.
            document: Its text.
            page: What is to be known of it where it is kept.
            keeps: It is kept without asking: a duplicate that was promoted.
        """
