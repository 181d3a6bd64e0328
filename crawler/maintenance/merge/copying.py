"""Copy captures from their crawls, with the rows that belong to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from crawler.pages.page_row import COLUMNS
from crawler.pages.verdicts import DUPLICATES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from crawler.maintenance.merge.merged_crawls import MergedCrawl
    from crawler.maintenance.verify.finding import CheckWatch
    from crawler.storage.database import Database

SCRATCH = """
CREATE TABLE scratch.named (
    page INTEGER PRIMARY KEY, original INTEGER, key BLOB, text_digest BLOB
);
"""
_BATCH = 1_000
_CAPTURES = """
SELECT id, source, old, latest FROM scratch.captures WHERE same_as IS NULL AND id > ?
ORDER BY id LIMIT ?
"""
_ROW = f"SELECT {', '.join(COLUMNS)} FROM pages WHERE id = ?"  # noqa: S608
_INSERT = f"INSERT INTO pages VALUES ({', '.join('?' * len(COLUMNS))})"  # noqa: S608
_ORIGINAL = "SELECT key, text_digest FROM pages WHERE id = ?"
_ELSEWHERE = "SELECT key, text_digest FROM elsewhere WHERE page = ?"
_NEW_ID = "SELECT coalesce(same_as, id) FROM scratch.captures WHERE source = ? AND old = ?"
# A capture that equals another one: that one was found unchanged then.
_SEEN_AGAIN = """
SELECT same_as, source, old FROM scratch.captures WHERE same_as IS NOT NULL ORDER BY id
"""
_TOUCH = """
UPDATE pages SET seen_visit = max(seen_visit, ?), seen_at = ?, payload_digest = ?,
    last_payload_digest = ?, etag = ?, last_modified = ? WHERE id = ? AND seen_at < ?
"""


@dataclass(slots=True)
class Copier:
    """Copies rows of ``pages``, ``near_texts`` and the original of each duplicate.

    Args:
        database: Database of the merged crawl, with the captures numbered.
        sources: Crawls to copy from.
        parameters: New ids of parameters, by number of the source and old id.
    """

    database: Database
    sources: Sequence[MergedCrawl]
    parameters: Mapping[tuple[int, int], int]

    def copy(self, count: int, watch: CheckWatch) -> None:
        """Copy all captures in their new order. Complexity: O(n log n); memory of a batch."""
        watch.begin("copying pages", count)
        last = 0
        while rows := self.database.read(_CAPTURES, (last, _BATCH)).fetchall():
            self.database.write_many(_INSERT, self._copies(rows))
            self.database.commit()
            watch.advance(len(rows))
            last = rows[-1][0]
        self._touch()

    def _copies(self, rows: Sequence[tuple[int, int, int, int]]) -> Iterator[list[Any]]:
        for new, number, old, latest in rows:
            source = self.sources[number]
            page = dict(zip(COLUMNS, source.one(_ROW, old), strict=True))
            original = None
            if latest:
                self._note_beside(source, new, page)
            else:
                original = self._new_id(number, page["duplicate_of"])
            page |= {
                "id": new,
                "latest": latest,
                "visit": page["visit"] + source.shift,
                "seen_visit": page["seen_visit"] + source.shift,
                "parameters": self.parameters.get((number, page["parameters"])),
                "duplicate_of": original,
            }
            yield list(page.values())

    def _note_beside(self, source: MergedCrawl, new: int, page: Mapping[str, Any]) -> None:
        """Record the original of a newest capture, to be resolved when all captures are copied."""
        if page["verdict"] not in DUPLICATES:
            return
        original = page["duplicate_of"]
        found = source.one(_ELSEWHERE, page["id"])
        if original is not None:
            found = source.one(_ORIGINAL, original)
        key, digest = found or (None, None)
        row = (new, self._new_id(source.number, original), key, digest)
        self.database.write("INSERT INTO scratch.named VALUES (?, ?, ?, ?)", row)
        text = source.one("SELECT text FROM near_texts WHERE page = ?", page["id"])
        if text is not None:
            self.database.write("INSERT INTO near_texts VALUES (?, ?)", (new, text[0]))

    def _new_id(self, source: int, old: int | None) -> int | None:
        if old is None:
            return None
        row = self.database.read(_NEW_ID, (source, old)).fetchone()
        return None if row is None else int(row[0])

    def _touch(self) -> None:
        """Record the last time at which a page that was fetched twice was seen."""
        for same_as, number, old in self.database.read(_SEEN_AGAIN).fetchall():
            source = self.sources[number]
            page = dict(zip(COLUMNS, source.one(_ROW, old), strict=True))
            seen = page["seen_visit"] + source.shift, page["seen_at"]
            digests = page["payload_digest"], page["last_payload_digest"]
            version = page["etag"], page["last_modified"]
            row = (*seen, *digests, *version, same_as, page["seen_at"])
            self.database.write(_TOUCH, row)
