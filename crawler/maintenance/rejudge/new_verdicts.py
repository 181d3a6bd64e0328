"""Judge every newest capture again, in the order of the crawl, as the crawl itself would."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from crawler.pages.boilerplate import CountedBoilerplate, is_counted
from crawler.pages.page_row import to_signed, to_unsigned
from crawler.pages.stored_texts import HeldTexts, StoredDocuments, TextSource
from crawler.pages.verdicts import (
    CHANGED,
    EXACT_DUPLICATE,
    NEAR_DUPLICATE,
    OF_TEXTS,
    TEXT_DUPLICATE,
    WALLS,
    listed,
)
from crawler.pages.volatile import VolatileSlots
from crawler.pages.wall_clusters import PAGE, host_of
from crawler.reading.reading import extract_of
from crawler.storage.schema import BOILERPLATE
from crawler.storage.states import WAITING
from neardup import Deduplicator, HammingIndex, Verdict
from neardup.boilerplate import block_hashes
from neardup.names import difference, unpacked
from neardup.storage.signatures import memory_passages

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Iterable

    from crawler.maintenance.verify.finding import CheckWatch
    from neardup import Document, Parameters
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
_SIGNED = """
(SELECT judged.id, judged.fingerprint, words, url, name
 FROM temp.judged AS judged JOIN pages USING (id) WHERE original IS NULL)
WHERE fingerprint IS NOT NULL
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


class JudgedPages(StoredDocuments):
    """The table of new verdicts, with neardup's ``Documents`` over its kept pages.

    It is in a temporary file, so that its memory does not grow with the crawl.
    """

    def __init__(
        self, connection: sqlite3.Connection, texts: HeldTexts, names: VolatileSlots
    ) -> None:
        super().__init__(connection.execute, names, _SIGNED)
        self._connection = connection
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


