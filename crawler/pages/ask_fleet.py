"""Ask the fleet about a page if this crawl cannot decide alone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from crawler.pages.judge import FleetQuestion
from crawler.pages.page_context import find_original
from crawler.pages.page_row import OriginalPage

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawler.pages.judge import Judge
    from crawler.pages.page_context import PageContext
    from crawler.pages.promotion import Promoted
    from crawler.pages.shared_verdicts import PageVerdict, SharedVerdicts


@dataclass(frozen=True, slots=True)
class Asking:
    """Asks the fleet for a verdict if the pages of this crawl do not decide.

    The fleet keeps every page that this crawl keeps: those need no question.
    """

    shared: SharedVerdicts
    judge: Judge

    async def payload(self, page: PageContext) -> PageVerdict | None:
        """Return the page of another crawl that has the same bytes, or None."""
        is_new = bool(page.fetched.body) and page.previous is None
        if not is_new or page.store.find_payload(page.payload) is not None:
            return None
        return await self.shared.find_payload(page.payload, _owner(page))

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
        asked: FleetQuestion | None = None
        said: PageVerdict | None = None
        # While the fleet thinks, another request may have captured this very page.
        while (question := self._question(page, known)) is not asked:
            said = None if question is None else await self._ask(question, page, visit)
            asked = question
        return known if asked is None and _is_found(page, known) else said

    async def tell(self, promoted: Iterable[Promoted]) -> None:
        """Report pages as kept that the fleet had recorded as duplicates."""
        for row, document in promoted:
            stored, about = row.stored_text, OriginalPage.of(row)
            assert stored is not None
            await self.shared.judge(row.key, document, about, stored.content, keeps=True)

    def _question(self, page: PageContext, known: PageVerdict | None) -> FleetQuestion | None:
        if page.reading.failure is not None or self._is_decided(page):
            return None
        if page.reading.not_html is not None:
            is_new_file = bool(page.fetched.body) and page.previous is None
            return FleetQuestion.FILE if is_new_file else None
        if _is_found(page, known):
            return None
        row = page.row(0, 0)
        document = self.judge.describe(row, page)
        return None if document is None else self.judge.question(row, page, document)

    def _is_decided(self, page: PageContext) -> bool:
        if self.judge.is_unchanged(page) or page.asks_not_to_be_kept:
            return True
        return find_original(page) is not None

    async def _ask(
        self, question: FleetQuestion, page: PageContext, visit: int
    ) -> PageVerdict | None:
        row = page.row(0, visit)
        if question is FleetQuestion.FILE:
            return await self.shared.claim_file(page.payload, _owner(page), OriginalPage.of(row))
        document, stored = self.judge.describe(row, page), page.reading.stored_text
        assert document is not None
        assert stored is not None
        document = replace(document, payload=page.payload if page.fetched.body else None)
        about = OriginalPage.of(row)
        return await self.shared.judge(_owner(page), document, about, stored.content)


def _is_found(page: PageContext, known: PageVerdict | None) -> bool:
    """Return whether a page was found by its bytes alone, and no reading contradicts that."""
    return known is not None and page.previous is None and page.reading.not_html is None


def _owner(page: PageContext) -> bytes:
    """Return the key of the text's owner: of several items of one page, the first one's."""
    first = min(page.fetched.apart_from, default=None)
    row = None if first is None else page.store.get(first)
    return page.fetched.key if row is None else row.key
