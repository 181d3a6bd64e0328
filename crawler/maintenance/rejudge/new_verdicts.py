"""Judge every newest capture again, in the order of the crawl, as the crawl itself would."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from crawler.pages.page_row import to_signed, to_unsigned
from crawler.pages.stored_texts import HeldTexts, TextSource
from crawler.pages.verdicts import (
    CHANGED,
    EXACT_DUPLICATE,
    NEAR_DUPLICATE,
    OF_TEXTS,
    TEXT_DUPLICATE,
    listed,
)
from crawler.reading.reading import extract_of
from crawler.storage.states import WAITING
from neardup import Deduplicator, HammingIndex, Verdict

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection

    from crawler.maintenance.verify.finding import CheckWatch
    from neardup import Document, Parameters

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
    source      INTEGER,              -- where its text is stored; NULL: nowhere
    is_near     INTEGER NOT NULL,
    is_awaited  INTEGER NOT NULL      -- 1: only when it is fetched again can it be judged
);
CREATE INDEX temp.judged_digest ON judged (text_digest) WHERE original IS NULL;
CREATE INDEX temp.judged_payload ON judged (payload) WHERE original IS NULL;
"""
_KEPT = "SELECT id FROM temp.judged WHERE {} = ? AND original IS NULL ORDER BY id"

# Copies of a file that is no page have no text: is_main is NULL.
JUDGED = f"latest = 1 AND is_main IS NOT NULL AND verdict IN ({listed(OF_TEXTS)})"
_COLUMNS = """
SELECT id, verdict, duplicate_of, distance, similarity, words, is_main, text_digest,
       visible_digest, payload_digest, body_bytes, key
FROM pages"""
_PAGES = f"{_COLUMNS} WHERE {JUDGED} AND id > ? ORDER BY id LIMIT 1000"
_PAGE = f"{_COLUMNS} WHERE id = ?"
_WAITS = f"SELECT 1 FROM requests WHERE key = ? AND state = {WAITING}"


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
        values = row._replace(fingerprint=to_signed(row.fingerprint))
        marks = ", ".join("?" * len(values))
        self._connection.execute(f"INSERT INTO temp.judged VALUES ({marks})", values)

    def get(self, page_id: int | None) -> JudgedRow | None:
        sql = "SELECT * FROM temp.judged WHERE id = ?"
        row = self._connection.execute(sql, (page_id,)).fetchone()
        if row is None:
            return None
        judged = JudgedRow._make(row)
        return judged._replace(fingerprint=to_unsigned(judged.fingerprint))

    def is_kept(self, page_id: int | None) -> bool:
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
        return self._find("payload", digest, exclude)

    def _find(self, column: str, digest: bytes, exclude: Collection[int]) -> int | None:
        rows = self._connection.execute(_KEPT.format(column), (digest,))
        return next((int(page_id) for (page_id,) in rows if page_id not in exclude), None)

    def text(self, id: int) -> str | None:  # noqa: A002  # neardup's name for it
        sql = "SELECT source, is_near FROM temp.judged WHERE id = ? AND original IS NULL"
        row = self._connection.execute(sql, (id,)).fetchone()
        return None if row is None else self._texts.text(TextSource(*row))

    def add(self, id: int, document: Document) -> None:  # noqa: A002
        """Do nothing: the caller stores the verdict, in the same step."""


class JudgedPage(NamedTuple):
    """A stored page; columns of ``pages``."""

    id: int
    verdict: str
    duplicate_of: int | None
    distance: int | None
    similarity: float | None
    words: int | None
    is_main: int
    text_digest: bytes | None
    visible_digest: bytes | None
    payload_digest: bytes | None
    body_bytes: int
    key: bytes

    @property
    def payload(self) -> bytes | None:
        """The digest of the page's bytes if it has any, by which equal pages are found."""
        return self.payload_digest if self.body_bytes else None


