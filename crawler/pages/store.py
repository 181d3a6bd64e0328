"""The page store: every capture with its verdict, the text of those that are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.pages.page import COLUMNS, PageRow, row_of, to_unsigned
from crawler.pages.verdicts import FAILED, UNREADABLE

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from crawler.pages.database import Database

_SELECT = f"SELECT {', '.join(COLUMNS)} FROM pages"  # noqa: S608
_INSERT = f"INSERT INTO pages VALUES ({', '.join('?' * len(COLUMNS))})"  # noqa: S608

# The same list stands in the condition of the index pages_payload.
_HELD_FINGERPRINT = "fingerprint IS NOT NULL AND text IS NOT NULL"
_ORIGINALS = "verdict IN ('new', 'changed', 'too_short', 'not_html')"


class PageStore:
    """Reads and writes the table ``pages``; all on the one connection of the crawl."""

    def __init__(self, database: Database) -> None:
        self._database = database
        row = database.read("SELECT coalesce(max(id), 0) + 1 FROM pages").fetchone()
        self._next_id = int(row[0])

    def new_id(self) -> int:
        """An id for the next capture, never given twice."""
        self._next_id += 1
        return self._next_id - 1

    def insert(self, row: PageRow) -> None:
        """Store a capture; it becomes the latest under its key.

        A failure never takes the place of a capture that holds something.
        """
        if row.verdict in {FAILED, UNREADABLE} and self.previous(row.key) is not None:
            row.latest = 0
        else:
            self._database.write(
                "UPDATE pages SET latest = 0 WHERE key = ? AND latest = 1", (row.key,)
            )
        self._database.write(_INSERT, row.values())

    def previous(self, key: bytes) -> PageRow | None:
        """The latest capture under a key that was read, or None."""
        row = self._row(f"{_SELECT} WHERE key = ? AND latest = 1", (key,))
        return None if row is None or row.verdict in {FAILED, UNREADABLE} else row

    def is_held(self, row: PageRow) -> bool:
        """Whether what a capture said is still stored: with it, or with its original.

        The original of a duplicate may say something else since; then the
        duplicate is the one to keep.
        """
        if row.duplicate_of is None:
            return True
        held = self._database.read(
            f"SELECT 1 FROM pages WHERE id = ? AND latest = 1 AND {_ORIGINALS}",  # noqa: S608
            (row.duplicate_of,),
        )
        return held.fetchone() is not None

    def touch(self, row: PageRow, visit: int, now: float) -> None:
        """Note that a page was found unchanged."""
        self._database.write(
            "UPDATE pages SET seen_visit = ?, seen_at = ?, payload_digest = ?,"
            " etag = ?, last_modified = ? WHERE id = ?",
            (visit, now, row.payload_digest, row.etag, row.last_modified, row.id),
        )

    def note(self, page_id: int, reason: str) -> None:
        """Add to a capture what was odd about it."""
        self._database.write("UPDATE pages SET reason = ? WHERE id = ?", (reason, page_id))

    def get(self, page_id: int) -> PageRow | None:
        """The capture with an id."""
        return self._row(f"{_SELECT} WHERE id = ?", (page_id,))

    def find_payload(self, digest: bytes) -> PageRow | None:
        """The first kept capture of exactly these bytes."""
        return self._row(
            f"{_SELECT} WHERE payload_digest = ? AND latest = 1 AND {_ORIGINALS}"
            " ORDER BY id LIMIT 1",
            (digest,),
        )

    def find_visible(self, digest: bytes) -> PageRow | None:
        """The first kept capture with exactly this visible text."""
        return self._row(
            f"{_SELECT} WHERE visible_digest = ? AND text IS NOT NULL ORDER BY id LIMIT 1",
            (digest,),
        )

    def find_text(self, digest: bytes, exclude: Collection[int]) -> int | None:
        """The id of the first kept capture with this digest of its judged text."""
        rows = self._database.read(
            "SELECT id FROM pages WHERE text_digest = ? AND latest = 1 AND text IS NOT NULL"
            " ORDER BY id",
            (digest,),
        )
        return next((int(page_id) for (page_id,) in rows if page_id not in exclude), None)

    def text(self, page_id: int) -> bytes | None:
        """The text, zstd, of a capture that is its page's newest; None for any other."""
        row = self._database.read(
            "SELECT text FROM pages WHERE id = ? AND latest = 1", (page_id,)
        ).fetchone()
        return None if row is None else row[0]

    def fingerprints(self, skip: int = 0) -> Iterator[tuple[int, int]]:
        """(fingerprint, id) of every capture with a text and a fingerprint, by id."""
        rows = self._database.read(
            f"SELECT fingerprint, id FROM pages WHERE {_HELD_FINGERPRINT}"  # noqa: S608
            " ORDER BY id LIMIT -1 OFFSET ?",
            (skip,),
        )
        for fingerprint, page_id in rows:
            yield to_unsigned(fingerprint) or 0, int(page_id)

    def count_fingerprints(self) -> int:
        """How many ``fingerprints`` yields."""
        row = self._database.read(
            f"SELECT count(*) FROM pages WHERE {_HELD_FINGERPRINT}"  # noqa: S608
        ).fetchone()
        return int(row[0])

    def highest_id(self, first: int) -> int:
        """The highest id of the first so many ``fingerprints``, -1 where there is none."""
        row = self._database.read(
            f"SELECT id FROM pages WHERE {_HELD_FINGERPRINT}"  # noqa: S608
            " ORDER BY id LIMIT 1 OFFSET ?",
            (first - 1,),
        ).fetchone()
        return int(row[0]) if first and row else -1

    def _row(self, sql: str, parameters: tuple[object, ...]) -> PageRow | None:
        values = self._database.read(sql, parameters).fetchone()
        return None if values is None else row_of(values)
