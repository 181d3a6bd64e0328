"""New verdicts put into effect, in one transaction with the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.maintenance.rejudge.judged import Judged
from crawler.maintenance.rejudge.new_verdicts import JUDGED
from crawler.maintenance.rejudge.stored_texts import HeldTexts, Source
from crawler.maintenance.verify.queueing import QueueAgain
from crawler.pages.page_store import PageStore
from crawler.pages.preference import is_better
from crawler.pages.verdicts import NEAR_DUPLICATE

if TYPE_CHECKING:
    import sqlite3

    from crawler.maintenance.verify.finding import Watch
    from crawler.storage.database import Database

DIFFERS = """
FROM temp.judged JOIN pages ON pages.id = judged.id
WHERE pages.verdict IS NOT judged.verdict OR pages.duplicate_of IS NOT judged.original
   OR pages.distance IS NOT judged.distance OR pages.similarity IS NOT judged.similarity
   OR source IS NOT NULL AND (pages.text_digest IS NOT judged.text_digest
      OR pages.fingerprint IS NOT judged.fingerprint)
   OR is_awaited
"""
_UPDATE = """
UPDATE pages SET verdict = ?, duplicate_of = ?, distance = ?, similarity = ?, better_copy = ?
WHERE id = ?
"""
_SAY = "UPDATE pages SET text_digest = ?, fingerprint = ? WHERE id = ?"
# As where an original takes what only was near it with it: such a page is read anew.
_FORGET = "UPDATE pages SET text_digest = NULL, payload_digest = NULL WHERE id = ?"
_NAME = f"UPDATE pages SET parameters = ?1 WHERE {JUDGED} AND parameters IS NOT ?1"  # noqa: S608
_NAME += " AND text_digest IS NOT NULL"
# What learned URL rules know of a page: whom it repeats, and how nearly.
_FOLDS = """
UPDATE folds SET kept = coalesce(pages.duplicate_of, pages.id),
    similarity = CASE WHEN pages.duplicate_of IS NULL THEN 1.0
                 ELSE coalesce(pages.similarity, 0.0) END
FROM pages WHERE pages.id = folds.page AND folds.kept IS NOT NULL AND pages.is_main IS NOT NULL
"""


class Application:
    """Writes verdicts that were made before, and moves texts to where they belong.

    Args:
        connection: Has the verdicts, and sees the database as it was when they were made.
        database: The same one, for writing.
        can_queue: Whether what nobody holds can be fetched again.
    """

    def __init__(
        self, connection: sqlite3.Connection, database: Database, *, can_queue: bool
    ) -> None:
        self._connection = connection
        self._database = database
        self._texts = HeldTexts(connection.execute)
        self._store = PageStore(database)
        self._can_queue = can_queue
        self._queue: QueueAgain | None = None

    def apply(self, parameters: int, watch: Watch) -> int:
        """Write all of it, and return how many rows there were to write.

        Args:
            parameters: ``parameters.id`` of those by which the verdicts were made.
            watch: Is told how far it is.
        """
        total = self._connection.execute(f"SELECT count(*) {DIFFERS}").fetchone()[0]
        watch.begin("verdicts written", int(total))
        for values in self._connection.execute(f"SELECT judged.* {DIFFERS} ORDER BY judged.id"):
            self._write(Judged._make(values))
            watch.advance()
        named = self._database.write(_NAME, (parameters,)).rowcount
        if total:
            self._database.write(_FOLDS)
        return int(total) + named

    def _write(self, row: Judged) -> None:
        better = self._is_better(row)
        measures = row.verdict, row.original, row.distance, row.similarity
        self._database.write(_UPDATE, (*measures, better, row.id))
        if row.is_awaited:
            self._await(row.id)
        elif row.source is not None:
            self._database.write(_SAY, (row.text_digest, row.fingerprint, row.id))
            self._move_text(row, Source(row.source, row.is_near))

    def _is_better(self, row: Judged) -> int:
        kept = None if row.original is None else self._store.get(row.original)
        page = None if kept is None else self._store.get(row.id)
        return int(kept is not None and page is not None and is_better(page, kept))

    def _await(self, page_id: int) -> None:
        self._database.write(_FORGET, (page_id,))
        if self._can_queue:
            self._queue = self._queue or QueueAgain(self._database)
            self._queue.push(page_id)

    def _move_text(self, row: Judged, source: Source) -> None:
        """Put a text with the page that is kept, and beside the one that is not."""
        if row.original is None:
            if source != Source(row.id, 0):
                sql = "UPDATE pages SET text = ? WHERE id = ?"
                self._database.write(sql, (self._texts.packed(source), row.id))
            self._database.write("DELETE FROM near_texts WHERE page = ?", (row.id,))
        elif source.page == row.id or row.verdict == NEAR_DUPLICATE:
            # Of a near-duplicate also where another one says the same: that may change.
            if source != Source(row.id, 1):
                sql = "INSERT OR REPLACE INTO near_texts VALUES (?, ?)"
                self._database.write(sql, (row.id, self._texts.packed(source)))
            self._database.write("UPDATE pages SET text = NULL WHERE id = ?", (row.id,))
