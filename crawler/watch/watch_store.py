"""Remember in ``watch.db`` what was told of a crawl directory, and who was told it.

A change is found and noted in one transaction, together with the state of its page that is known
from then on: a killed process finds it again, or finds it noted. Each receiver has the number of
the last change that it took, so that what it did not take is sent again.
"""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from crawler.maintenance.tally import count_queued
from crawler.pages.verdicts import FAILED, FORBIDDEN, GONE, MOVED, OF_TEXTS, READ, listed
from crawler.storage import meta_names
from crawler.storage.database import FILE_NAME as CRAWL_FILE
from crawler.storage.database import meta_of, open_for_reading
from crawler.storage.directory import take_lock
from crawler.storage.errors import JobError, JobInUseError
from neardup.files.durable import open_sqlite

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from filelock import FileLock

FILE_NAME = "watch.db"
LOCK_NAME = "watch.lock"

FORMAT_VERSION = 1

NEWEST_KEPT = 100
"""Keep at least this many changes that were delivered: those of the Atom feed."""

MAX_UNTAKEN = 100_000
"""Keep at most this many changes for a receiver that does not take them."""

_TABLES = """
CREATE TABLE IF NOT EXISTS state (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS told (      -- the pages of crawl.db as they were told last
    key     BLOB PRIMARY KEY,          -- pages.key
    page    INTEGER NOT NULL,          -- pages.id of the capture
    is_away INTEGER NOT NULL           -- 1: it was told that the page is gone
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS titles (    -- the titles of these pages
    key     BLOB PRIMARY KEY,
    title   TEXT,
    changed INTEGER NOT NULL           -- the visit in which it changed, 0: not at the last one
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS changes (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    change TEXT NOT NULL               -- JSON, the fields of Change
);
CREATE TABLE IF NOT EXISTS receivers (
    name   TEXT PRIMARY KEY,           -- of a file, a URL or a command
    number INTEGER NOT NULL,           -- changes.number of the last change that it took
    place  INTEGER                     -- of a file: where the lines begin that are being written
) WITHOUT ROWID;
"""

_IS_AWAY = f"known.outcome IN ({listed({MOVED, GONE, FORBIDDEN})})"
_IS_READ = f"known.outcome IN ({listed(READ)})"
_TEXTS = f"pages.latest = 1 AND pages.verdict IN ({listed(OF_TEXTS)})"

_STATES = f"""
INSERT INTO told SELECT pages.key, pages.id, coalesce({_IS_AWAY}, 0)
FROM pages LEFT JOIN known USING (key) WHERE {_TEXTS}
"""
_TITLES = f"""
INSERT OR IGNORE INTO titles SELECT pages.key, pages.title, 0 FROM pages WHERE {_TEXTS}
"""
_TITLES_THAT_STAYED = f"""
UPDATE titles SET changed = 0 WHERE changed > 0 AND changed < (
    SELECT seen_visit FROM pages WHERE pages.key = titles.key AND {_TEXTS})
"""
_BATCH = 100
"""Note this many pages in a transaction."""

_DIFFERING = f"""
SELECT pages.key, pages.id, pages.url, pages.title, pages.language, pages.words, pages.verdict,
       pages.seen_at, coalesce({_IS_AWAY}, 0) AS is_away, coalesce({_IS_READ}, 0) AS is_read,
       known.outcome, known.reason, known.moved_to,
       pages.seen_visit, told.page AS told_page, told.is_away AS was_away,
       titles.title AS told_title, coalesce(titles.changed, 0) AS title_changed
FROM pages NOT INDEXED LEFT JOIN known USING (key) LEFT JOIN told ON told.key = pages.key
LEFT JOIN titles ON titles.key = pages.key
WHERE pages.id > ? AND {_TEXTS} AND (told.key IS NULL OR told.page <> pages.id
  OR (told.is_away AND {_IS_READ}) OR (NOT told.is_away AND {_IS_AWAY})
  OR (titles.key IS NOT NULL AND titles.title IS NOT pages.title))
ORDER BY pages.id LIMIT {_BATCH}
"""
_DROPPED = f"""
SELECT told.key, told.page, pages.id, pages.url, pages.title, pages.verdict
FROM told CROSS JOIN pages ON pages.key = told.key AND pages.latest = 1
WHERE told.key > ? AND NOT told.is_away AND pages.verdict NOT IN ({listed(OF_TEXTS)})
ORDER BY told.key LIMIT {_BATCH}
"""
_ASKED = "SELECT count(*), coalesce(sum(outcome = ?), 0) FROM known WHERE visit = ?"