class Rejudge:
    """Judges the pages of a crawl directory, and changes nothing there.

    Args:
        connection: Connection for reading ``crawl.db``; verdicts go to a temporary table of it.
        parameters: Parameters of the new verdicts.
        can_queue: Whether a page whose text is lost can be fetched again.
    """

    def __init__(
        self, connection: sqlite3.Connection, parameters: Parameters, *, can_queue: bool
    ) -> None:
        self._connection = connection
        self._can_queue = can_queue
        self._parameters = parameters
        self._texts = HeldTexts(connection.execute)
        self._judged = JudgedPages(connection, self._texts)

    def judge(self, watch: CheckWatch) -> None:
        """Judge all pages; those whose text is lost come last, judged by their stored facts.

        All is read as it is at one moment, until the connection ends its transaction.

        Complexity: O(size of the texts); memory for one of them, and 33 bytes a kept page.
        """
        self._connection.execute("BEGIN")
        sql = f"SELECT count(*) FROM pages WHERE {JUDGED}"
        watch.begin("pages judged again", int(self._connection.execute(sql).fetchone()[0]))
        unheld: list[int] = []
        index = HammingIndex(radius=self._parameters.radius)
        with index, Deduplicator(self._parameters, documents=self._judged, index=index) as judge:
            last = -1
            while rows := self._connection.execute(_PAGES, (last,)).fetchall():
                for page in map(JudgedPage._make, rows):
                    if not self._judge_held(judge, page):
                        unheld.append(page.id)
                    watch.advance()
                last = page.id
        for page_id in unheld:
            row = self._connection.execute(_PAGE, (page_id,)).fetchone()
            self._judge_unheld(JudgedPage._make(row))

    def _judge_held(self, judge: Deduplicator, page: JudgedPage) -> bool:
        source = self._texts.find(page.id, page.text_digest, page.words)
        if source is None:
            return False
        document = self._document(page, source)
        verdict = _judged(judge, page, document)
        if page.verdict == CHANGED and not verdict.is_duplicate:
            # Its distance and similarity are to its own last version.
            verdict = Verdict(CHANGED, None, page.distance, page.similarity)
        long = document.words >= self._parameters.min_words
        fingerprint = document.fingerprint if long else None
        digests = document.digest, page.payload, fingerprint
        self._put(JudgedRow(page.id, *_measures(verdict), *digests, *source))
        return True

    def _put(self, row: JudgedRow) -> None:
        """Store a verdict; a copy of the same bytes takes its original's digests, as in a crawl."""
        kept = self._judged.get(row.original) if row.verdict == EXACT_DUPLICATE else None
        if kept is not None:
            row = row._replace(text_digest=kept.text_digest, fingerprint=kept.fingerprint)
            if row.source is None:
                row = row._replace(source=kept.source, is_near=kept.is_near)
        self._judged.put(row)

    def _document(self, page: JudgedPage, source: TextSource) -> Document:
        """Return the text of a page as the judge of the crawl received it."""
        extract = extract_of(
            self._texts.packed(source),
            is_main=bool(page.is_main),
            visible_digest=page.visible_digest,
            parameters=self._parameters,
        )
        document = extract.document(self._parameters.min_words)
        return replace(document, payload=page.payload)

    def _judge_unheld(self, page: JudgedPage) -> None:
        """Judge a page without a stored text by its digests or its old distance, or await it."""
        known = self._equal(page)
        if known is None and self._goes_on(page):
            known = Verdict(page.verdict, page.duplicate_of, page.distance, page.similarity)
        if known is not None:
            self._put_unheld(page, known)
            return
        awaited = int(page.text_digest is not None or self._is_to_be_queued(page))
        original = self._judged.original_of(page.duplicate_of)
        if self._judged.is_kept(page.duplicate_of):
            near = Verdict(NEAR_DUPLICATE, page.duplicate_of, page.distance, page.similarity)
            self._put_unheld(page, near, is_awaited=awaited)
        elif original is not None:
            self._put_unheld(page, Verdict(NEAR_DUPLICATE, original), is_awaited=awaited)

    def _is_to_be_queued(self, page: JudgedPage) -> bool:
        row = self._connection.execute(_WAITS, (page.key,)).fetchone()
        return self._can_queue and row is None

    def _equal(self, page: JudgedPage) -> Verdict | None:
        layers = (
            (EXACT_DUPLICATE, page.payload, self._judged.find_payload),
            (TEXT_DUPLICATE, page.text_digest, self._judged.find_digest),
        )
        for kind, digest, find in layers:
            original = None if digest is None else find(digest)
            if original is not None:
                return Verdict(kind, original, 0, 1.0)
        return None

    def _goes_on(self, page: JudgedPage) -> bool:
        """Return whether a page's distance and similarity still make it a duplicate."""
        parameters = self._parameters
        is_alike = not parameters.verify or (page.similarity or 0.0) >= parameters.min_similarity
        return (
            self._judged.is_kept(page.duplicate_of)
            and page.distance is not None
            and page.distance <= parameters.radius
            and (page.words or 0) >= parameters.min_words
            and is_alike
        )

    def _put_unheld(self, page: JudgedPage, verdict: Verdict, *, is_awaited: int = 0) -> None:
        digests = page.text_digest, page.payload, None
        self._put(JudgedRow(page.id, *_measures(verdict), *digests, None, 0, is_awaited))


def _judged(judge: Deduplicator, page: JudgedPage, document: Document) -> Verdict:
    # First, as in a crawl: copies of a page without a word are copies too.
    known = None if page.payload is None else judge.find_payload(page.payload)
    return known or judge.judge_document(page.id, document)


def _measures(verdict: Verdict) -> tuple[str, int | None, int | None, float | None]:
    return verdict.kind, verdict.duplicate_of, verdict.distance, verdict.similarity