# Copies of a file that is no page have no text: is_main is NULL. Originals in other crawls stay.
JUDGED = (
    f"latest = 1 AND is_main IS NOT NULL AND verdict IN ({listed(OF_TEXTS)})"
    " AND id NOT IN (SELECT page FROM elsewhere)"
)
_COLUMNS = """
SELECT id, verdict, duplicate_of, distance, similarity, words, is_main, text_digest,
       visible_digest, payload_digest, body_bytes, key, coalesce(name, ''), url
FROM pages"""
_FREED = f"""
CREATE TEMP TABLE freed AS
SELECT page AS id FROM wall_pages JOIN wall_clusters ON wall_clusters.id = cluster
WHERE kind = '{PAGE}' OR cluster IN (SELECT value FROM json_each('{{}}'))
"""
_TO_JUDGE = (
    f"({JUDGED} OR latest = 1 AND is_main IS NOT NULL AND verdict IN ({listed(WALLS)})"
    " AND id IN (SELECT id FROM temp.freed))"
)
_PAGES = f"{_COLUMNS} WHERE {_TO_JUDGE} AND id > ? ORDER BY id LIMIT 1000"
_PAGE = f"{_COLUMNS} WHERE id = ?"
_COUNTED = """
SELECT judged.id, judged.verdict, pages.url, kept.url, source, is_near
FROM temp.judged JOIN pages ON pages.id = judged.id
LEFT JOIN pages AS kept ON kept.id = judged.original
WHERE judged.id > ? AND source IS NOT NULL ORDER BY judged.id LIMIT 1000
"""
_WAITS = f"SELECT 1 FROM requests WHERE key = ? AND state = {WAITING}"


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
    name: str
    url: str

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
        freed: Numbers of walls whose pages are judged by their texts.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        parameters: Parameters,
        *,
        can_queue: bool,
        freed: Collection[int] = (),
    ) -> None:
        self._connection = connection
        self._can_queue = can_queue
        self._parameters = parameters
        self._texts = HeldTexts(connection.execute)
        self._names = VolatileSlots(connection.execute, connection.execute)
        self._judged = JudgedPages(connection, self._texts, self._names)
        connection.execute("DROP TABLE IF EXISTS temp.freed")
        connection.execute(_FREED.format(json.dumps(list(freed))))

    def judge(self, watch: CheckWatch) -> None:
        """Judge all pages; those whose text is lost come last, judged by their stored facts.

        Where boilerplate counts, all pages are judged twice: first without it, to know which texts
        are to be counted, then with all of them counted. So no verdict depends on what was known of
        a host when a page came.

        All is read as it is at one moment, until the connection ends its transaction.

        Complexity: O(size of the texts); memory for one of them, and that of the indexes of a crawl
        (``neardup.Deduplicator``).
        """
        self._connection.execute("BEGIN")
        self._judge_all(watch, None)
        boilerplate = self._counted(watch)
        if boilerplate.is_any_known and self._parameters.ignore_boilerplate:
            self._judged = JudgedPages(self._connection, self._texts, self._names)
            self._judge_all(watch, boilerplate)

    def _counted(self, watch: CheckWatch) -> CountedBoilerplate:
        """Count the pages by the verdicts that were made without boilerplate."""
        self._connection.execute("DROP TABLE IF EXISTS temp.host_blocks")
        # It hides the table of the crawl, which is written when the verdicts are applied.
        self._connection.execute(BOILERPLATE)
        boilerplate = CountedBoilerplate(self._connection.execute, self._connection.execute)
        total = self._connection.execute("SELECT count(*) FROM temp.judged").fetchone()[0]
        watch.begin("texts counted", int(total))
        last = -1
        while rows := self._connection.execute(_COUNTED, (last,)).fetchall():
            for page_id, verdict, url, original_url, source, is_near in rows:
                if verdict == CHANGED or is_counted(verdict, url, original_url):
                    text = self._texts.text(TextSource(source, is_near))
                    boilerplate.count(page_id, url, block_hashes(text))
                watch.advance()
            last = rows[-1][0]
        boilerplate.store()
        return boilerplate

    def _judge_all(self, watch: CheckWatch, boilerplate: CountedBoilerplate | None) -> None:
        sql = f"SELECT count(*) FROM pages WHERE {_TO_JUDGE}"
        watch.begin("pages judged again", int(self._connection.execute(sql).fetchone()[0]))
        unheld: list[int] = []
        parameters = self._parameters
        index = HammingIndex(radius=parameters.max_distance)
        passages = memory_passages(parameters.verify_shingle_size)
        with Deduplicator(
            parameters,
            documents=self._judged,
            index=index,
            passages=passages,
            boilerplate=boilerplate,
        ) as judge:
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
            verdict = replace(
                verdict, kind=CHANGED, distance=page.distance, similarity=page.similarity
            )
        long = document.words >= self._parameters.min_words
        fingerprint = document.fingerprint if long else None
        self._put(_row(page, verdict, document.digest, fingerprint, source))
        self._judged.name_container(page.id, verdict.parts)
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
        name, group = self._names.stable(page.url, page.name), host_of(page.url)
        return replace(document, payload=page.payload, name=name, group=group)

    def _judge_unheld(self, page: JudgedPage) -> None:
        """Judge a page without a stored text by its digests or its old distance, or await it."""
        known = self._equal(page)
        if known is None and self._goes_on(page):
            known = Verdict(page.verdict, page.duplicate_of, page.distance, page.similarity)
        if known is not None:
            self._put_unheld(page, known)
            return
        awaited = int(page.text_digest is not None or self._is_to_be_queued(page))
        named = self._judged.get(page.duplicate_of)
        if named is not None:
            near = Verdict(NEAR_DUPLICATE, named.original)
            if named.original is None:
                near = Verdict(NEAR_DUPLICATE, named.id, page.distance, page.similarity)
            self._put_unheld(page, near, is_awaited=awaited)

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
            and (parameters.verify or page.distance <= parameters.max_distance)
            and (page.words or 0) >= parameters.min_words
            and is_alike
            and not self._is_other(page)
        )

    def _is_other(self, page: JudgedPage) -> bool:
        """Return whether a page has another name than the one that it repeats."""
        if not self._parameters.compare_names or page.duplicate_of is None:
            return False
        kept = self._judged.name(page.duplicate_of)
        name = self._names.stable(page.url, page.name)
        return bool(difference(unpacked(name), unpacked(kept)))

    def _put_unheld(self, page: JudgedPage, verdict: Verdict, *, is_awaited: int = 0) -> None:
        row = _row(page, verdict, page.text_digest)
        self._put(row._replace(is_awaited=is_awaited))


def _judged(judge: Deduplicator, page: JudgedPage, document: Document) -> Verdict:
    # First, as in a crawl: copies of a page without a word are copies too.
    known = None if page.payload is None else judge.find_payload(page.payload)
    return known or judge.judge_document(page.id, document)


def _row(
    page: JudgedPage,
    verdict: Verdict,
    text_digest: bytes | None,
    fingerprint: int | None = None,
    source: TextSource | None = None,
) -> JudgedRow:
    named = verdict.kind, verdict.duplicate_of, verdict.resembles, verdict.part_of
    measures = verdict.distance, verdict.similarity, verdict.containment
    digests = text_digest, page.payload, fingerprint
    return JudgedRow(page.id, *named, *measures, *digests, *(source or (None, 0)))
