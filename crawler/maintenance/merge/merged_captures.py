"""Order the captures of all crawls, and choose the newest one of each page."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from crawler.maintenance.merge.merged_crawls import OWN_URL, attached, own_key, rivals
from crawler.pages.page_row import COLUMNS
from crawler.pages.page_store import SEEN_COLUMNS
from crawler.pages.reasons import Reason
from crawler.pages.verdicts import (
    DUPLICATES,
    EXACT_DUPLICATE,
    NOINDEX,
    NOT_HTML,
    ORIGINALS,
    WALLS,
    WITHOUT_PAGE,
    listed,
    says_less,
)
from crawler.storage.checksums import checksum_sql

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crawler.maintenance.merge.merged_crawls import MergedCrawl, PartedKeys
    from crawler.maintenance.verify.finding import CheckWatch
    from crawler.storage.database import Database

LENT_AT = 0.0
"""The moment at which a text that a fleet lends was fetched: before all captures."""

_AT_ONCE = 1_000

_CAPTURES = """
FROM scratch.attached CROSS JOIN scratch.captures AS one ON one.source = number
JOIN crawl.pages AS page ON page.id = one.old
"""
_NEW_ID = "(SELECT coalesce(same_as, id) FROM scratch.captures WHERE source = number AND old = {})"
_CHANGED = {
    "id": "one.id",
    "key": own_key("page.key"),
    "canonical_url": OWN_URL.format("page.key", "page.canonical_url"),
    "latest": "one.latest",
    "visit": "page.visit + shift",
    "seen_visit": "page.seen_visit + shift",
    "parameters": "(SELECT new FROM scratch.parameters WHERE source = number"
    " AND old = page.parameters)",
    **{name: _NEW_ID.format(f"page.{name}") for name in ("duplicate_of", "resembles", "part_of")},
}
_VALUES = ", ".join(f"{_CHANGED.get(name, f'page.{name}')} AS {name}" for name in COLUMNS)
_COPY = f"""
INSERT INTO main.pages SELECT *, {{}} FROM (
    SELECT {_VALUES} {_CAPTURES} WHERE same_as IS NULL AND one.old BETWEEN ? AND ?)
"""
# Behind what was replaced its text may come back.
_COPY_BESIDE = f"""
INSERT OR REPLACE INTO main.near_texts (page, text, content)
SELECT one.id, beside.text, beside.content
{_CAPTURES} JOIN crawl.near_texts AS beside ON beside.page = one.old
WHERE same_as IS NULL AND page.verdict IN ({listed(DUPLICATES | WALLS)})
  AND (one.latest OR page.verdict IN ({listed(WALLS)})
       OR EXISTS (SELECT 1 FROM main.wall_pages WHERE replaced = one.id))
"""
# Originals in other crawls, which are found when all are copied.
_NOTE_ORIGINALS = f"""
INSERT INTO scratch.named SELECT one.id, elsewhere.key, elsewhere.text_digest
{_CAPTURES} JOIN crawl.elsewhere ON elsewhere.page = one.old
WHERE same_as IS NULL AND one.latest AND page.verdict IN ({listed(DUPLICATES)})
"""
# A capture that equals another one: that one was found unchanged then. As PageRow.see_again: a name
# that is not known takes no other one's place.
_SEEN = {name: f"page.{name}" for name in ("seen_at", *SEEN_COLUMNS)}
_SEEN["name"] = "coalesce(page.name, same.name)"
_TOUCHED = (
    f"{name} = iif(page.seen_at > same.seen_at, {value}, same.{name})"
    for name, value in _SEEN.items()
)
_TOUCH = f"""
UPDATE main.pages AS same SET seen_visit = max(same.seen_visit, page.seen_visit + shift),
    {", ".join(_TOUCHED)}
{_CAPTURES} WHERE one.same_as = same.id
"""

# Of a duplicate whose original is in another crawl: that page if its text is unchanged, else a
# page with the same text, else what the fleet has.
_NAME_ELSEWHERE = """
UPDATE pages SET duplicate_of = (
    SELECT kept.id FROM scratch.named JOIN pages AS kept ON kept.text_digest = named.text_digest
    WHERE named.page = pages.id AND kept.text IS NOT NULL
    ORDER BY kept.latest DESC, kept.key IS NOT named.key, kept.id LIMIT 1)
WHERE id IN (SELECT page FROM scratch.named WHERE text_digest IS NOT NULL)
"""
# A file is never stored: its copies name one with the same bytes.
_COPIES_OF_FILES = f"latest = 1 AND verdict = '{EXACT_DUPLICATE}' AND is_main IS NULL"
_NAME_FILE = f"""
UPDATE pages SET duplicate_of = (
    SELECT file.id FROM pages AS file
    WHERE file.payload_digest = pages.payload_digest
      AND file.verdict IN ({listed(ORIGINALS)}) AND file.verdict = '{NOT_HTML}'
    ORDER BY file.latest DESC, file.id LIMIT 1)
