"""Order the captures of all crawls, and choose the newest one of each page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from crawler.maintenance.merge.merged_crawls import rivals
from crawler.maintenance.verify.capture_checks import TWICE
from crawler.pages.page_row import COLUMNS
from crawler.pages.page_store import PUT_NEAR_TEXT, SEEN_COLUMNS, PageStore
from crawler.pages.reasons import Reason
from crawler.pages.verdicts import (
    DUPLICATES,
    NOINDEX,
    NOT_HTML,
    ORIGINALS,
    TEXT_DUPLICATE,
    WALLS,
    WITHOUT_PAGE,
    listed,
    says_less,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from crawler.maintenance.merge.merged_crawls import MergedCrawl, PartedKeys
    from crawler.maintenance.verify.finding import CheckWatch
    from crawler.storage.database import Database

_BATCH = 1_000
_CAPTURES = """
SELECT id, source, old, latest FROM scratch.captures WHERE same_as IS NULL AND id > ?
ORDER BY id LIMIT ?
"""
_ROW = f"SELECT {', '.join(COLUMNS)} FROM pages WHERE id = ?"
_ORIGINAL = "SELECT key, text_digest FROM pages WHERE id = ?"
_ELSEWHERE = "SELECT key, text_digest FROM elsewhere WHERE page = ?"
_NEW_ID = "SELECT coalesce(same_as, id) FROM scratch.captures WHERE source = ? AND old = ?"
_IS_REPLACED = "SELECT 1 FROM wall_pages WHERE replaced = ?"  # its text may come back
# A capture that equals another one: that one was found unchanged then.
_SEEN_AGAIN = """
SELECT same_as, source, old FROM scratch.captures WHERE same_as IS NOT NULL ORDER BY id
"""
# As PageRow.see_again: a name that is not known takes no other one's place.
_SEEN = [f"{name} = {'coalesce(?, name)' if name == 'name' else '?'}" for name in SEEN_COLUMNS]
_TOUCH = f"""
UPDATE pages SET seen_visit = max(seen_visit, ?), seen_at = ?, {", ".join(_SEEN)}
WHERE id = ? AND seen_at < ?
"""

# Texts that two crawls kept without knowing of each other, or after one was killed.
_MAKE_DUPLICATES = f"""
UPDATE pages SET verdict = '{TEXT_DUPLICATE}', distance = 0, similarity = 1.0, text = NULL,
    content = NULL, html = NULL, duplicate_of = (
        SELECT min(first.id) FROM pages AS first
        WHERE first.text_digest = pages.text_digest AND first.latest = 1
          AND first.text IS NOT NULL)
WHERE id IN (SELECT id FROM ({TWICE}))
"""

# The named page itself if its text is unchanged; else a page with the same text.
_NAME = """
UPDATE pages SET duplicate_of = (
    SELECT kept.id FROM scratch.named JOIN pages AS kept
      ON kept.text_digest = named.text_digest AND kept.latest = 1 AND kept.text IS NOT NULL
    WHERE named.page = pages.id
    ORDER BY kept.id IS NOT named.original, kept.key IS NOT named.key, kept.id LIMIT 1)
WHERE id IN (SELECT page FROM scratch.named WHERE text_digest IS NOT NULL)
"""

# A file is never stored: its copies name one with the same bytes.
_NAME_FILE = f"""
UPDATE pages SET duplicate_of = (
    SELECT file.id FROM scratch.named JOIN pages AS file
      ON file.payload_digest = pages.payload_digest
     AND file.verdict IN ({listed(ORIGINALS)}) AND file.verdict = '{NOT_HTML}'
    WHERE named.page = pages.id
    ORDER BY file.latest DESC, file.id IS NOT named.original, file.key IS NOT named.key, file.id
    LIMIT 1)
WHERE id IN (SELECT page FROM scratch.named WHERE text_digest IS NULL)
"""
_FILES_ALONE = f"""
UPDATE pages SET verdict = '{NOT_HTML}', distance = NULL, similarity = NULL,
    reason = coalesce(reason, '{Reason.LOST_FILE}')
WHERE id IN (
    SELECT page FROM scratch.named JOIN pages ON pages.id = page
    WHERE pages.duplicate_of IS NULL AND pages.text_digest IS NULL)
