"""Promote duplicates of a page that has changed, and those that say something else after all.

What is boilerplate of a host is known after some pages. Until then, pages on one template that
nothing names are near-duplicates of the first of them, or parts of it. They are judged once more
when a later one is kept beside that page, and before the crawl ends if blocks of their host have
become boilerplate. The tables tell which pages these are, so that a killed process loses no note
of them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from crawler.pages import live_parameters
from crawler.pages.stored_texts import document_of, unpack_judged
from crawler.pages.verdicts import EXACT_DUPLICATE, INEXACT, SAME_TEMPLATE, TEXT_DUPLICATE, listed
from crawler.pages.wall_clusters import host_of
from neardup import Verdict
from neardup.boilerplate import RestComparison

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from crawler.pages.boilerplate import CountedBoilerplate
    from crawler.pages.page_context import Captured
    from crawler.pages.page_row import PageRow
    from crawler.pages.page_store import PageStore
    from neardup import Deduplicator, Document


class Promoted(NamedTuple):
    """A duplicate that is kept from now on, with its text."""

    row: PageRow
    document: Document


# One duplicate for each text of known digest: one that has it beside it, if any has.
_DUPLICATES = """
SELECT coalesce(min(near_texts.page), min(pages.id))
FROM pages LEFT JOIN near_texts ON near_texts.page = pages.id
WHERE duplicate_of = ? AND latest = 1 AND text_digest IS NOT NULL
GROUP BY text_digest ORDER BY text_digest IS NOT ?, min(pages.id)
"""
# As PageRow.take_verdict does; there may be one on each page of a host.
_TAKE_ALL = f"""
UPDATE pages SET duplicate_of = ?, resembles = ?, distance = ?, similarity = ?, part_of = ?,
    containment = ?, parameters = ?,
    verdict = iif(verdict = '{EXACT_DUPLICATE}' AND ?8 = '{TEXT_DUPLICATE}', verdict, ?8)
