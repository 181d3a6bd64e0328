"""Store every capture with its verdict, and the texts of the kept ones."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from crawler.pages.page_row import (
    COLUMNS,
    TEXT_BESIDE,
    LastCapture,
    PageRow,
    StoredUrl,
    columns_of,
    highest_id,
    row_of,
    to_unsigned,
)
from crawler.pages.verdicts import (
    FAILED,
    KEPT,
    NOT_HTML,
    ORIGINALS,
    WITHOUT_PAGE,
    listed,
    says_less,
)
from crawler.pages.volatile import VolatileSlots
from crawler.reading.content.content_xml import StoredText
from crawler.storage import meta_names
from crawler.storage.checksums import checksum_sql

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from crawler.pages.page_row import Read
    from crawler.pages.reasons import Stored
    from crawler.storage.database import Database
    from neardup.verdict import Part


_SELECT = f"SELECT {', '.join(COLUMNS)} FROM pages"

PUT_NEAR_TEXT = "INSERT OR REPLACE INTO near_texts (page, text, content) VALUES (?, ?, ?)"

_OF_VERDICT = (
    "verdict", "reason", "duplicate_of", "resembles", "part_of", "distance", "similarity",
    "containment", "parameters", "better_copy", "words", "is_main", "payload_digest",
    "visible_digest", "text_digest", "fingerprint", "page_type", "content_source", "text",
    "content", "html",
)  # fmt: skip
"""The columns that a later verdict may change."""

_SET_VERDICT = f"UPDATE pages SET {', '.join(f'{name} = ?' for name in _OF_VERDICT)} WHERE id = ?"

SEEN_COLUMNS = (
    "payload_digest", "last_payload_digest", "etag", "last_modified", "title", "name", "author",
    "date", "language", "declared_url", "metadata",
)  # fmt: skip
"""The columns that a later answer with the same text may change."""

_SEE_AGAIN = f"""
UPDATE pages SET seen_visit = ?, seen_at = ?, {", ".join(f"{name} = ?" for name in SEEN_COLUMNS)}
WHERE id = ?
"""

_SET_CONTAINER = f"""
UPDATE pages SET part_of = ?1, containment = ?2
WHERE id = ?3 AND latest = 1 AND verdict IN ({listed(KEPT)}) AND NOT EXISTS (
  SELECT 1 FROM pages AS whole WHERE whole.id = pages.part_of AND whole.latest = 1
  AND whole.key <> ?4)
