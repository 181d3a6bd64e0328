"""The table of new verdicts, over whose kept pages a crawl is judged again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from crawler.pages.page_row import to_signed, to_unsigned
from crawler.pages.stored_texts import TextSource
from neardup.kept_facts import StoredFacts

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Iterable

    from crawler.pages.stored_texts import HeldTexts
    from crawler.pages.volatile import VolatileSlots
    from neardup import Document
    from neardup.verdict import Part

_TABLE = """
CREATE TEMP TABLE judged (
    id          INTEGER PRIMARY KEY,  -- pages.id
    verdict     TEXT NOT NULL,
    original    INTEGER,              -- NULL: kept
    resembles   INTEGER,              -- the kept page of another name
    part_of     INTEGER,              -- the kept page that it is a part of
    distance    INTEGER,
    similarity  REAL,
    containment REAL,
    text_digest BLOB,
    payload     BLOB,
    fingerprint INTEGER,
    source      INTEGER,              -- where its text is stored; NULL: nowhere
    is_near     INTEGER NOT NULL,
    is_awaited  INTEGER NOT NULL      -- 1: only when it is fetched again can it be judged
);
CREATE INDEX temp.judged_digest ON judged (text_digest) WHERE original IS NULL;
CREATE INDEX temp.judged_payload ON judged (payload) WHERE original IS NULL;
"""
_SET_CONTAINER = """
UPDATE temp.judged SET part_of = ?, containment = ? WHERE id = ? AND part_of IS NULL
"""
_KEPT = "SELECT id FROM temp.judged WHERE {} = ? AND original IS NULL ORDER BY id"


class JudgedRow(NamedTuple):
    """A row of ``judged``; the fingerprint is unsigned."""

    id: int
    verdict: str
    original: int | None
    resembles: int | None
    part_of: int | None
    distance: int | None
    similarity: float | None
    containment: float | None
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

    def __init__(
        self, connection: sqlite3.Connection, texts: HeldTexts, names: VolatileSlots
    ) -> None:
        self._connection = connection
        self._names = names
        self._texts = texts
        connection.isolation_level = None  # no transaction begins or ends by itself
        connection.execute("PRAGMA temp_store = FILE")
        connection.executescript(f"DROP TABLE IF EXISTS temp.judged; {_TABLE}")

    def put(self, row: JudgedRow) -> None:
        values = row._replace(fingerprint=to_signed(row.fingerprint))
        marks = ", ".join("?" * len(values))
        self._connection.execute(f"INSERT INTO temp.judged VALUES ({marks})", values)

    def name_container(self, page_id: int, parts: Iterable[Part]) -> None:
        """Record that a page has these kept ones as parts, but for those of another page."""
        for part in parts:
            found = page_id, part.containment, part.id
            self._connection.execute(_SET_CONTAINER, found)

    def get(self, page_id: int | None) -> JudgedRow | None:
        sql = "SELECT * FROM temp.judged WHERE id = ?"
        row = self._connection.execute(sql, (page_id,)).fetchone()
        if row is None:
            return None
        judged = JudgedRow._make(row)
        return judged._replace(fingerprint=to_unsigned(judged.fingerprint))

    def is_kept(self, page_id: int | None) -> bool:
        row = self.get(page_id)
        return row is not None and row.original is None

    def find_digest(self, digest: bytes, exclude: Collection[int] = ()) -> int | None:
        """Return the first kept page whose judged text has this digest."""
        return self._find("text_digest", digest, exclude)

    def find_payload(self, digest: bytes, exclude: Collection[int] = ()) -> int | None:
        return self._find("payload", digest, exclude)

    def _find(self, column: str, digest: bytes, exclude: Collection[int]) -> int | None:
        rows = self._connection.execute(_KEPT.format(column), (digest,))
        return next((int(page_id) for (page_id,) in rows if page_id not in exclude), None)

    def text(self, id: int) -> str | None:  # noqa: A002  # neardup's name for it
        sql = "SELECT source, is_near FROM temp.judged WHERE id = ? AND original IS NULL"
        row = self._connection.execute(sql, (id,)).fetchone()
        return None if row is None else self._texts.text(TextSource(*row))

    def name(self, id: int) -> str:  # noqa: A002  # neardup's name for it
        sql = "SELECT url, name FROM pages WHERE id = ?"
        row = self._connection.execute(sql, (id,)).fetchone()
        return "" if row is None else self._names.stable(*row)

    def facts_of(self, ids: Collection[int]) -> list[StoredFacts]:
        rows = self._of_signed("judged.fingerprint, url, name", ids)
        return [
            StoredFacts(int(number), to_unsigned(fingerprint) or 0, self._names.stable(url, name))
            for number, fingerprint, url, name in rows
        ]

    def words_of(self, ids: Collection[int]) -> dict[int, int]:
        return dict(self._of_signed("words", ids))

    def _of_signed(self, columns: str, ids: Collection[int]) -> list[tuple[Any, ...]]:
        """Return id and columns of those of some kept pages that have a fingerprint."""
        sql = (
            f"SELECT judged.id, {columns} FROM temp.judged AS judged JOIN pages USING (id)"
            " WHERE original IS NULL AND judged.fingerprint IS NOT NULL"
            " AND judged.id IN (SELECT value FROM json_each(?))"
        )
        return self._connection.execute(sql, (json.dumps(list(ids)),)).fetchall()

    def add(self, id: int, document: Document) -> None:  # noqa: A002
        """Do nothing: the caller stores the verdict, in the same step."""