WHERE {_COPIES_OF_FILES}
"""
_FILES_ALONE = f"""
UPDATE pages SET verdict = '{NOT_HTML}', distance = NULL, similarity = NULL,
    reason = coalesce(reason, '{Reason.LOST_FILE}')
WHERE {_COPIES_OF_FILES} AND duplicate_of IS NULL
"""

# Texts of duplicates and of their originals that a crawl may lack.
WANTED = f"""
SELECT text_digest FROM elsewhere WHERE text_digest IS NOT NULL
UNION SELECT text_digest FROM pages
WHERE latest = 1 AND verdict IN ({listed(DUPLICATES)}) AND text_digest IS NOT NULL
    AND id NOT IN (SELECT page FROM near_texts)
"""
HAS_TEXT = "SELECT 1 FROM pages WHERE text_digest = ? AND text IS NOT NULL"
HAS_PAGE = f"""
SELECT 1 FROM pages WHERE key = ? AND latest = 1 AND verdict NOT IN ({listed(WITHOUT_PAGE)})
"""
_END_LOAN = f"""
DELETE FROM pages WHERE fetched_at = {LENT_AT}
    AND id IN (SELECT id FROM scratch.captures WHERE source = ? AND latest = 0)
"""

SCRATCH = """
CREATE TABLE scratch.found (
    fetched_at REAL, source INTEGER, old INTEGER, key BLOB, latest INTEGER, verdict TEXT,
    words INTEGER, text_digest BLOB, payload_digest BLOB, body_bytes INTEGER, has_text INTEGER
);
CREATE TABLE scratch.parameters (
    source INTEGER, old INTEGER, new INTEGER, PRIMARY KEY (source, old)
) WITHOUT ROWID;
CREATE TABLE scratch.named (page INTEGER PRIMARY KEY, key BLOB, text_digest BLOB);
"""
_FIND = f"""
INSERT INTO scratch.found
SELECT fetched_at, number, page.id, key, latest, verdict, words, text_digest, payload_digest,
       body_bytes, text IS NOT NULL OR verdict IN ({listed(DUPLICATES)})
       AND EXISTS (SELECT 1 FROM crawl.near_texts WHERE near_texts.page = page.id)
FROM scratch.attached JOIN crawl.pages AS page
"""
_NUMBER = """
CREATE TABLE scratch.captures AS
SELECT row_number() OVER (ORDER BY fetched_at, source, old) AS id, *, NULL AS same_as
FROM scratch.found;
CREATE UNIQUE INDEX scratch.captures_id ON captures (id);
CREATE UNIQUE INDEX scratch.captures_old ON captures (source, old);
CREATE INDEX scratch.captures_key ON captures (key, latest);
DROP TABLE scratch.found;
"""


def copy_captures(database: Database, sources: Sequence[MergedCrawl], watch: CheckWatch) -> None:
    """Copy the numbered captures, each with the text beside it and the original that it names.

    Complexity: O(n log n).
    """
    watch.begin("copying pages", database.value("SELECT count(*) FROM scratch.captures") or 0)
    copy = _COPY.format(checksum_sql(database.read, "pages"))
    for _ in attached(database, sources):
        last = database.value("SELECT max(id) FROM crawl.pages") or 0
        for first in range(1, last + 1, _AT_ONCE):
            watch.advance(database.write(copy, (first, first + _AT_ONCE - 1)).rowcount)
            database.commit()
        database.write(_COPY_BESIDE)
        database.write(_NOTE_ORIGINALS)
    for _ in attached(database, sources):
        database.write(_TOUCH)


def name_originals(database: Database) -> None:
    """Set the originals in other crawls, and those of copies of files.

    Complexity: O(duplicates * log n).
    """
    for sql in (_NAME_ELSEWHERE, _NAME_FILE, _FILES_ALONE):
        database.write(sql)
        database.commit()


def end_loan(database: Database, source: int) -> None:
    """Delete what the fleet lent, which has been moved to the pages that needed it."""
    database.write(_END_LOAN, (source,))


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
    database: Database, sources: Sequence[MergedCrawl], parted: PartedKeys, watch: CheckWatch
) -> None:
    """Give all captures new ids in the order in which they were made.

    Complexity: O(n log n).
    """
    for source in attached(database, sources):
        watch.begin(f"reading {source.folder}", source.count("pages"))
        watch.advance(database.write(_FIND).rowcount)
    for statement in _NUMBER.strip().split(";\n"):
        database.write(statement)
    parted.part()
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