WHERE duplicate_of = ? AND latest = 1 AND text_digest = ?
"""


@dataclass(slots=True)
class Promotion:
    """Judges the texts of duplicates whose original was superseded.

    The old capture of the original keeps its text (``superseded``) until each of its duplicates has
    been requested, or the visit ends. A duplicate with the same text is judged when it is
    requested; the others are judged once a text when the visit ends. A duplicate that changes as
    well never takes the old text over, so a visit costs one judgement a page.

    Args:
        store: The page store.
        deduplicator: Deduplicator that judges the texts and learns those of promoted duplicates.
        parameters: ``parameters.id`` of the deduplicator's parameters.
        after_promotion: Functions called with the ``pages.id`` of each promoted duplicate, before
            anything is committed.
    """

    store: PageStore
    deduplicator: Deduplicator
    parameters: int
    after_promotion: list[Callable[[int], None]] = field(default_factory=list)

    def confirm(self, row: PageRow) -> PageRow | Promoted:
        """Judge a duplicate that was found unchanged after its original changed.

        Args:
            row: Newest capture of the duplicate; its text is stored somewhere.

        Returns:
            The capture with its new original, or the kept capture that replaces it.
        """
        source = self._source(row)
        assert source is not None
        number, verdict, document = self._judge(row, source)
        if verdict.duplicate_of is None:
            return self._promote(row, number, verdict, source, document)
        row.take_verdict(verdict)
        row.parameters = self.parameters
        self.store.store_verdict(row)
        return row

    def promote_superseded(self, keep_versions: int) -> Iterator[Promoted]:
        """Judge all texts that superseded captures hold for duplicates; yield promoted pages.

        Args:
            keep_versions: Number of texts of a page that are kept, with its newest; 0 keeps all.

        Complexity: O(duplicates), and one judgement for each distinct text.
        """
        moved = []
        superseded = self.store.database.read("SELECT page FROM superseded ORDER BY page")
        for (page_id,) in superseded.fetchall():
            old = self.store.get(page_id)
            if old is not None and not old.latest:
                for replaced, promoted in self._judge_duplicates(old):
                    moved.append((replaced, promoted.row.id))
                    yield promoted
                if keep_versions:
                    self.store.drop_texts(old.key, keep_versions - 1)
            self.store.database.write("DELETE FROM superseded WHERE page = ?", (page_id,))
        if moved:
            self._note_moved(moved)

    def _judge_duplicates(self, old: PageRow) -> Iterator[tuple[int, Promoted]]:
        """Judge each text of the duplicates of one capture, its own one first."""
        found = self.store.database.read(_DUPLICATES, (old.id, old.text_digest)).fetchall()
        for row in filter(None, (self.store.get(page_id) for (page_id,) in found)):
            if (source := self._source(row)) is not None:
                number, verdict, document = self._judge(row, source)
                if verdict.duplicate_of is None:
                    yield row.id, self._promote(row, number, verdict, source, document)
                    verdict = Verdict(TEXT_DUPLICATE, number, distance=0, similarity=1.0)
                self._take_all(old, row.text_digest, verdict)
        if old.text is not None:
            yield from self._promote_unread(old)

    def _take_all(self, old: PageRow, digest: bytes | None, verdict: Verdict) -> None:
        """Give all duplicates of a capture with one text its verdict, in one statement."""
        named = (verdict.duplicate_of, verdict.resembles, verdict.distance, verdict.similarity)
        held = (verdict.part_of, verdict.containment, self.parameters, verdict.kind)
        self.store.database.write(_TAKE_ALL, (*named, *held, old.id, digest))
        self.store.note_changes()

    def _promote_unread(self, old: PageRow) -> Iterator[tuple[int, Promoted]]:
        """Promote the first duplicate without a stored text, with the text of its original.

        If a kept page repeats that text, it becomes the original of all such duplicates, and each
        is read at its next visit.
        """
        database, unread = self.store.database, "duplicate_of = ? AND latest = 1"
        number = database.value(f"SELECT min(id) FROM pages WHERE {unread}", (old.id,))
        first = self.store.get(number or 0)
        if first is None:
            return
        number, verdict, document = self._judge(first, old)
        if verdict.duplicate_of is None:
            first.payload_digest = None
            yield first.id, self._promote(first, number, verdict, old, document)
        original = verdict.duplicate_of
        forgotten = "" if original is None else ", payload_digest = NULL, text_digest = NULL"
        sql = f"UPDATE pages SET duplicate_of = ?{forgotten} WHERE {unread}"
        database.write(sql, (original or number, old.id))
        self.store.note_changes()

    def _source(self, row: PageRow) -> PageRow | None:
        """Return a capture with the text of a duplicate: its own or one with the same text."""
        near = self.store.near_text(row.id)
        if near is not None:
            return replace(row).hold(near)
        return None if row.text_digest is None else self.store.find_by_digest(row.text_digest)

    def _judge(self, row: PageRow, source: PageRow) -> tuple[int, Verdict, Document]:
        """Judge a duplicate, which keeps its name, with the text of a capture."""
        document = document_of(source, self.store.volatile.stable(row.url, row.name))
        number = self.store.new_id()
        return number, self.deduplicator.judge_document(number, document), document

    def _promote(
        self, row: PageRow, number: int, verdict: Verdict, source: PageRow, document: Document
    ) -> Promoted:
        """Replace a duplicate's capture with a kept one."""
        kept = replace(row, id=number, parameters=self.parameters, html=source.html)
        kept.keep(verdict, source, self.deduplicator.parameters.min_words)
        self.store.insert(kept)
        self.store.name_container(kept, verdict.parts)
        self.store.forget(row.id)
        for act in self.after_promotion:
            act(kept.id)
        return Promoted(kept, document)

    def supersede(self, page_id: int) -> bool:
        """Record a capture that is no longer its page's newest, if it has duplicates."""
        noted = self.store.database.write(
            "INSERT OR IGNORE INTO superseded SELECT ?1 WHERE EXISTS"
            " (SELECT 1 FROM pages WHERE duplicate_of = ?1 AND latest = 1)",
            (page_id,),
        )
        return noted.rowcount > 0

    def _note_moved(self, moved: Sequence[tuple[int, int]]) -> None:
        """Update the ids of captures in the groups of the learned URL rules: (old, new).

        Complexity: O(groups), once for all of them.
        """
        self.store.database.flush("url_groups")
        self.store.database.write(
            "UPDATE url_groups SET page = moved.new"
            " FROM (SELECT value ->> 0 AS old, value ->> 1 AS new FROM json_each(?)) AS moved"
            " WHERE url_groups.page = moved.old",
            (json.dumps(moved),),
        )


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
        promotion: Judges them, by the parameters of its deduplicator.
        boilerplate: Counts of blocks of text by host; None in a fleet.
        captured_of: Returns a stored row as a capture, as ``PageProcessor.captured_of`` does.
    """

    def __init__(
        self,
        promotion: Promotion,
        boilerplate: CountedBoilerplate | None,
        captured_of: Callable[..., Captured],
    ) -> None:
        self._promotion = promotion
        self._store = promotion.store
        self.boilerplate = boilerplate
        self._captured_of = captured_of
        self._waiting: dict[int, None] = {}
        self._judged: set[int] = set()
        self._min_similarities: dict[int, float] = {}
        self._work: Iterator[Captured | None] | None = None
        self._is_last = False

    @property
    def _boilerplate(self) -> CountedBoilerplate | None:
        is_on = self._promotion.deduplicator.parameters.ignore_boilerplate
        return self.boilerplate if is_on else None

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
                    parameters = self._promotion.deduplicator.parameters
                    blocks = boilerplate.blocks(host_of(kept.url))
                    comparison = RestComparison(unpack_judged(kept.text), blocks, parameters)
                yield self._judge(last, kept, comparison, boilerplate)

    def _min_similarity(self, row: PageRow) -> float:
        """Return the similarity by which a page was dropped; later pages may ask for another."""
        number, promotion = row.parameters, self._promotion
        if number is not None and number not in self._min_similarities:
            history = live_parameters.history(self._store.database.read)
            self._min_similarities = {one.id: one.parameters.min_similarity for one in history}
        present = promotion.deduplicator.parameters.min_similarity
        return self._min_similarities.get(number or promotion.parameters, present)

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
        return self._captured_of(promoted, promoted.verdict, (), None, nofollow=False)