# On the disk where there are many: a visit may find all pages of a large site changed.
_SIDES = """
CREATE TEMP TABLE IF NOT EXISTS one_sided (
    host INTEGER, hash BLOB, pages INTEGER NOT NULL, PRIMARY KEY (host, hash)
) WITHOUT ROWID;
DELETE FROM one_sided;
"""
_COUNT_SIDE = """
INSERT INTO one_sided VALUES (?, ?, 1) ON CONFLICT (host, hash) DO UPDATE SET pages = pages + 1
"""
_REPEATED = "SELECT host, hash, pages FROM one_sided WHERE pages >= ?"

_FORMAT, _BEGAN, _ENDED, _PID, _BASED = "format", "began", "ended", "pid", "based"


@dataclass(frozen=True, slots=True)
class PageChange:
    """A change of a page.

    Attributes:
        id: A URN of its own, which stays.
        directory: The crawl directory.
        url: The URL of the page.
        kind: new, changed, gone or back.
        when: When the page was fetched, ISO 8601 in UTC.
        title: Its title, where it has one.
        summary: What changed, in one sentence.
        added: Passages that only the new text has.
        removed: Passages that only the old text has.
        words_added: Words that only the new text has.
        words_removed: Words that only the old text has.
    """

    id: str
    directory: str
    url: str
    kind: str
    when: str
    title: str | None
    summary: str
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    words_added: int = 0
    words_removed: int = 0

    def to_json(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Noted:
    """A change with its number, which grows."""

    number: int
    json: str

    @property
    def change(self) -> PageChange:
        fields = json.loads(self.json)
        lists = {name: tuple(fields[name]) for name in ("added", "removed")}
        return PageChange(**{**fields, **lists})


class WatchStore:
    """The memory of the watch of one crawl directory.

    Args:
        folder: The crawl directory.

    Files:
        watch.db: SQLite in WAL mode with ``synchronous=FULL``.
        watch.lock: Held while the directory is watched.

    Raises:
        JobInUseError: Another process watches the directory; the message has its id.
        JobError: There is no crawl in it, or it cannot be written.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        open_for_reading(folder).close()  # complains before a file is left in a foreign folder
        self._lock = self._locked()
        try:
            self.connection = _opened(folder)
        except BaseException:
            self._lock.release()
            raise
        try:
            self._set(_PID, str(os.getpid()))
        except sqlite3.Error as error:
            self.close()
            raise JobError(f"{folder / FILE_NAME}: cannot be written: {error}") from error

    def _locked(self) -> FileLock:
        try:
            return take_lock(self.folder, LOCK_NAME)
        except JobInUseError:
            raise JobInUseError(f"{self.folder}: {self._who()} is watching it already") from None

    def _who(self) -> str:
        """Return the words for the process that has the lock."""
        with closing(_opened(self.folder)) as connection:
            row = connection.execute("SELECT value FROM state WHERE name = ?", (_PID,)).fetchone()
        return f"process {row[0]}" if row else "another process"

    def close(self) -> None:
        self.connection.close()
        self._lock.release()

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Commit all writes within the context together, or none where an exception leaves it."""
        self.connection.execute("BEGIN IMMEDIATE")
        with self.connection:
            yield

    @property
    def visit(self) -> int:
        """Number of the last visit of the crawl; 0: none has begun."""
        return int(meta_of(self.connection.execute, meta_names.VISIT) or 0)

    @property
    def left(self) -> int:
        """Number of URLs that the last visit has not asked for yet."""
        return count_queued(self.connection) if self.visit else 0

    def last_seen(self) -> float | None:
        """Return when the crawl saw a page last, in seconds since 1970. Complexity: O(pages)."""
        seen: float | None = self.connection.execute("SELECT max(seen_at) FROM pages").fetchone()[0]
        return seen

    def asked(self) -> tuple[int, int]:
        """Return how many URLs the last visit has asked for, and how many of them failed."""
        asked, failed = self.connection.execute(_ASKED, (FAILED, self.visit)).fetchone()
        return asked, failed

    def _get(self, name: str) -> str | None:
        row = self.connection.execute("SELECT value FROM state WHERE name = ?", (name,)).fetchone()
        return None if row is None else str(row[0])

    def _set(self, name: str, value: str) -> None:
        self.connection.execute("INSERT OR REPLACE INTO state VALUES (?, ?)", (name, value))

    @property
    def began(self) -> float | None:
        """When the last visit of this watch began, in seconds since 1970."""
        value = self._get(_BEGAN)
        return None if value is None else float(value)

    @property
    def is_interrupted(self) -> bool:
        """Whether the last visit began and did not end, so that it is to go on at once."""
        return self._get(_BEGAN) is not None and self._get(_ENDED) != self._get(_BEGAN)

    def note_begin(self, now: float) -> None:
        self._set(_BEGAN, repr(now))

    def note_end(self) -> None:
        self._set(_ENDED, self._get(_BEGAN) or "")

    @property
    def is_based(self) -> bool:
        """Whether it is known which pages there were, so that others are new."""
        return self._get(_BASED) is not None

    def take_base(self) -> int:
        """Note which pages there are, so that others are new; return how many."""
        with self.changing():
            self.connection.execute("DELETE FROM told")
            count = self.connection.execute(_STATES).rowcount
            self.connection.execute(_TITLES)
            self._set(_BASED, "1")
        return count

    def differing(self) -> Iterator[list[sqlite3.Row]]:
        """Yield the pages that differ from what was told of them, in batches."""
        return self._batches(_DIFFERING, "id", 0)

    def dropped(self) -> Iterator[list[sqlite3.Row]]:
        """Yield the pages that were told and have no text any more, in batches."""
        return self._batches(_DROPPED, "key", b"")

    def _batches(self, sql: str, column: str, last: int | bytes) -> Iterator[list[sqlite3.Row]]:
        """Yield rows in batches, each of them read before anything is written.

        Args:
            sql: Statement for the rows after one, in the order of a column.
            column: The column.
            last: What comes before its first value.
        """
        cursor = self.connection.cursor()
        cursor.row_factory = sqlite3.Row
        while rows := cursor.execute(sql, (last,)).fetchall():
            yield rows
            last = rows[-1][column]

    def repeated_sides(
        self, sides: Iterable[Sequence[tuple[int, bytes]]], least: int
    ) -> list[tuple[int, bytes, int]]:
        """Return what at least this many of some lists have, each with the number of its lists."""
        self.connection.executescript(_SIDES)
        for some in sides:
            self.connection.executemany(_COUNT_SIDE, some)
        found = self.connection.execute(_REPEATED, (least,)).fetchall()
        self.connection.executescript(_SIDES)
        return found

    def add(self, change: PageChange) -> None:
        """Note a change, within ``changing``."""
        self.connection.execute("INSERT INTO changes (change) VALUES (?)", (change.to_json(),))

    def note_told(self, key: bytes, page: int, *, is_away: bool) -> None:
        """Note the state of a page that is known from now on, within ``changing``."""
        row = (key, page, is_away)
        self.connection.execute("INSERT OR REPLACE INTO told VALUES (?, ?, ?)", row)

    def note_title(self, key: bytes, title: str | None, changed: int) -> None:
        """Note the title of a page, and the visit in which it changed, within ``changing``."""
        self.connection.execute(
            "INSERT OR REPLACE INTO titles VALUES (?, ?, ?)", (key, title, changed)
        )

    def note_titles(self) -> None:
        """Note the titles of pages that have none here, and those that stayed."""
        self.connection.execute(_TITLES)  # of pages that an older watch told
        self.connection.execute(_TITLES_THAT_STAYED)

    def newest(self, count: int) -> list[Noted]:
        """Return the newest changes, the newest first."""
        sql = "SELECT number, change FROM changes ORDER BY number DESC LIMIT ?"
        return [Noted(*row) for row in self.connection.execute(sql, (count,))]

    def register(self, receivers: Sequence[str]) -> None:
        """Have receivers take the changes from now on; those that are known go on.

        Raises:
            JobError: It cannot be noted.
        """
        sql = (
            "INSERT OR IGNORE INTO receivers"
            " SELECT ?, coalesce((SELECT max(number) FROM changes), 0), NULL"
        )
        try:
            with self.changing():
                self.connection.executemany(sql, ((receiver,) for receiver in receivers))
        except sqlite3.Error as error:
            raise JobError(f"{self.folder}: cannot be written: {error}") from error

    def untaken(self, receiver: str, count: int) -> list[Noted]:
        """Return the first changes that a receiver has not taken."""
        sql = (
            "SELECT number, change FROM changes WHERE number >"
            " (SELECT number FROM receivers WHERE name = ?) ORDER BY number LIMIT ?"
        )
        return [Noted(*row) for row in self.connection.execute(sql, (receiver, count))]

    def note_taken(self, receiver: str, number: int) -> None:
        """Note that a receiver took all changes up to a number."""
        sql = "UPDATE receivers SET number = ?, place = NULL WHERE name = ?"
        self.connection.execute(sql, (number, receiver))

    def place(self, receiver: str) -> int | None:
        """Return where a file ended before lines that a killed process may have written."""
        sql = "SELECT place FROM receivers WHERE name = ?"
        row = self.connection.execute(sql, (receiver,)).fetchone()
        return None if row is None else row[0]

    def note_place(self, receiver: str, place: int) -> None:
        """Note where a file ends, before lines are written to it."""
        sql = "UPDATE receivers SET place = ? WHERE name = ?"
        self.connection.execute(sql, (place, receiver))

    def prune(self) -> None:
        """Remove changes that all receivers took, but for the newest.

        Those that one has not taken, which may be away for good, are bounded by ``MAX_UNTAKEN``.
        """
        sql = (
            "DELETE FROM changes WHERE number <= (SELECT max(number) FROM changes) - ?1"
            " AND (number <= coalesce((SELECT min(number) FROM receivers), 9e18)"
            "      OR number <= (SELECT max(number) FROM changes) - ?2)"
        )
        self.connection.execute(sql, (NEWEST_KEPT, MAX_UNTAKEN))


def _opened(folder: Path) -> sqlite3.Connection:
    """Open ``watch.db`` with the crawl's database attached for reading.

    Raises:
        JobError: It cannot be opened, is damaged, or of another version.
    """
    path = folder / FILE_NAME
    try:
        connection = open_sqlite(path, "mode=rwc", timeout=30)
    except sqlite3.Error as error:
        raise JobError(f"{path}: cannot be opened: {error}") from error
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.executescript(_TABLES)
        connection.execute(
            "INSERT OR IGNORE INTO state VALUES (?, ?)", (_FORMAT, str(FORMAT_VERSION))
        )
        (found,) = connection.execute(
            "SELECT value FROM state WHERE name = ?", (_FORMAT,)
        ).fetchone()
        crawl = f"{(folder / CRAWL_FILE).resolve().as_uri()}?mode=ro"
        connection.execute("ATTACH ? AS crawl", (crawl,))
    except sqlite3.Error as error:
        connection.close()
        raise JobError(f"{path}: cannot be used: {error}; delete it to begin anew") from error
    if found != str(FORMAT_VERSION):
        connection.close()
        raise JobError(
            f"{path}: format {FORMAT_VERSION} expected, got {found}; delete it to begin anew"
        )
    return connection
