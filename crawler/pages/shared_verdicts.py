"""Define the deduplicator that many crawls share, and store which originals they have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

from crawler.pages.page_row import url_of
from crawler.pages.reasons import Reason, detail_of
from crawler.pages.verdicts import DUPLICATES, NOT_HTML

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from crawler.pages.page_row import OriginalPage, PageRow
    from crawler.pages.page_store import PageStore
    from crawler.storage.database import Database
    from neardup import Document, Parameters, Verdict


class FleetOriginals:
    """Remembers the original of each duplicate that another crawl of the fleet keeps."""

    def __init__(self, database: Database, store: PageStore) -> None:
        self._database = database
        self._store = store

    def name(self, row: PageRow, original: OriginalPage) -> None:
        """Store the original of a duplicate: by its id if it is here, else in the table."""
        here = self._store.previous(original.key)
        if here is not None and _holds(here, original, row):
            row.duplicate_of = here.id
            return
        self._database.write(
            "INSERT INTO elsewhere VALUES (?, ?, ?, ?)",
            (row.id, original.key, original.url, original.text_digest),
        )

    def name_kept(
        self, row: PageRow, fleet_verdict: PageVerdict | None
    ) -> PageRow | OriginalPage | None:
        """Name the original of a duplicate if another crawl has it; return the original."""
        if row.duplicate_of is not None:
            return self._store.get(row.duplicate_of)
        if fleet_verdict is None or fleet_verdict.original is None or row.verdict not in DUPLICATES:
            return None
        self.name(row, fleet_verdict.original)
        return fleet_verdict.original

    def resolve(self, row: PageRow) -> None:
        """Set the id of a kept page in the rows of duplicates that were stored before it.

        If two equal pages are asked about at the same time, the answer on the second may come
        first.
        """
        is_file = row.verdict == NOT_HTML
        found = self._database.read(
            "SELECT page FROM elsewhere WHERE key = ? AND text_digest IS ?",
            (row.key, row.text_digest),
        ).fetchall()
        for duplicate in filter(None, (self._store.get(page) for (page,) in found)):
            if is_file and duplicate.payload_digest != row.payload_digest:
                continue
            duplicate.duplicate_of = row.id
            self._store.store_verdict(duplicate)
            self._database.write("DELETE FROM elsewhere WHERE page = ?", (duplicate.id,))

    def kept_url(self, row: PageRow) -> str | None:
        """Return the URL of a duplicate's original, here or elsewhere, or None."""
        if row.duplicate_of is not None:
            return url_of(self._database.read, row.duplicate_of)
        if row.verdict not in DUPLICATES:
            return None
        return self._database.value("SELECT url FROM elsewhere WHERE page = ?", (row.id,))

    def resembled_here(self, resembled: OriginalPage | None) -> int | None:
        """Return the id of the kept page that a text resembles, or None if it is not here."""
        here = None if resembled is None else self._store.previous(resembled.key)
        if here is None or resembled is None or here.text is None:
            return None
        return here.id if here.text_digest == resembled.text_digest else None

    def resembled_url(self, row: PageRow) -> str | None:
        """Return the URL of the page of another name that a page resembles, or None."""
        if row.resembles is not None:
            return url_of(self._database.read, row.resembles)
        return detail_of(row.reason, Reason.RESEMBLES)


def _holds(here: PageRow, original: OriginalPage, row: PageRow) -> bool:
    if original.text_digest is None:
        return here.verdict == NOT_HTML and here.payload_digest == row.payload_digest
    return here.text is not None and here.text_digest == original.text_digest


@dataclass(frozen=True, slots=True)
class PageVerdict:
    """A verdict with the pages that it names; None where it names none.

    The ids in the verdict mean nothing to a crawl.

    Attributes:
        original: The kept page that the text repeats.
        resembled: The kept page of another name that the text resembles.
    """

    verdict: Verdict
    original: OriginalPage | None = None
    resembled: OriginalPage | None = None


class FleetKeptText(NamedTuple):
    """A text that a fleet keeps, and its page.

    Attributes:
        original: The page.
        text: As ``StoredText.text``.
        content: Fetches what is shown of the page, as ``StoredText.content``; None: the fleet does
            not have it.
    """

    original: OriginalPage
    text: bytes
    content: Callable[[], Awaitable[bytes | None]]


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
        self,
        owner: bytes,
        document: Document,
        page: OriginalPage,
        content: bytes,
        *,
        keeps: bool = False,
    ) -> PageVerdict:
        """Judge a text, and keep it if it repeats none.

        Args:
            owner: Key of the owner.
            document: Text of the page.
            page: Facts of the page for other crawls, stored if it is kept.
            content: What is shown of the page, as ``StoredText.content``, stored likewise.
            keeps: Whether it is kept without a judgement: a promoted duplicate.
        """
