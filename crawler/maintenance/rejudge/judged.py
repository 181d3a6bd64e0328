"""Collect new verdicts in a temporary table beside a crawl's database."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from crawler.pages.page_row import to_signed, to_unsigned
from crawler.pages.stored_texts import HeldTexts, TextSource

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection

    from neardup import Document

_TABLE = """
CREATE TEMP TABLE judged (
    id          INTEGER PRIMARY KEY,  -- pages.id
    verdict     TEXT NOT NULL,
    original    INTEGER,              -- NULL: kept
    distance    INTEGER,
    similarity  REAL,
    text_digest BLOB,
    payload     BLOB,
    fingerprint INTEGER,
    source      INTEGER,              -- where its text stands; NULL: nobody holds it
    is_near     INTEGER NOT NULL,
    is_awaited  INTEGER NOT NULL      -- 1: only when it is fetched again can it be judged
);
CREATE INDEX temp.judged_digest ON judged (text_digest) WHERE original IS NULL;
CREATE INDEX temp.judged_payload ON judged (payload) WHERE original IS NULL;
"""
_KEPT = "SELECT id FROM temp.judged WHERE {} = ? AND original IS NULL ORDER BY id"


class JudgedRow(NamedTuple):
    """A row of ``judged``; the fingerprint is unsigned."""

    id: int
    verdict: str
    original: int | None
    distance: int | None
    similarity: float | None
    text_digest: bytes | None
    payload: bytes | None
    fingerprint: int | None
    source: int | None
    is_near: int
    is_awaited: int = 0


class JudgedPages:
    """The table of new verdicts, with neardup's ``Documents`` over its kept pages.

    It is in a temporary file, so that its memory does not grow with the crawl.
    """

    def __init__(self, connection: sqlite3.Connection, texts: HeldTexts) -> None:
        self._connection = connection
        self._texts = texts
        connection.isolation_level = None  # no transaction begins or ends by itself
        connection.execute("PRAGMA temp_store = FILE")
        connection.executescript(f"DROP TABLE IF EXISTS temp.judged; {_TABLE}")

    def put(self, row: JudgedRow) -> None:
        """Store a verdict."""
        values = row._replace(fingerprint=to_signed(row.fingerprint))
        marks = ", ".join("?" * len(values))
        self._connection.execute(f"INSERT INTO temp.judged VALUES ({marks})", values)  # noqa: S608

    def get(self, page_id: int | None) -> JudgedRow | None:
        """Return the verdict on a page, or None if it was not judged yet."""
        sql = "SELECT * FROM temp.judged WHERE id = ?"
        row = self._connection.execute(sql, (page_id,)).fetchone()
        if row is None:
            return None
        judged = JudgedRow._make(row)
        return judged._replace(fingerprint=to_unsigned(judged.fingerprint))

    def is_kept(self, page_id: int | None) -> bool:
        """Return whether a page is kept."""
        sql = "SELECT 1 FROM temp.judged WHERE id = ? AND original IS NULL"
        return self._connection.execute(sql, (page_id,)).fetchone() is not None

    def original_of(self, page_id: int | None) -> int | None:
        """Return the page that a dropped one repeats; None for a kept or unjudged page."""
        sql = "SELECT original FROM temp.judged WHERE id = ?"
        row = self._connection.execute(sql, (page_id,)).fetchone()
        return None if row is None else row[0]

    def find_digest(self, digest: bytes, exclude: Collection[int] = ()) -> int | None:
        """Return the first kept page whose judged text has this digest."""
        return self._find("text_digest", digest, exclude)

    def find_payload(self, digest: bytes, exclude: Collection[int] = ()) -> int | None:
        """Return the first kept page of these bytes."""
        return self._find("payload", digest, exclude)

    def _find(self, column: str, digest: bytes, exclude: Collection[int]) -> int | None:
        rows = self._connection.execute(_KEPT.format(column), (digest,))
        return next((int(page_id) for (page_id,) in rows if page_id not in exclude), None)

    def text(self, id: int) -> str | None:  # noqa: A002  # neardup's name for it
        """Return the text of a kept page."""
        sql = "SELECT source, is_near FROM temp.judged WHERE id = ? AND original IS NULL"
        row = self._connection.execute(sql, (id,)).fetchone()
        return None if row is None else self._texts.text(TextSource(*row))

    def add(self, id: int, document: Document) -> None:  # noqa: A002
        """Do nothing: the caller stores the verdict, in the same step."""
