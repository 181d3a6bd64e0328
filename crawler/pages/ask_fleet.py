"""Ask the fleet about an answer if this crawl cannot decide alone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from crawler.pages.judge import FleetQuestion
from crawler.pages.shared_verdicts import OriginalPage

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawler.pages.answer import Answer
    from crawler.pages.fetched import Fetched
    from crawler.pages.judge import Judge
    from crawler.pages.known_content import KnownContent
    from crawler.pages.page_row import PageRow
    from crawler.pages.promotion import Promoted
    from crawler.pages.shared_verdicts import PageVerdict, SharedVerdicts


@dataclass(frozen=True, slots=True)
class Asking:
    """Asks the fleet for a verdict if the pages of this crawl do not decide.

    The fleet keeps every page that this crawl keeps: those need no question.
    """

    shared: SharedVerdicts
    held: KnownContent
    judge: Judge

    async def payload(self, fetched: Fetched, digest: bytes) -> PageVerdict | None:
        """Return the page of another crawl that has the same bytes, or None."""
        store = self.held.store
        is_new = bool(fetched.body) and store.previous(fetched.key) is None
        if not is_new or store.find_payload(digest) is not None:
            return None
        return await self.shared.find_payload(digest, self._owner(fetched))

    async def settle(
        self, answer: Answer, visit: int, known: PageVerdict | None
    ) -> PageVerdict | None:
        """Return the fleet's verdict on an answer, to be stored without a further ``await``.

        Args:
            answer: The answer.
            visit: Number of the visit of this crawl.
            known: Result of ``payload`` for the answer.

        Returns:
            The verdict, or None if the pages of this crawl decide.
        """
        asked: FleetQuestion | None = None
        said: PageVerdict | None = None
        # While the fleet thinks, another request may have captured this very page.
        while (question := self._question(answer, known)) is not asked:
            said = None if question is None else await self._ask(question, answer, visit)
            asked = question
        return known if asked is None and self._does(answer, known) else said

    async def tell(self, promoted: Iterable[Promoted]) -> None:
        """Report pages as kept that the fleet had recorded as duplicates."""
        for row, document in promoted:
            await self.shared.judge(row.key, document, OriginalPage.of(row), keeps=True)

    def _does(self, answer: Answer, known: PageVerdict | None) -> bool:
        """Return whether a page was found by its bytes alone, and no reading contradicts that."""
        is_new = self.held.store.previous(answer.fetched.key) is None
        return known is not None and is_new and answer.reading.not_html is None

    def _question(self, answer: Answer, known: PageVerdict | None) -> FleetQuestion | None:
        """Return the question to ask, or None if there is none."""
        previous = self.held.store.previous(answer.fetched.key)
        if answer.reading.failure is not None or self._is_decided(previous, answer):
            return None
        if answer.reading.not_html is not None:
            return FleetQuestion.FILE if answer.fetched.body and previous is None else None
        if self._does(answer, known):
            return None
        row = answer.row(0, 0)
        document = answer.described(row, previous, self.judge.min_words)
        if document is None:
            return None
        return self.judge.question(row, previous, document, answer.fetched.apart_from)

    def _is_decided(self, previous: PageRow | None, answer: Answer) -> bool:
        held = self.held
        if held.is_unchanged(previous, answer) or held.asks(answer):
            return True
        return held.original(previous, answer) is not None

    async def _ask(self, question: FleetQuestion, answer: Answer, visit: int) -> PageVerdict | None:
        row, owner = answer.row(0, visit), self._owner(answer.fetched)
        if question is FleetQuestion.FILE:
            return await self.shared.claim_file(answer.payload, owner, OriginalPage.of(row))
        previous = self.held.store.previous(answer.fetched.key)
        document = answer.described(row, previous, self.judge.min_words)
        assert document is not None
        document = replace(document, payload=answer.payload if answer.fetched.body else None)
        return await self.shared.judge(owner, document, OriginalPage.of(row))

    def _owner(self, fetched: Fetched) -> bytes:
        """Return the key of the text's owner: of several items of one page, the first one's."""
        first = min(fetched.apart_from, default=None)
        page = None if first is None else self.held.store.get(first)
        return fetched.key if page is None else page.key