"""

# Every text that was ever kept: the index forgets nothing, older versions may be dropped. The
# index pages_fingerprint has the same condition.
_INDEXED = f"fingerprint IS NOT NULL AND verdict IN ({listed(KEPT)})"

# The condition of the index pages_payload has the same list.
_ORIGINALS = f"verdict IN ({listed(ORIGINALS)})"

_URLS_AFTER = """
SELECT id, key, url, depth, verdict, (SELECT referer FROM known WHERE known.key = pages.key), reason
FROM pages WHERE id > ? AND (latest = 1 OR reason = ?) ORDER BY id LIMIT ?
"""
_MAX_DIGESTS = 200_000
"""Hold at most this many keys and digests in memory, some 90 bytes each, four of a page."""

_DIGESTS = f"""
SELECT key FROM pages
UNION ALL SELECT payload_digest FROM pages WHERE {_ORIGINALS}
UNION ALL SELECT visible_digest FROM pages WHERE text IS NOT NULL
UNION ALL SELECT text_digest FROM pages WHERE text IS NOT NULL
"""
"""The keys by which captures are found, from the indexes that find them."""


class PageStore:
    """Reads and writes the table ``pages``, on the one connection of the crawl.

    Args:
        database: The crawl's database.
        is_sole: Whether all rows are written through this store, so that it can tell without a look
            at the table which keys and digests none has. Nearly every page of a first visit is new.

    Attributes:
        database: The crawl's database.
        had_pages: Whether an earlier process stored pages.
        insert_sql: The statement that inserts the values of a row.
    """

    def __init__(self, database: Database, *, is_sole: bool = False) -> None:
        self.database = database
        self._next_id = highest_id(database.read) + 1
        self._first_own_id, self._opened_at = self._next_id, time.time()
        self._noted_visit = self.last_visit
        checksum = checksum_sql(database.read, "pages", "?{1}")
        self.insert_sql = f"INSERT INTO pages VALUES ({', '.join('?' * len(COLUMNS))}, {checksum})"
        self._held: WeakValueDictionary[bytes, LastCapture] = WeakValueDictionary()
        # All that captures are found by; None where that is not known, or too much to be held.
        self._digests: set[bytes | None] | None = None
        if is_sole and 4 * self._next_id <= _MAX_DIGESTS:
            self._digests = {digest for (digest,) in database.read(_DIGESTS)}
        self.volatile = VolatileSlots(database.read, database.write)
        self.had_pages = self._noted_visit > 0

    def new_id(self) -> int:
        """Return an id for the next capture, never given twice."""
        self._next_id += 1
        return self._next_id - 1

    def insert(self, row: PageRow, *, by_time: bool = False) -> None:
        """Store a capture; it becomes the latest under its key.

        A capture without content never replaces a capture with content.

        Args:
            row: The capture.
            by_time: Whether it never replaces one that was fetched after it.
        """
        last = self.last(row.key)
        is_late = by_time and last.row is not None and last.row.fetched_at > row.fetched_at
        if is_late or (last.row is not None and says_less(row, last.row)):
            row.latest = 0
        elif last.is_any:
            self._replace(row.key)
        self.database.write(self.insert_sql, row.values())
        self._note_change(row.key, row)
        self._note_visit(row.visit)

    def _replace(self, key: bytes) -> None:
        latest = "SELECT id FROM pages WHERE key = ? AND latest = 1"
        self.database.write(f"DELETE FROM near_texts WHERE page IN ({latest})", (key,))
        # A duplicate may have HTML, if it was kept before all pages were judged again.
        self.database.write(
            "UPDATE pages SET latest = 0, html = CASE WHEN duplicate_of IS NULL THEN html END"
            " WHERE key = ? AND latest = 1",
            (key,),
        )

    def keep_near_text(self, page_id: int, stored: StoredText | None) -> None:
        if stored is not None:
            self.database.write(PUT_NEAR_TEXT, (page_id, stored.text, stored.content))

    def near_text(self, page_id: int) -> StoredText | None:
        found = self.database.read(f"{TEXT_BESIDE} WHERE page = ?", (page_id,)).fetchone()
        return None if found is None else StoredText.of(*found[2:])

    @property
    def last_visit(self) -> int:
        """The last visit in which a page was captured or found unchanged."""
        return int(self.database.meta(meta_names.LAST_VISIT) or 0)

    def _note_visit(self, visit: int) -> None:
        if visit > self._noted_visit:  # a promoted duplicate has that of its capture
            self.database.set_meta(meta_names.LAST_VISIT, str(visit))
            self._noted_visit = visit

    def previous(self, key: bytes) -> PageRow | None:
        """Return the latest capture under a key that was read, or None."""
        return self.last(key).row

    def last(self, key: bytes) -> LastCapture:
        """Return the same as ``previous``, read once for all who hold it, while it is current."""
        held = self._held.get(key)
        if held is None:
            row = self._found("key = ? AND latest = 1", key)
            was_read = row is not None and row.verdict not in WITHOUT_PAGE
            held = self._held[key] = LastCapture(row if was_read else None, row is not None)
        return held

    def _note_change(self, key: bytes, row: PageRow | None = None) -> None:
        """Have the latest capture of a page read again, and a row looked for that was not there.

        Every write to ``pages`` is noted, so that no request goes on with an old row.
        """
        held = self._held.pop(key, None)
        if held is not None:
            held.is_current = False
        self._note_digests(key)
        if row is not None:
            self._note_digests(row.payload_digest, row.visible_digest, row.text_digest)

    def _note_digests(self, *digests: bytes | None) -> None:
        if self._digests is not None:
            self._digests.update(digests)
            if len(self._digests) > _MAX_DIGESTS:
                self._digests = None

    def _may_have(self, digest: bytes | None) -> bool:
        """Return whether a capture may have a key or a digest; False is certain."""
        return digest is not None and (self._digests is None or digest in self._digests)

    def note_changes(self) -> None:
        """Have all that was read looked up again, since rows of any page were changed.

        None of them has a digest that no row had before.
        """
        for key in list(self._held):
            self._note_change(key)

    def is_held(self, row: PageRow) -> bool:
        """Return whether a capture's text or file is still stored, with it or with its original.

        The original of a duplicate may have changed since; then the duplicate is the one to keep.
        """
        if row.duplicate_of is None:
            return True
        sql = f"SELECT 1 FROM pages WHERE id = ? AND latest = 1 AND {_ORIGINALS}"
        return self.database.read(sql, (row.duplicate_of,)).fetchone() is not None

    def holds_text_of(self, row: PageRow) -> bool:
        """Return whether the text of a capture is stored anywhere.

        As ``is_held``, but also true if its original has changed: the text is then that of an older
        version, or is stored beside the duplicate.
        """
        if self.is_held(row):
            return True
        digest = row.text_digest
        if digest is None:
            return False
        return self.near_text(row.id) is not None or self.find_by_digest(digest) is not None

    def touch(self, row: PageRow, visit: int, now: float) -> None:
        """Record that a page was found unchanged."""
        values = dict(zip(COLUMNS, row.values(), strict=True))
        seen = (values[name] for name in SEEN_COLUMNS)
        self.database.write(_SEE_AGAIN, (visit, now, *seen, row.id))
        self._note_change(row.key, row)
        self._note_visit(visit)

    def store_verdict(self, row: PageRow) -> None:
        """Store what a later verdict changes in a capture: its facts, its original, its text."""
        values = dict(zip(COLUMNS, row.values(), strict=True))
        self.database.write(_SET_VERDICT, (*(values[name] for name in _OF_VERDICT), row.id))
        if row.text is not None:
            self.database.write("DELETE FROM near_texts WHERE page = ?", (row.id,))
        self._note_change(row.key, row)

    def name_container(self, row: PageRow, parts: Iterable[Part]) -> None:
        """Record that a page has these kept ones as parts, but for those of another page."""
        for part in parts:
            self.database.write(_SET_CONTAINER, (row.id, part.containment, part.id, row.key))
            self.note_changes()

    def note(self, page_id: int, reason: Stored | None) -> None:
        self.database.write("UPDATE pages SET reason = ? WHERE id = ?", (reason, page_id))
        self.note_changes()

    def get(self, page_id: int) -> PageRow | None:
        return self._row("id = ?", page_id)

    def find_payload(self, digest: bytes) -> LastCapture | None:
        """Return the first kept page of exactly these bytes, read once for all who hold it."""
        row = self._find_bytes(digest, f"verdict <> '{NOT_HTML}'")
        return None if row is None else self._held.setdefault(row.key, LastCapture(row, True))

    def find_file(self, digest: bytes) -> PageRow | None:
        """Return the first file that is no page of exactly these bytes."""
        return self._find_bytes(digest, f"verdict = '{NOT_HTML}'")

    def _find_bytes(self, digest: bytes, condition: str) -> PageRow | None:
        return self._found(
            f"payload_digest = ? AND latest = 1 AND {_ORIGINALS} AND {condition}"
            " ORDER BY id LIMIT 1",
            digest,
        )

    def note_depth(self, key: bytes, depth: int) -> None:
        """Record a shorter path from a seed to a page."""
        self.database.write(
            "UPDATE pages SET depth = ?1 WHERE key = ?2 AND latest = 1 AND depth > ?1", (depth, key)
        )
        self._note_change(key)

    def failure_source(self, key: bytes) -> str | None:
        """Return the column ``metadata`` of the last failure of a page, which names its source.

        In a later visit a URL is requested because it is known, and no longer for a link.
        """
        sql = "SELECT metadata FROM pages WHERE key = ? AND latest = 1 AND verdict = ?"
        return self.database.value(sql, (key, FAILED))

    def has_failed(self, key: bytes, visit: int) -> bool:
        """Return whether a URL gave no page in a visit before."""
        sql = "SELECT 1 FROM pages WHERE key = ? AND visit = ? AND verdict = ? LIMIT 1"
        return self.database.read(sql, (key, visit, FAILED)).fetchone() is not None

    def forget_failures(self, key: bytes, before: int) -> None:
        """Delete the failures of a page with smaller ids, except for its newest capture."""
        self.database.write(
            "DELETE FROM pages WHERE key = ? AND id < ? AND latest = 0"
            f" AND verdict IN ({listed(WITHOUT_PAGE)})",
            (key, before),
        )

    def drop_texts(self, key: bytes, keep: int) -> None:
        """Drop the texts of a page's older versions, except for the newest ``keep``.

        A text that a present duplicate has, or whose capture is its original, stays. So does what
        a page or its copy said before a text that may be a wall.
        """
        self.database.write(
            "UPDATE pages SET text = NULL, content = NULL, html = NULL"
            " WHERE id IN (SELECT id FROM pages WHERE key = ? AND latest = 0"
            " AND text IS NOT NULL ORDER BY id DESC LIMIT -1 OFFSET ?)"
            " AND NOT EXISTS (SELECT 1 FROM pages AS copy WHERE copy.latest = 1"
            " AND copy.text_digest = pages.text_digest AND copy.duplicate_of IS NOT NULL)"
            " AND NOT EXISTS (SELECT 1 FROM pages AS copy WHERE copy.latest = 1"
            " AND copy.duplicate_of = pages.id)"
            " AND NOT EXISTS (SELECT 1 FROM pages AS old CROSS JOIN wall_pages ON replaced = old.id"
            " CROSS JOIN pages AS wall ON wall.id = page AND wall.latest = 1"
            " CROSS JOIN wall_clusters ON wall_clusters.id = cluster AND kind <> ''"
            " WHERE old.id = pages.id OR old.duplicate_of = pages.id)",
            (key, keep),
        )
        self._note_change(key)

    def urls(self) -> Iterator[StoredUrl]:
        """Yield all URLs in the order of discovery, each with its newest capture, beside writes."""
        last = 0
        while urls := self.urls_after(last, 500):
            yield from urls
            last = urls[-1].id

    def urls_after(self, last: int, most: int, reason: Stored | None = None) -> list[StoredUrl]:
        """Return the next newest captures after one, and earlier ones with this very reason."""
        return [StoredUrl(*row) for row in self.database.read(_URLS_AFTER, (last, reason, most))]

    def forget(self, page_id: int) -> None:
        """Delete a duplicate's capture that a kept one replaces."""
        self.database.write("DELETE FROM near_texts WHERE page = ?", (page_id,))
        self.database.write("DELETE FROM pages WHERE id = ? AND text IS NULL", (page_id,))
        self.note_changes()

    def find_by_digest(self, digest: bytes) -> PageRow | None:
        """Return a capture with the text of a digest, be it the newest of its page or not."""
        return self._found(
            "text_digest = ? AND text IS NOT NULL ORDER BY latest DESC LIMIT 1", digest
        )

    def is_of_earlier_process(self, row: PageRow) -> bool:
        """Return whether a capture was there when this process opened the store."""
        return row.id < self._first_own_id

    def is_seen_before(self, row: PageRow | None, visit: int) -> bool:
        """Return whether an earlier process stored a page, or saw it again, in this visit."""
        return row is not None and row.seen_visit == visit and row.seen_at < self._opened_at

    def find_visible(self, digest: bytes) -> PageRow | None:
        """Return the first kept capture with exactly this visible text."""
        return self._found("visible_digest = ? AND text IS NOT NULL ORDER BY id LIMIT 1", digest)

    def find_shown(
        self, row: PageRow, *, is_long: bool, exclude: Collection[int]
    ) -> PageRow | None:
        """Return the first kept page with the same visible text and number of words, or None.

        Args:
            row: Page with a main text.
            is_long: Whether the wanted page was judged by its fingerprint.
            exclude: Ids of pages that are not wanted.
        """
        if not self._may_have(row.visible_digest):
            return None
        rows = self.database.read(
            f"{_SELECT} WHERE visible_digest = ? AND text IS NOT NULL AND latest = 1"
            " AND is_main = 1 AND words = ? AND (fingerprint IS NOT NULL) = ? ORDER BY id",
            (row.visible_digest, row.words, is_long),
        )
        return next((found for found in map(row_of, rows) if found.id not in exclude), None)

    def find_text(self, digest: bytes, exclude: Collection[int]) -> int | None:
        """Return the id of the first kept capture with this digest of its judged text."""
        if not self._may_have(digest):
            return None
        rows = self.database.read(
            "SELECT id FROM pages WHERE text_digest = ? AND latest = 1 AND text IS NOT NULL"
            " ORDER BY id",
            (digest,),
        )
        return next((int(page_id) for (page_id,) in rows if page_id not in exclude), None)

    def text(self, page_id: int) -> bytes | None:
        """Return the text, zstd, of a capture that is its page's newest; None for any other."""
        return self.database.value("SELECT text FROM pages WHERE id = ? AND latest = 1", (page_id,))

    def name(self, page_id: int) -> str:
        """Return what a page is called, packed, with volatile words of its host the same."""
        row = columns_of(self.database.read, page_id, "url, name")
        return "" if row is None else self.volatile.stable(*row)

    def fingerprints(self, skip: int = 0) -> Iterator[tuple[int, int]]:
        """Yield (fingerprint, id) of every capture with a fingerprint and a kept text, by id."""
        for fingerprint, page_id in indexed(self.database.read, skip):
            yield to_unsigned(fingerprint) or 0, page_id

    def count_fingerprints(self) -> int:
        sql = f"SELECT count(*) FROM pages WHERE {_INDEXED}"
        return int(self.database.read(sql).fetchone()[0])

    def highest_id(self, first: int) -> int:
        """Return the highest id of the first ``first`` pairs of ``fingerprints``, or -1."""
        sql = f"SELECT id FROM pages WHERE {_INDEXED} ORDER BY id LIMIT 1 OFFSET ?"
        row = self.database.read(sql, (first - 1,)).fetchone()
        return int(row[0]) if first and row else -1

    def _found(self, condition: str, digest: bytes) -> PageRow | None:
        return self._row(condition, digest) if self._may_have(digest) else None

    def _row(self, condition: str, value: object) -> PageRow | None:
        values = self.database.read(f"{_SELECT} WHERE {condition}", (value,)).fetchone()
        return None if values is None else row_of(values)


def indexed(read: Read, skip: int = 0) -> Iterator[tuple[int, int]]:
    """Yield signed fingerprints and ids of all captures that the fingerprint index has, by id."""
    sql = f"SELECT fingerprint, id FROM pages WHERE {_INDEXED} ORDER BY id LIMIT -1 OFFSET ?"
    yield from map(tuple, read(sql, (skip,)))
