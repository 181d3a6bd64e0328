"""Ask the fleet for the verdict on a page where the pages of this crawl do not decide."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from crawler.pages.judge import FleetQuestion
from crawler.pages.page_context import find_original
from crawler.pages.page_row import OriginalPage
from crawler.pages.verdicts import EXACT_DUPLICATE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawler.pages.judge import Judge
    from crawler.pages.page_context import PageContext
    from crawler.pages.page_row import PageRow
    from crawler.pages.promotion import Promoted
    from crawler.pages.shared_verdicts import PageVerdict, SharedVerdicts
    from neardup import Document

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
class FleetJudge:
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

    async def decide(
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
        fleet_verdict: PageVerdict | None = None
        # While the fleet thinks, another request may have captured this very page.
        while (question := self._question(described, known)) is not asked:
            fleet_verdict = None if question is None else await self._ask(question, described)
            asked = question
        return known if asked is None and _is_found(page, known) else fleet_verdict

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


def original_of(
    page: PageContext, fleet_verdict: PageVerdict | None
) -> PageRow | OriginalPage | None:
    """Return the kept page with the same bytes, from here or from another crawl, or None."""
    if fleet_verdict is not None and fleet_verdict.verdict.kind == EXACT_DUPLICATE:
        return fleet_verdict.original
    return find_original(page)
