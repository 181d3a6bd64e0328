"""Promote or rejudge duplicates whose original is lost, with their own or a fleet's texts."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from crawler.maintenance.verify.capture_checks import ORPHANS
from crawler.pages.page_row import to_signed, to_unsigned
from crawler.pages.stored_texts import HeldTexts, unpack_judged
from crawler.pages.verdicts import NEAR_DUPLICATE, TEXT_DUPLICATE
from neardup import Document

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from crawler.maintenance.verify.finding import CheckWatch
    from crawler.pages.page_row import PageRow
    from crawler.pages.page_store import PageStore
    from crawler.pages.shared_verdicts import FleetKeptText
    from crawler.storage.database import Database
    from neardup import Deduplicator

SCRATCH = """
CREATE TABLE scratch.wanted (text_digest BLOB PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE scratch.kept (
    text_digest BLOB PRIMARY KEY, text BLOB, words INTEGER, is_main INTEGER, visible_digest BLOB,
    fingerprint INTEGER
) WITHOUT ROWID;
"""
_WANT = """
INSERT OR IGNORE INTO scratch.wanted
SELECT text_digest FROM scratch.named WHERE text_digest IS NOT NULL
UNION SELECT pages.text_digest FROM scratch.named JOIN pages ON pages.id = page
WHERE pages.text_digest IS NOT NULL
"""
_IS_WANTED = "SELECT 1 FROM scratch.wanted WHERE text_digest = ?"
_FIND = "SELECT text, words, is_main, visible_digest, fingerprint FROM scratch.kept"

# Those with the same text as their original come first: others may be near to them.
_ORPHANS = f"""
SELECT pages.id FROM ({ORPHANS}) AS orphan JOIN pages ON pages.id = orphan.id
ORDER BY pages.verdict = '{NEAR_DUPLICATE}', pages.id
"""
_KEEP = """
UPDATE pages SET verdict = ?, reason = NULL, duplicate_of = NULL, distance = NULL,
    similarity = NULL, better_copy = 0, text = ?, words = ?, is_main = ?, text_digest = ?,
    visible_digest = ?, fingerprint = ?, payload_digest = ?
WHERE id = ?
"""
_NAME = """
UPDATE pages SET verdict = ?, duplicate_of = ?, distance = ?, similarity = ? WHERE id = ?
"""


class FleetText(NamedTuple):
    """A text of a fleet with its facts."""

    text: bytes
    words: int | None
    is_main: int | None
    visible_digest: bytes | None
    fingerprint: int | None


@dataclass(frozen=True, slots=True)
class FleetTexts:
    """Fetches the needed texts of a fleet into a table of the scratch file.

    Args:
        database: Database with the scratch file.
        kept: Function that yields all texts that the fleet keeps.
    """

    database: Database
    kept: Callable[[], AsyncIterator[FleetKeptText]]

    def fetch(self, watch: CheckWatch) -> None:
        """Fetch all needed texts. Complexity: O(texts of the fleet); memory of one."""
        self.database.write(_WANT)
        watch.begin("texts of the fleet", 0)
        asyncio.run(self._fetch(watch))

    async def _fetch(self, watch: CheckWatch) -> None:
        async for original, text in self.kept():
            watch.advance()
            wanted = self.database.read(_IS_WANTED, (original.text_digest,)).fetchone()
            if wanted is not None:
                row = (original.text_digest, text, original.words, original.is_main)
                more = (original.visible_digest, to_signed(original.fingerprint))
                sql = "INSERT OR IGNORE INTO scratch.kept VALUES (?, ?, ?, ?, ?, ?)"
                self.database.write(sql, (*row, *more))

    def find(self, digest: bytes | None) -> FleetText | None:
        """Return the text with a digest, or None."""
        row = self.database.read(f"{_FIND} WHERE text_digest = ?", (digest,)).fetchone()
        return None if row is None else FleetText(*row)

    def row(self, digest: bytes | None, like: PageRow) -> PageRow | None:
        """Return a copy of a row with the text of a digest, or None without that text."""
        found = self.find(digest)
        if found is None:
            return None
        return replace(
            like,
            text=found.text,
            text_digest=digest,
            words=found.words,
            is_main=found.is_main,
            visible_digest=found.visible_digest,
            fingerprint=to_unsigned(found.fingerprint),
        )


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
