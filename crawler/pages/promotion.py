"""Promote duplicates of a page that has changed, so that no text is lost."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from crawler.pages.stored_texts import unpack_judged
from neardup import Document

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.pages.page_row import PageRow
    from crawler.pages.page_store import PageStore
    from neardup import Deduplicator, Verdict


class Promoted(NamedTuple):
    """A duplicate that is kept from now on, with its text."""

    row: PageRow
    document: Document


@dataclass(frozen=True, slots=True)
class Promotion:
    """Judges the texts of duplicates whose original was superseded.

    The old capture of the original keeps its text (``superseded``) until each of its duplicates has
    been requested, or the visit ends. A duplicate with the same text is judged when it is
    requested; the others are judged once a text when the visit ends. A duplicate that changes as
    well never takes the old text over, so a visit costs one judgement a page.

    Args:
        store: The page store.
        deduplicator: Deduplicator that judges the texts and learns those of promoted duplicates.
    """

    store: PageStore
    deduplicator: Deduplicator

    def confirm(self, row: PageRow, parameters: int) -> PageRow | Promoted:
        """Judge a duplicate that was found unchanged after its original changed.

        Args:
            row: Newest capture of the duplicate; its text is stored somewhere.
            parameters: ``parameters.id`` of the deduplicator's parameters.

        Returns:
            The capture with its new original, or the kept capture that replaces it.
        """
        source = self._source(row)
        assert source is not None
        number, verdict, document = self._judge(source)
        if verdict.duplicate_of is None:
            return self._promote(row, number, verdict, source, document, parameters)
        row.duplicate_of = verdict.duplicate_of
        if not (row.verdict == "exact_duplicate" and verdict.kind == "text_duplicate"):
            row.verdict = verdict.kind
        row.distance, row.similarity = verdict.distance, verdict.similarity
        row.parameters = parameters
        self.store.duplicates.name_original(row)
        return row

    def settle(self, parameters: int, keep_versions: int) -> Iterator[Promoted]:
        """Judge all texts that superseded captures hold for duplicates; yield promoted pages.

        Args:
            parameters: ``parameters.id`` of the deduplicator's parameters.
            keep_versions: Number of texts of a page that are kept, with its newest; 0 keeps all.

        Complexity: O(duplicates), and one judgement for each distinct text.
        """
        moved = []
        for page_id in self.store.duplicates.superseded():
            old = self.store.get(page_id)
            if old is not None and not old.latest:
                for replaced, promoted in self._settle(old, parameters):
                    moved.append((replaced, promoted.row.id))
                    yield promoted
                if keep_versions:
                    self.store.drop_texts(old.key, keep_versions - 1)
            self.store.duplicates.forget_superseded(page_id)
        if moved:
            self.store.duplicates.note_moved(moved)

    def _settle(self, old: PageRow, parameters: int) -> Iterator[tuple[int, Promoted]]:
        """Judge each text of the duplicates of one capture, its own one first."""
        groups = self.store.duplicates.texts_of_duplicates(old.id)
        groups.sort(key=lambda group: (group.digest != old.text_digest, group.first))
        for group in groups:
            first = self.store.get(group.first)
            source = None if first is None else self._source(first)
            if first is not None and source is not None and group.digest is not None:
                number, verdict, document = self._judge(source)
                original = verdict.duplicate_of
                if original is None:
                    yield (
                        first.id,
                        self._promote(first, number, verdict, source, document, parameters),
                    )
                    verdict = replace(verdict, kind="text_duplicate", distance=0, similarity=1.0)
                self.store.duplicates.move_duplicates(
                    old.id, original or number, group.digest, verdict, parameters
                )
        if old.text is not None:
            yield from self._settle_unknown(old, parameters)

    def _settle_unknown(self, old: PageRow, parameters: int) -> Iterator[tuple[int, Promoted]]:
        """Promote one duplicate without a stored text of its own, with the text of its original.

        If a kept page repeats that text, it becomes the original of all such duplicates, and each
        is read at its next visit.
        """
        groups = self.store.duplicates.texts_of_duplicates(old.id)
        first = self.store.get(min(group.first for group in groups)) if groups else None
        if first is None:
            return
        number, verdict, document = self._judge(old)
        if verdict.duplicate_of is None:
            first.payload_digest = None
            yield first.id, self._promote(first, number, verdict, old, document, parameters)
            self.store.duplicates.move_unknown(old.id, number, read_anew=False)
        else:
            self.store.duplicates.move_unknown(old.id, verdict.duplicate_of, read_anew=True)

    def _source(self, row: PageRow) -> PageRow | None:
        """Return a capture with the text of a duplicate: its own or one with the same text."""
        near = self.store.near_text(row.id)
        if near is not None:
            return replace(row, text=near)
        return None if row.text_digest is None else self.store.find_said(row.text_digest)

    def _judge(self, source: PageRow) -> tuple[int, Verdict, Document]:
        assert source.text is not None
        assert source.text_digest is not None
        number, text = self.store.new_id(), unpack_judged(source.text)
        document = Document(source.words or 0, source.text_digest, source.fingerprint, text)
        return number, self.deduplicator.judge_document(number, document), document

    def _promote(  # what is known of the page and of its text
        self,
        row: PageRow,
        number: int,
        verdict: Verdict,
        source: PageRow,
        document: Document,
        parameters: int,
    ) -> Promoted:
        """Replace a duplicate's capture with a kept one."""
        is_long = document.words >= self.deduplicator.parameters.min_words
        kept = replace(
            row,
            id=number,
            verdict=verdict.kind,
            reason=None,
            duplicate_of=None,
            distance=None,
            similarity=None,
            parameters=parameters,
            better_copy=0,
            words=source.words,
            is_main=source.is_main,
            text=source.text,
            html=source.html,
            text_digest=source.text_digest,
            fingerprint=source.fingerprint if is_long else None,  # as the index has it
            visible_digest=source.visible_digest,
        )
        self.store.insert(kept)
        self.store.forget(row.id)
        return Promoted(kept, document)
