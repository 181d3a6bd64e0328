"""Promote or rejudge duplicates whose original is lost, with their own or a fleet's texts."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from crawler.maintenance.verify.capture_checks import ORPHANS
from crawler.pages.page_row import to_signed, to_unsigned
from crawler.pages.stored_texts import HeldTexts, document_of, unpack
from crawler.pages.verdicts import INEXACT, NEAR_DUPLICATE, listed
from crawler.reading.content.content_xml import FROM_LINES, pack_lines

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
    fingerprint INTEGER, content BLOB, page_type TEXT, content_source TEXT
) WITHOUT ROWID;
"""
_WANT = """
INSERT OR IGNORE INTO scratch.wanted
SELECT text_digest FROM scratch.named WHERE text_digest IS NOT NULL
UNION SELECT pages.text_digest FROM scratch.named JOIN pages ON pages.id = page
WHERE pages.text_digest IS NOT NULL
"""
_IS_WANTED = "SELECT 1 FROM scratch.wanted WHERE text_digest = ?"
_FIND = """
SELECT text, words, is_main, visible_digest, fingerprint, content, page_type, content_source
FROM scratch.kept
WHERE text_digest = ?
"""

# Those with the same text as their original come first: others may be near to them.
_ORPHANS = f"""
SELECT pages.id FROM ({ORPHANS}) AS orphan JOIN pages ON pages.id = orphan.id
ORDER BY pages.verdict IN ({listed(INEXACT)}), pages.id
"""


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
        async for original, text, content in self.kept():
            watch.advance()
            wanted = self.database.read(_IS_WANTED, (original.text_digest,)).fetchone()
            if wanted is not None:
                row = (original.text_digest, text, original.words, original.is_main)
                more = (original.visible_digest, to_signed(original.fingerprint))
                packed, finder = await content(), original.content_source
                if packed is None:
                    packed, finder = pack_lines(unpack(text)), FROM_LINES
                shown = (packed, original.page_type, finder)
                sql = "INSERT OR IGNORE INTO scratch.kept VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
                self.database.write(sql, (*row, *more, *shown))

    def row(self, digest: bytes | None, like: PageRow) -> PageRow | None:
        """Return a copy of a row with the text of a digest, or None without that text."""
        found = self.database.read(_FIND, (digest,)).fetchone()
        if found is None:
            return None
        text, words, is_main, visible_digest, fingerprint, content, page_type, finder = found
        return replace(
            like,
            text=text,
            content=content,
            page_type=page_type,
            content_source=finder,
            text_digest=digest,
            words=words,
            is_main=is_main,
            visible_digest=visible_digest,
            fingerprint=to_unsigned(fingerprint),
        )


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
        watch.begin("duplicates of originals whose text is stored nowhere", len(orphans))
        lost = []
        for (page_id,) in orphans:
            row = self.store.get(page_id)
            if row is not None and not self._settle(row):
                lost.append(row.url)
            watch.advance()
        return lost

    def orphans(self) -> list[tuple[int]]:
        return self.database.read(_ORPHANS).fetchall()

    def _settle(self, row: PageRow) -> bool:
        digest = self._digest_of_original(row)
        repeated = None if digest is None else self.store.find_text(digest, {row.id})
        if repeated is not None:  # it has the text of the named original: nothing else changes
            row.duplicate_of = repeated
            self.store.store_verdict(row)
            return True
        own = self._own(row)
        source = own or self._borrowed(row, digest)
        if source is not None:
            self._judge(row, source, is_own=own is not None)
        return source is not None

    def _digest_of_original(self, row: PageRow) -> bytes | None:
        sql = "SELECT text_digest FROM scratch.named WHERE page = ?"
        found = self.database.read(sql, (row.id,)).fetchone()
        return None if found is None else found[0]

    def _own(self, row: PageRow) -> PageRow | None:
        """Return the page with its own text, from any place that has it, or None."""
        texts = HeldTexts(self.database.read)
        source = texts.find(row.id, row.text_digest, row.words)
        if source is not None:
            texts.give(found := replace(row), source)
            return found
        return None if self.fleet is None else self.fleet.row(row.text_digest, row)

    def _borrowed(self, row: PageRow, digest: bytes | None) -> PageRow | None:
        """Return the text of a near-duplicate's original, until the page's own is read again."""
        said = None if digest is None else self.store.find_said(digest)
        if said is None and self.fleet is not None:
            said = self.fleet.row(digest, row)
        return said

    def _judge(self, row: PageRow, source: PageRow, *, is_own: bool) -> None:
        document = document_of(source, self.store.volatile.stable(row.url, row.name))
        verdict = self.deduplicator.judge_document(row.id, document, exclude={row.id})
        if not is_own:
            row.verdict = NEAR_DUPLICATE
        if verdict.is_duplicate:
            row.take_verdict(verdict)
        else:
            row.keep(verdict, source, self.deduplicator.parameters.min_words)
            self.store.name_container(row, verdict.parts)
            if not is_own:
                row.payload_digest = None
        self.store.store_verdict(row)
