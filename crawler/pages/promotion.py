"""Promote duplicates of a page that has changed, so that no text is lost."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from crawler.pages.stored_texts import document_of
from crawler.pages.verdicts import TEXT_DUPLICATE
from neardup import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from crawler.pages.page_row import PageRow
    from crawler.pages.page_store import PageStore
    from neardup import Deduplicator, Document


class Promoted(NamedTuple):
    """A duplicate that is kept from now on, with its text."""

    row: PageRow
    document: Document


class TextGroup(NamedTuple):
    """Duplicates of one capture with the same text; ``first`` has its text beside it if any has."""

    digest: bytes | None
    first: int


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

    def settle(self, keep_versions: int) -> Iterator[Promoted]:
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
                for replaced, promoted in self._settle(old):
                    moved.append((replaced, promoted.row.id))
                    yield promoted
                if keep_versions:
                    self.store.drop_texts(old.key, keep_versions - 1)
            self.store.database.write("DELETE FROM superseded WHERE page = ?", (page_id,))
        if moved:
            self._note_moved(moved)

    def _settle(self, old: PageRow) -> Iterator[tuple[int, Promoted]]:
        """Judge each text of the duplicates of one capture, its own one first."""
        groups = self._texts_of_duplicates(old.id)
        groups.sort(key=lambda group: (group.digest != old.text_digest, group.first))
        for group in groups:
            first = self.store.get(group.first)
            source = None if first is None else self._source(first)
            if first is not None and source is not None and group.digest is not None:
                number, verdict, document = self._judge(first, source)
                original = verdict.duplicate_of
                if original is None:
                    yield first.id, self._promote(first, number, verdict, source, document)
                    verdict = Verdict(TEXT_DUPLICATE, distance=0, similarity=1.0)
                self.move_duplicates(old.id, original or number, group.digest, verdict)
        if old.text is not None:
            yield from self._settle_unknown(old)

    def _settle_unknown(self, old: PageRow) -> Iterator[tuple[int, Promoted]]:
        """Promote one duplicate without a stored text of its own, with the text of its original.

        If a kept page repeats that text, it becomes the original of all such duplicates, and each
        is read at its next visit.
        """
        groups = self._texts_of_duplicates(old.id)
        first = self.store.get(min(group.first for group in groups)) if groups else None
        if first is None:
            return
        number, verdict, document = self._judge(first, old)
        if verdict.duplicate_of is None:
            first.payload_digest = None
            yield first.id, self._promote(first, number, verdict, old, document)
            self.move_unknown(old.id, number, read_again=False)
        else:
            self.move_unknown(old.id, verdict.duplicate_of, read_again=True)

    def _source(self, row: PageRow) -> PageRow | None:
        """Return a capture with the text of a duplicate: its own or one with the same text."""
        near = self.store.near_text(row.id)
        if near is not None:
            return replace(row).hold(near)
        return None if row.text_digest is None else self.store.find_said(row.text_digest)

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

    def _texts_of_duplicates(self, page_id: int) -> list[TextGroup]:
        """Group the newest captures that are duplicates of a capture by their texts."""
        rows = self.store.database.read(
            "SELECT text_digest, coalesce(min(near_texts.page), min(pages.id)) FROM pages"
            " LEFT JOIN near_texts ON near_texts.page = pages.id"
            " WHERE duplicate_of = ? AND latest = 1 GROUP BY text_digest",
            (page_id,),
        )
        return [TextGroup(*row) for row in rows]

    def move_duplicates(self, old_id: int, new_id: int, digest: bytes, verdict: Verdict) -> None:
        """Set another original for all duplicates of a capture that have a given text."""
        self.store.database.write(
            "UPDATE pages SET duplicate_of = ?1, verdict = CASE WHEN verdict = 'exact_duplicate'"
            " AND ?2 = 'text_duplicate' THEN verdict ELSE ?2 END, distance = ?3, similarity = ?4,"
            " containment = ?5, parameters = ?6"
            " WHERE duplicate_of = ?7 AND latest = 1 AND text_digest = ?8",
            (
                new_id,
                verdict.kind,
                verdict.distance,
                verdict.similarity,
                verdict.containment,
                self.parameters,
                old_id,
                digest,
            ),
        )
        self.store.note_changes()

    def move_unknown(self, old_id: int, new_id: int, *, read_again: bool) -> None:
        """Set another original for all remaining duplicates of a capture.

        With ``read_again`` their digests are cleared, so that each is read at its next visit.
        """
        forget = ", payload_digest = NULL, text_digest = NULL" if read_again else ""
        self.store.database.write(
            f"UPDATE pages SET duplicate_of = ?{forget} WHERE duplicate_of = ? AND latest = 1",
            (new_id, old_id),
        )
        self.store.note_changes()

    def _note_moved(self, moved: Sequence[tuple[int, int]]) -> None:
        """Update the ids of captures in the groups of the learned URL rules: (old, new).

        Complexity: O(groups), once for all of them.
        """
        self.store.database.write(
            "UPDATE url_groups SET page = moved.new"
            " FROM (SELECT value ->> 0 AS old, value ->> 1 AS new FROM json_each(?)) AS moved"
            " WHERE url_groups.page = moved.old",
            (json.dumps(moved),),
        )
