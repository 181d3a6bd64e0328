"""Promote near-duplicates and parts that turn out to say something else outside boilerplate.

What is boilerplate of a host is known after some pages. Until then, pages on one template that
nothing names are near-duplicates of the first of them, or parts of it. They are judged once more
when a later one is kept beside that page, and before the crawl ends if blocks of their host have
become boilerplate. The tables tell which pages these are, so that a killed process loses no note
of them.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from crawler.pages import live_parameters
from crawler.pages.promotion import Promoted
from crawler.pages.stored_texts import unpack_judged
from crawler.pages.verdicts import INEXACT, SAME_TEMPLATE, listed
from crawler.pages.wall_clusters import host_of
from neardup.boilerplate import RestComparison

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.pages.boilerplate import CountedBoilerplate
    from crawler.pages.capture import Archivist
    from crawler.pages.page_context import Captured
    from crawler.pages.page_row import PageRow

BATCH = 8
"""Compare at most this many pages with their originals after each capture, 0.4 ms each."""

LAST_BATCH = 64
"""Compare at most this many pages with their originals at once while nothing is fetched."""

MAX_JUDGED = 100_000
"""Remember at most this many originals whose near-duplicates were judged again."""

_NEXT_ORIGINAL = f"""
SELECT min(duplicate_of) FROM pages WHERE duplicate_of > ? AND verdict IN ({listed(INEXACT)})
"""
_SIBLINGS = f"""
SELECT pages.id, pages.url FROM pages JOIN near_texts ON near_texts.page = pages.id
WHERE duplicate_of = ? AND latest = 1 AND verdict IN ({listed(INEXACT)}) AND pages.id > ?
ORDER BY pages.id LIMIT {LAST_BATCH}
"""


class SiblingPromotion:
    """Judges near-duplicates of one crawl again, some at a time; in a fleet it does nothing.

    While the crawl lasts, those of an original are judged again once; before it ends, those of
    hosts whose boilerplate has grown since. So a page costs at most two comparisons in a run.

    Args:
        archivist: Captures the pages and counts their blocks.
    """

    def __init__(self, archivist: Archivist) -> None:
        self._archivist = archivist
        self._store = archivist.store
        self._promotion = archivist.promotion
        self._waiting: dict[int, None] = {}
        self._judged: set[int] = set()
        self._min_similarities: dict[int, float] = {}
        self._work: Iterator[Captured | None] | None = None
        self._is_last = False

    @property
    def _boilerplate(self) -> CountedBoilerplate | None:
        is_on = self._archivist.deduplicator.parameters.ignore_boilerplate
        return self._archivist.boilerplate if is_on else None

    def note(self, captured: Captured) -> None:
        """Have the near-duplicates of an original judged again if a page is kept beside it."""
        row, boilerplate = captured.row, self._boilerplate
        original = row.resembles if row.verdict == SAME_TEMPLATE else None
        if original is None or original in self._judged or boilerplate is None:
            return
        if boilerplate.blocks(host_of(row.url)) is not None:
            if len(self._judged) >= MAX_JUDGED:
                self._judged.clear()
            self._judged.add(original)
            self._waiting[original] = None

    def judge_some(self) -> list[Captured]:
        """Judge some near-duplicates of the originals that were noted; return those kept now."""
        if self._work is None and self._waiting:
            self._work = self._judge_noted()
        return self._go_on(BATCH)

    def judge_last(self) -> list[Captured] | None:
        """Judge some of those that are left before the crawl ends; return those kept now.

        Call it until it returns None: then none are left.
        """
        if not self._is_last:
            if self._boilerplate is None or not self._boilerplate.has_grown():
                return None
            self._waiting.clear()  # they are among all
            self._work, self._is_last = self._judge_all(self._boilerplate), True
        return self._go_on(LAST_BATCH)

    def _go_on(self, most: int) -> list[Captured]:
        if self._work is None:
            return []
        done = list(islice(self._work, most))
        if len(done) < most:
            self._work, self._is_last = None, False
        found = [captured for captured in done if captured is not None]
        if found and self._boilerplate is not None:
            # In one transaction with them, so that a killed process counts none of them twice.
            self._boilerplate.save(self._store.database)
        return found

    def _judge_noted(self) -> Iterator[Captured | None]:
        while self._waiting:
            original = next(iter(self._waiting))
            del self._waiting[original]
            yield from self._judge_siblings(original, is_noted=True)

    def _judge_all(self, boilerplate: CountedBoilerplate) -> Iterator[Captured | None]:
        boilerplate.begin_judging()
        original = 0
        while original := self._original_after(original):
            yield from self._judge_siblings(original, is_noted=False)
        boilerplate.note_judged()
        boilerplate.save(self._store.database)

    def _original_after(self, page_id: int) -> int:
        """Return the next original of duplicates, 0 behind the last."""
        row = self._store.database.read(_NEXT_ORIGINAL, (page_id,)).fetchone()
        return row[0] or 0

    def _judge_siblings(self, original: int, *, is_noted: bool) -> Iterator[Captured | None]:
        """Yield a value for each near-duplicate of an original: the page if it is kept now."""
        kept, comparison, last = self._store.get(original), None, 0
        while siblings := self._store.database.read(_SIBLINGS, (original, last)).fetchall():
            for last, url in siblings:
                boilerplate = self._boilerplate
                if kept is None or kept.text is None or boilerplate is None:
                    return
                if not (is_noted or boilerplate.has_grown(url) or boilerplate.has_grown(kept.url)):
                    yield None
                    continue
                if comparison is None:
                    parameters = self._archivist.deduplicator.parameters
                    blocks = boilerplate.blocks(host_of(kept.url))
                    comparison = RestComparison(unpack_judged(kept.text), blocks, parameters)
                yield self._judge(last, kept, comparison, boilerplate)

    def _min_similarity(self, row: PageRow) -> float:
        """Return the similarity by which a page was dropped; later pages may ask for another."""
        number, tuned = row.parameters, self._archivist.tuned
        if number is not None and number not in self._min_similarities:
            history = live_parameters.history(self._store.database.read)
            self._min_similarities = {one.id: one.parameters.min_similarity for one in history}
        return self._min_similarities.get(number or tuned.id, tuned.parameters.min_similarity)

    def _judge(
        self,
        page_id: int,
        kept: PageRow,
        comparison: RestComparison,
        boilerplate: CountedBoilerplate,
    ) -> Captured | None:
        row, stored = self._store.get(page_id), self._store.near_text(page_id)
        if row is None or stored is None:  # its page was fetched again since
            return None
        text = unpack_judged(stored.text)
        shared = comparison.shared_with(text, boilerplate.blocks(host_of(row.url)))
        if shared >= self._min_similarity(row):
            return None
        confirmed = self._promotion.confirm(row)
        if not isinstance(confirmed, Promoted):
            return None
        promoted = confirmed.row
        boilerplate.note_promoted(promoted, text, kept.url)
        return self._archivist.captured_of(promoted, promoted.verdict, (), nofollow=False)