"""

SCRATCH = """
CREATE TABLE scratch.found (
    fetched_at REAL, source INTEGER, old INTEGER, key BLOB, latest INTEGER, verdict TEXT,
    words INTEGER, text_digest BLOB, payload_digest BLOB, body_bytes INTEGER, has_text INTEGER
);
CREATE TABLE scratch.captures (
    id INTEGER PRIMARY KEY, source INTEGER, old INTEGER, key BLOB, latest INTEGER, verdict TEXT,
    words INTEGER, text_digest BLOB, payload_digest BLOB, body_bytes INTEGER, has_text INTEGER,
    same_as INTEGER
);
CREATE TABLE scratch.named (
    page INTEGER PRIMARY KEY, original INTEGER, key BLOB, text_digest BLOB
);
"""
_FIND = """
SELECT fetched_at, ?, id, key, latest, verdict, words, text_digest, payload_digest, body_bytes,
       text IS NOT NULL
FROM pages
"""
_NUMBER = """
INSERT INTO scratch.captures
SELECT NULL, source, old, key, latest, verdict, words, text_digest, payload_digest, body_bytes,
       has_text, NULL
FROM scratch.found ORDER BY fetched_at, source, old
"""
_INDEX = """
CREATE UNIQUE INDEX scratch.captures_old ON captures (source, old);
CREATE INDEX scratch.captures_key ON captures (key, latest);
DROP TABLE scratch.found;
"""


@dataclass(slots=True)
class Copier:
    """Copies rows of ``pages``, ``near_texts`` and the original of each duplicate.

    Args:
        database: Database of the merged crawl, with the captures numbered.
        sources: Crawls to copy from.
        parameters: New ids of parameters, by number of the source and old id.
        parted: Keys of pages that are not those of their crawl.
    """

    database: Database
    sources: Sequence[MergedCrawl]
    parameters: Mapping[tuple[int, int], int]
    parted: PartedKeys

    def copy(self, count: int, watch: CheckWatch) -> None:
        """Copy all captures in their new order. Complexity: O(n log n); memory of a batch."""
        watch.begin("copying pages", count)
        last = 0
        insert = PageStore(self.database).insert_sql
        while rows := self.database.read(_CAPTURES, (last, _BATCH)).fetchall():
            self.database.write_many(insert, self._copies(rows))
            self.database.commit()
            watch.advance(len(rows))
            last = rows[-1][0]
        self._touch()

    def _copies(self, rows: Sequence[tuple[int, int, int, int]]) -> Iterator[list[Any]]:
        for new, number, old, latest in rows:
            source = self.sources[number]
            page = dict(zip(COLUMNS, source.one(_ROW, old), strict=True))
            is_wall, original = page["verdict"] in WALLS, None
            if latest or is_wall or self.database.read(_IS_REPLACED, (new,)).fetchone():
                self._copy_beside(source, new, page)
            if latest:
                self._note_original(source, new, page)
            elif not is_wall:
                original = self._new_id(number, page["duplicate_of"])
            own = self.parted.own(number, page["key"])
            if own is not None:
                page |= own._asdict()
            page |= {
                "id": new,
                "latest": latest,
                "visit": page["visit"] + source.shift,
                "seen_visit": page["seen_visit"] + source.shift,
                "parameters": self.parameters.get((number, page["parameters"])),
                "duplicate_of": original,
                "resembles": self._new_id(number, page["resembles"]),
                "part_of": self._new_id(number, page["part_of"]),
            }
            yield list(page.values())

    def _copy_beside(self, source: MergedCrawl, new: int, page: Mapping[str, Any]) -> None:
        text = source.one("SELECT text, content FROM near_texts WHERE page = ?", page["id"])
        if text is not None and page["verdict"] in DUPLICATES | WALLS:
            self.database.write(PUT_NEAR_TEXT, (new, *text))

    def _note_original(self, source: MergedCrawl, new: int, page: Mapping[str, Any]) -> None:
        """Record the original of a newest capture, which is found when all are copied."""
        if page["verdict"] not in DUPLICATES:
            return
        original = page["duplicate_of"]
        found = source.one(_ELSEWHERE, page["id"])
        if original is not None:
            found = source.one(_ORIGINAL, original)
        key, digest = found or (None, None)
        row = (new, self._new_id(source.number, original), key, digest)
        self.database.write("INSERT INTO scratch.named VALUES (?, ?, ?, ?)", row)

    def _new_id(self, source: int, old: int | None) -> int | None:
        if old is None:
            return None
        return self.database.value(_NEW_ID, (source, old))

    def _touch(self) -> None:
        for same_as, number, old in self.database.read(_SEEN_AGAIN).fetchall():
            source = self.sources[number]
            page = dict(zip(COLUMNS, source.one(_ROW, old), strict=True))
            seen = page["seen_visit"] + source.shift, page["seen_at"]
            said = (page[name] for name in SEEN_COLUMNS)
            self.database.write(_TOUCH, (*seen, *said, same_as, page["seen_at"]))


def name_originals(database: Database) -> None:
    """Set the original of each duplicate to the kept page that it repeats, if there is one.

    Complexity: O(duplicates * log n).
    """
    for sql in (_MAKE_DUPLICATES, _NAME, _NAME_FILE, _FILES_ALONE):
        database.write(sql)
        database.commit()


class MergedCapture(NamedTuple):
    key: bytes
    id: int
    verdict: str
    words: int | None
    text_digest: bytes | None
    payload_digest: bytes | None
    body_bytes: int
    has_text: int

    @property
    def was_read(self) -> bool:
        """Whether an answer came that could be read."""
        return self.verdict not in WITHOUT_PAGE

    @property
    def is_file(self) -> bool:
        return self.text_digest is None and self.verdict != NOINDEX

    def says_what(self, other: MergedCapture) -> bool:
        """Return whether both are the same: the page was fetched twice, and had not changed."""
        if not (self.was_read and other.was_read) or self.is_file != other.is_file:
            return False
        if (self.verdict == NOINDEX) != (other.verdict == NOINDEX):
            return False
        if self.payload_digest is None or other.payload_digest is None:  # the words of another one
            return False
        same_bytes = bool(self.body_bytes) and self.payload_digest == other.payload_digest
        return same_bytes or (not self.is_file and self.text_digest == other.text_digest)


def choose(captures: Sequence[MergedCapture]) -> tuple[int, dict[int, int]]:
    """Choose the newest capture of a page as one crawl would, given the captures in this order.

    The newest one with content counts, by the rule of ``PageStore.insert``. Equal captures become
    one: the one that has the text, else the first.

    Returns:
        The id of the newest, and the ids of captures that repeat another, with that one's.
    """
    newest, same = captures[0], dict[int, int]()
    for capture in captures[1:]:
        if capture.says_what(newest):
            stays, goes = (newest, capture)
            if capture.has_text and not newest.has_text:
                stays, goes = capture, newest
            same[goes.id] = stays.id
            newest = stays
        elif not (newest.was_read and says_less(capture, newest)):
            newest = capture
    return newest.id, same


def number_captures(
    database: Database, sources: Iterable[MergedCrawl], parted: PartedKeys, watch: CheckWatch
) -> int:
    """Give all captures new ids in the order in which they were made; return their number.

    Complexity: O(n log n).
    """
    for source in sources:
        watch.begin(f"reading {source.folder}", source.count("pages"))
        rows = _watched(source.connection.execute(_FIND, (source.number,)), watch)
        marks = ", ".join("?" * 11)
        database.write_many(f"INSERT INTO scratch.found VALUES ({marks})", rows)
    database.write(_NUMBER)
    for statement in _INDEX.strip().split(";\n"):
        database.write(statement)
    parted.part()
    _choose_newest(database, watch)
    return int(database.read("SELECT count(*) FROM scratch.captures").fetchone()[0])


def _choose_newest(database: Database, watch: CheckWatch) -> None:
    watch.begin("pages in several crawls", 0)
    for rows in rivals(database, ", ".join(MergedCapture._fields[1:])):
        _put(database, *choose(list(map(MergedCapture._make, rows))))
        watch.advance(len(rows))


def _put(database: Database, newest: int, same: Mapping[int, int]) -> None:
    database.write(
        "UPDATE scratch.captures SET latest = 0 WHERE latest = 1 AND id <> ?1"
        " AND key = (SELECT key FROM scratch.captures WHERE id = ?1)",
        (newest,),
    )
    for goes, stays in same.items():
        while stays in same:
            stays = same[stays]  # noqa: PLW2901  # itself the same as a third one
        database.write("UPDATE scratch.captures SET same_as = ? WHERE id = ?", (stays, goes))


def _watched(rows: Iterable[tuple[object, ...]], watch: CheckWatch) -> Iterator[tuple[object, ...]]:
    for row in rows:
        watch.advance()
        yield row
