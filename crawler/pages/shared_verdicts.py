"""Define the deduplicator that many crawls share, ask it, and store which originals they have."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Protocol

from crawler.pages.judge import FleetQuestion
from crawler.pages.page_context import find_original
from crawler.pages.page_row import OriginalPage
from crawler.pages.reasons import Reason, detail_of
from crawler.pages.verdicts import DUPLICATES, EXACT_DUPLICATE, NOT_HTML

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from crawler.pages.judge import Judge
    from crawler.pages.page_context import PageContext
    from crawler.pages.page_row import PageRow
    from crawler.pages.page_store import PageStore
    from crawler.pages.promotion import Promoted
    from crawler.storage.database import Database
    from neardup import Document, Parameters, Verdict


class Elsewhere:
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

    def name_kept(self, row: PageRow, said: PageVerdict | None) -> PageRow | OriginalPage | None:
        """Name the original of a duplicate if another crawl has it; return the original."""
        if row.duplicate_of is not None:
            return self._store.get(row.duplicate_of)
        if said is None or said.original is None or row.verdict not in DUPLICATES:
            return None
        self.name(row, said.original)
        return said.original

    def take_home(self, row: PageRow) -> None:
        """Set the id of a kept page in the rows of duplicates that were stored before it.

        If two equal pages are asked about at the same time, the answer on the second may come
        first.
        """
        is_file = row.verdict == NOT_HTML
        found = self._database.read(
            "SELECT page FROM elsewhere JOIN pages ON pages.id = page"
            " WHERE elsewhere.key = ?1 AND elsewhere.text_digest IS ?2"
            " AND (NOT ?3 OR pages.payload_digest = ?4)",
            (row.key, row.text_digest, is_file, row.payload_digest),
        ).fetchall()
        for (page,) in found:
            duplicate = self._store.get(page)
            assert duplicate is not None
            duplicate.duplicate_of = row.id
            self._store.store_verdict(duplicate)
            self._database.write("DELETE FROM elsewhere WHERE page = ?", (page,))

    def kept_url(self, row: PageRow) -> str | None:
        """Return the URL of a duplicate's original, here or elsewhere, or None."""
        if row.duplicate_of is not None:
            return self._store.url(row.duplicate_of)
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
            return self._store.url(row.resembles)
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


_MIN_COPIES = 0.05
"""Ask for the bytes before a page is read while the share of copies is above this.

By estimate a question costs a twentieth of what reading a page costs; the one for its text names
the bytes too.
"""

_COPIES_OVER = 64
"""The number of pages over which copies are counted, the last ones most."""


@dataclass(frozen=True)
class _Described:
    """A page with the row and the text of which the fleet is asked, made once."""

    page: PageContext
    judge: Judge
    visit: int

    @cached_property
    def row_and_text(self) -> tuple[PageRow, Document | None]:
        row = self.page.row(0, self.visit)
        return row, self.judge.describe(row, self.page)


@dataclass(slots=True)
class Asking:
    """Asks the fleet for a verdict if the pages of this crawl do not decide.

    The fleet keeps every page that this crawl keeps: those need no question.
    """

    shared: SharedVerdicts
    judge: Judge
    _copies: float = field(default=1.0, init=False)
    """The share of copies among the last pages that the fleet decided, 0 to 1; at first 1."""

    async def payload(self, page: PageContext, *, may_be_shown: bool) -> PageVerdict | None:
        """Return the page of another crawl that has the same bytes; None: read the page.

        It is not asked for where copies are rare: the question for the text finds it, too.

        Args:
            page: The page, not read yet.
            may_be_shown: Whether a browser may show it, which costs far more than a question.
        """
        is_asked = may_be_shown or self._copies > _MIN_COPIES
        return await self._find_copy(page) if is_asked else None

    async def _find_copy(self, page: PageContext) -> PageVerdict | None:
        is_new = bool(page.fetched.body) and page.previous is None
        if not is_new or page.original is not None:
            return None
        found = await self.shared.find_payload(page.payload, _owner(page))
        if found is not None:
            self._count_copy(is_copy=True)
        return found

    def _count_copy(self, *, is_copy: bool) -> None:
        self._copies += (is_copy - self._copies) / _COPIES_OVER

    async def settle(
        self, page: PageContext, visit: int, known: PageVerdict | None
    ) -> PageVerdict | None:
        """Return the fleet's verdict on a page, to be stored without a further ``await``.

        Args:
            page: The page.
            visit: Number of the visit of this crawl.
            known: Result of ``payload`` for the page.

        Returns:
            The verdict, or None if the pages of this crawl decide.
        """
        if known is None and page.reading.failure is not None:
            known = await self._find_copy(page)  # it may have been read there
        described = _Described(page, self.judge, visit)
        asked: FleetQuestion | None = None
        said: PageVerdict | None = None
        # While the fleet thinks, another request may have captured this very page.
        while (question := self._question(described, known)) is not asked:
            said = None if question is None else await self._ask(question, described)
            asked = question
        return known if asked is None and _is_found(page, known) else said

    async def tell(self, promoted: Iterable[Promoted]) -> None:
        """Report pages as kept that the fleet had recorded as duplicates."""
        for row, document in promoted:
            stored, about = row.stored_text, OriginalPage.of(row)
            assert stored is not None
            await self.shared.judge(row.key, document, about, stored.content, keeps=True)

    def _question(self, described: _Described, known: PageVerdict | None) -> FleetQuestion | None:
        page = described.page
        if page.reading.failure is not None or self._is_decided(page):
            return None
        if page.reading.not_html is not None:
            is_new_file = bool(page.fetched.body) and page.previous is None
            return FleetQuestion.FILE if is_new_file else None
        if _is_found(page, known):
            return None
        row, document = described.row_and_text
        return None if document is None else self.judge.question(row, page, document)

    def _is_decided(self, page: PageContext) -> bool:
        if self.judge.is_unchanged(page) or page.asks_not_to_be_kept:
            return True
        return find_original(page) is not None

    async def _ask(self, question: FleetQuestion, described: _Described) -> PageVerdict | None:
        page, (row, document) = described.page, described.row_and_text
        if question is FleetQuestion.FILE:
            return await self.shared.claim_file(page.payload, _owner(page), OriginalPage.of(row))
        stored = page.reading.stored_text
        assert document is not None
        assert stored is not None
        document = replace(document, payload=page.payload if page.fetched.body else None)
        about = OriginalPage.of(row)
        verdict = await self.shared.judge(_owner(page), document, about, stored.content)
        self._count_copy(is_copy=verdict.verdict.kind == EXACT_DUPLICATE)
        return verdict


def _is_found(page: PageContext, known: PageVerdict | None) -> bool:
    """Return whether a page was found by its bytes alone, and no reading contradicts that."""
    return known is not None and page.previous is None and page.reading.not_html is None


def _owner(page: PageContext) -> bytes:
    """Return the key of the text's owner: of several items of one page, the first one's."""
    first = min(page.fetched.apart_from, default=None)
    row = None if first is None else page.store.get(first)
    return page.fetched.key if row is None else row.key


def original_of(page: PageContext, said: PageVerdict | None) -> PageRow | OriginalPage | None:
    """Return the kept page with the same bytes, from here or from another crawl, or None."""
    if said is not None and said.verdict.kind == EXACT_DUPLICATE:
        return said.original
    return find_original(page)
