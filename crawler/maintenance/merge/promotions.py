"""Promote or rejudge duplicates whose original is lost, with their own or a fleet's texts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from crawler.maintenance.verify.capture_checks import ORPHANS
from crawler.pages.judged_documents import unpack_judged
from crawler.pages.page_row import to_signed
from crawler.pages.stored_texts import HeldTexts
from crawler.pages.verdicts import NEAR_DUPLICATE, TEXT_DUPLICATE
from neardup import Document

if TYPE_CHECKING:
    from crawler.maintenance.merge.fleet_texts import FleetTexts
    from crawler.maintenance.verify.finding import CheckWatch
    from crawler.pages.page_row import PageRow
    from crawler.pages.page_store import PageStore
    from crawler.storage.database import Database
    from neardup import Deduplicator

# Those with the same text as their original come first: others may be near to them.
_ORPHANS = f"""
SELECT pages.id FROM ({ORPHANS}) AS orphan JOIN pages ON pages.id = orphan.id
ORDER BY pages.verdict = '{NEAR_DUPLICATE}', pages.id
"""  # noqa: S608
_KEEP = """
UPDATE pages SET verdict = ?, reason = NULL, duplicate_of = NULL, distance = NULL,
    similarity = NULL, better_copy = 0, text = ?, words = ?, is_main = ?, text_digest = ?,
    visible_digest = ?, fingerprint = ?, payload_digest = ?
WHERE id = ?
"""
_NAME = """
UPDATE pages SET verdict = ?, duplicate_of = ?, distance = ?, similarity = ? WHERE id = ?
"""


class NewText(NamedTuple):
    """The text of a page from now on: its own, or that of its near original."""

    row: PageRow
    text: bytes
    is_own: bool


@dataclass(frozen=True, slots=True)
class LostOriginals:
    """Judges orphans against all kept pages, as a crawl does whose original changes.

    Args:
        database: Database with all pages, and ``scratch.named``.
        store: Page store of the database.
        deduplicator: Deduplicator of the page store.
        fleet: Texts that a fleet kept, if it can be asked.
    """

    database: Database
    store: PageStore
    deduplicator: Deduplicator
    fleet: FleetTexts | None

    def settle(self, watch: CheckWatch) -> list[str]:
        """Find an original for each orphan, or keep it; return the URLs whose text is lost.

        Complexity: O(orphans * log n).
        """
        orphans = self.orphans()
        if self.fleet is not None and orphans:
            self.fleet.fetch(watch)
        watch.begin("duplicates of what nobody holds", len(orphans))
        lost = []
        for (page_id,) in orphans:
            row = self.store.get(page_id)
            if row is not None and not self._settle(row):
                lost.append(row.url)
            watch.advance()
        return lost

    def orphans(self) -> list[tuple[int]]:
        """Return the ids of duplicates whose original is lost."""
        return self.database.read(_ORPHANS).fetchall()

    def _settle(self, row: PageRow) -> bool:
        digest = self._digest_of_original(row)
        repeated = None if digest is None else self.store.find_text(digest, {row.id})
        if repeated is not None:  # it has the text of the named original: nothing else changes
            measures = row.verdict, repeated, row.distance, row.similarity
            self.database.write(_NAME, (*measures, row.id))
            return True
        said = self._own(row) or self._borrowed(row, digest)
        if said is None:
            return False
        self._judge(said)
        return True

    def _digest_of_original(self, row: PageRow) -> bytes | None:
        sql = "SELECT text_digest FROM scratch.named WHERE page = ?"
        found = self.database.read(sql, (row.id,)).fetchone()
        return None if found is None else found[0]

    def _own(self, row: PageRow) -> NewText | None:
        """Return the text of the page itself, from any place that has it, or None."""
        texts = HeldTexts(self.database.read)
        source = texts.find(row.id, row.text_digest, row.words)
        if source is not None:
            return NewText(row, texts.packed(source), is_own=True)
        kept = None if self.fleet is None else self.fleet.find(row.text_digest)
        return None if kept is None else NewText(row, kept.text, is_own=True)

    def _borrowed(self, row: PageRow, digest: bytes | None) -> NewText | None:
        """Return the text of a near-duplicate's original, until the page's own is read again."""
        said = None if digest is None else self.store.find_said(digest)
        if said is None and self.fleet is not None:
            said = self.fleet.row(digest, row)
        if said is None or said.text is None:
            return None
        repeated = replace(
            row,
            words=said.words,
            is_main=said.is_main,
            text_digest=said.text_digest,
            visible_digest=said.visible_digest,
            fingerprint=said.fingerprint,
            payload_digest=None,
        )
        return NewText(repeated, said.text, is_own=False)

    def _judge(self, said: NewText) -> None:
        row = said.row
        assert row.text_digest is not None
        words = row.words or 0
        document = Document(words, row.text_digest, row.fingerprint, unpack_judged(said.text))
        verdict = self.deduplicator.judge_document(row.id, document, exclude={row.id})
        if verdict.duplicate_of is not None:
            kind = verdict.kind
            if kind == TEXT_DUPLICATE and said.is_own and row.verdict != NEAR_DUPLICATE:
                kind = row.verdict
            measures = kind, verdict.duplicate_of, verdict.distance, verdict.similarity
            self.database.write(_NAME, (*measures, row.id))
            return
        is_long = words >= self.deduplicator.parameters.min_words
        fingerprint = to_signed(row.fingerprint) if is_long else None  # as the index has it
        facts = said.text, words, row.is_main, row.text_digest, row.visible_digest, fingerprint
        self.database.write(_KEEP, (verdict.kind, *facts, row.payload_digest, row.id))
        self.database.write("DELETE FROM near_texts WHERE page = ?", (row.id,))
