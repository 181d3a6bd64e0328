"""Open, check and commit ``crawl.db``, the database of a crawl."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import ExitStack, closing, contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

from crawler.storage import meta_names
from crawler.storage.checkpoints import Checkpoints
from crawler.storage.checksums import keep_checksums
from crawler.storage.errors import CrawlStorageError, JobError, JobVersionError, is_of_disk
from crawler.storage.schema import SCHEMA_VERSION, TABLES
from neardup.files.durable import open_sqlite

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

COMMIT_INTERVAL_SECS = 0.1
"""Check this often, in seconds, whether a commit is due."""

COMMIT_AFTER_SECS = 0.3
"""Commit when the last commit is this many seconds old."""

COMMIT_AT_LATEST_SECS = 0.4
"""Commit at this age in seconds even while a page is half done.

Up to this age a commit that is due by age waits for a moment in which no page is half done. With
the check interval, at most half a second of work is repeated after a kill.
"""

COMMIT_PAGES = 20
"""Commit early when this many pages are through."""

COMMIT_APART_SECS = 0.01
"""Leave at least this many seconds between two early commits.

Only a crawl of more than 2,000 pages a second is delayed by it.
"""

MAX_PAGES = 200
"""Commit at once when this many pages are through, however recent the last commit is."""

CACHE_KB = 32 * 1024

FILE_NAME = "crawl.db"
_META = "SELECT value FROM meta WHERE name = ?"


class Database:
    """One writer's connection to a crawl's database.

    Writes open a transaction, which ``commit`` ends; ``is_due`` says when,
    because a commit for each page costs more than the page. The functions in ``before_commit``
    write what their owners have deferred, those in ``holders`` let go of the rows of a table.

    Args:
        folder: The crawl directory, or None for a private temporary database
            that vanishes when it is closed.

    Files:
        crawl.db, crawl.db-wal, crawl.db-shm: SQLite in WAL mode. With
        ``synchronous=NORMAL`` committed data survives a killed process;
        a power failure may lose the last commits, never the consistency.

    A write that fails (a full disk) ends everything: SQLite may have rolled the transaction back,
    or a part of it, while queue and seen set remember all of it. Every later write or commit
    therefore fails too, and the disk keeps the last commit, whole.

    Attributes:
        failure: The reason why nothing can be written any more, or None.

    Raises:
        JobError: The file is not ours, damaged, or cannot be written.
        JobVersionError: It has another schema.
        CrawlStorageError: A write or commit failed, now or earlier.
    """

    def __init__(self, folder: Path | None) -> None:
        self.path = folder / FILE_NAME if folder else None
        name = str(self.path) if self.path else ""
        self.failure: str | None = None
        self.before_commit: list[Callable[[], None]] = []
        self.holders: dict[str, Callable[[], None]] = {}
        self._work = 0
        self._checkpoints = None if self.path is None else Checkpoints(self.path)
        try:
            # scrapy shell opens a job in one thread and uses it in another, never in both at once.
            if folder is None or self.path is None:
                self._connection = sqlite3.connect(
                    "", isolation_level=None, check_same_thread=False
                )
            else:
                refuse_linked_state(folder)
                self._connection = open_sqlite(self.path, timeout=30, check_same_thread=False)
        except sqlite3.Error as error:
            raise JobError(f"{name}: cannot be opened: {error}") from error
        try:
            self._prepare()
        except sqlite3.DatabaseError as error:
            self._connection.close()
            fault = "cannot be written" if is_of_disk(error) else "not a crawl database"
            raise JobError(f"{name}: {fault}: {error}") from error
        except JobError:
            self._connection.close()
            raise
        self._committed_at = time.monotonic()

    def fail(self, reason: str) -> None:
        """Refuse every later write; the first reason given stays."""
        self.failure = self.failure or reason

    def _prepare(self) -> None:
        execute = self._connection.execute
        execute("PRAGMA journal_mode = WAL")
        execute("PRAGMA synchronous = NORMAL")
        execute(f"PRAGMA cache_size = -{CACHE_KB}")
        if self._checkpoints is not None:
            self._checkpoints.prepare(self._connection)
        tables = {name for (name,) in execute("SELECT name FROM sqlite_master")}
        if not tables:
            self._connection.executescript(f"BEGIN; {TABLES} COMMIT;")
            self.set_meta(meta_names.SCHEMA, str(SCHEMA_VERSION))
            self.commit()
        elif "meta" not in tables:
            raise JobError(f"{self.path}: a database of something else; choose another JOBDIR")
        check_schema(self._connection, self.path)
        self.sort_in("MEMORY")

    def sort_in(self, place: str) -> None:
        """Let SQLite sort in ``MEMORY``, or in a ``FILE`` what may be larger."""
        self._connection.execute(f"PRAGMA temp_store = {place}")
        keep_checksums(self._connection)  # to change that drops all that is temporary

    def read(self, sql: str, parameters: Sequence[Any] = ()) -> sqlite3.Cursor:
        """Run a query; it sees the uncommitted writes of this connection."""
        return self._connection.execute(sql, parameters)

    def value(self, sql: str, parameters: Sequence[Any] = ()) -> Any | None:
        """Return the first value of a query's first row; None where there is no row."""
        row = self._connection.execute(sql, parameters).fetchone()
        return None if row is None else row[0]

    def write(self, sql: str, parameters: Sequence[Any] = ()) -> sqlite3.Cursor:
        """Run a statement inside the open transaction, opening one where there is none."""
        try:
            if self.failure is not None or not self._connection.in_transaction:
                self._begin()
            return self._connection.execute(sql, parameters)
        except sqlite3.Error as error:
            self._give_up(error)

    def flush(self, table: str) -> None:
        """Have rows of a table that are held in memory written, and read again afterwards.

        Call it before a statement that reads or changes the rows of another part.
        """
        if table in self.holders:
            self.holders[table]()

    def write_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> int:
        """Run a statement once a row in the open transaction; return how many rows it changed."""
        try:
            if self.failure is not None or not self._connection.in_transaction:
                self._begin()
            return self._connection.executemany(sql, rows).rowcount
        except sqlite3.Error as error:
            self._give_up(error)

    def add_function(self, name: str, function: Callable[[Any], Any]) -> None:
        """Let statements call a function of one value."""
        self._connection.create_function(name, 1, function, deterministic=True)

    def _begin(self) -> None:
        self._check()
        self._connection.execute("BEGIN IMMEDIATE")

    def _check(self) -> None:
        if self.failure is not None:
            raise CrawlStorageError(self.failure)

    def _give_up(self, error: sqlite3.Error) -> NoReturn:
        """Refuse every later write, and raise."""
        if isinstance(
            error, sqlite3.ProgrammingError
        ):  # our own mistake, such as a closed database
            raise error
        self.failure = f"{self.path or 'crawl.db'}: cannot be written: {error}"
        if isinstance(error, sqlite3.IntegrityError):
            self.failure += "; crawl-once verify --repair corrects damaged rows"
        raise CrawlStorageError(self.failure) from error

    def empty(self, table: str) -> None:
        """Delete all rows of a table, with next to nothing in the log.

        SQLite may be built to write zeros over what is deleted, and each page of the table would
        be logged for that. Pages that are freed as a whole are left as they are instead.
        """
        (before,) = self.read("PRAGMA secure_delete").fetchone()
        self.read("PRAGMA secure_delete = FAST").fetchone()
        try:
            self.write(f"DELETE FROM {table}")
        finally:
            self.read(f"PRAGMA secure_delete = {before}").fetchone()

    @property
    def data_version(self) -> int:
        """A number that differs whenever another connection has committed since; cheap."""
        return int(self._connection.execute("PRAGMA data_version").fetchone()[0])

    @property
    def is_written_to(self) -> bool:
        return self._connection.in_transaction

    def commit(self) -> None:
        """Make everything written so far durable, as one."""
        self._check()
        for act in self.before_commit:
            act()
        try:
            if self._connection.in_transaction:
                self._connection.execute("COMMIT")
        except sqlite3.Error as error:
            self._give_up(error)
        if self._checkpoints is not None:
            self._checkpoints.advance(self._connection)
        self._committed_at = time.monotonic()
        self._work = 0

    def count_work(self, pages: int) -> None:
        """Count finished pages, whose work is lost if the process dies before the next commit."""
        self._work += pages

    def is_due(self, *, is_half_done: bool = False) -> bool:
        """Return whether the last commit is long enough ago for it to be time for another one.

        Args:
            is_half_done: A page is stored without its links, or it is not acknowledged: the
                commit can wait a little, so that all of it becomes durable at once.
        """
        age_secs = time.monotonic() - self._committed_at
        wait_secs = COMMIT_AT_LATEST_SECS if is_half_done else COMMIT_AFTER_SECS
        is_much = self._work >= COMMIT_PAGES and age_secs >= COMMIT_APART_SECS
        return is_much or age_secs >= wait_secs or self._work >= MAX_PAGES

    def meta(self, name: str) -> str | None:
        return self.value(_META, (name,))

    def set_meta(self, name: str, value: str) -> None:
        self.write("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, value))

    def close(self) -> None:
        """Commit and close; closing twice is allowed.

        After a failure nothing is committed, and what was not is rolled back.
        """
        try:
            if self.failure is None:
                self.commit()
        except sqlite3.ProgrammingError:  # closed before
            return
        finally:
            if self._checkpoints is not None:
                self._checkpoints.close()
            self._connection.close()


def meta_of(read: Callable[..., sqlite3.Cursor], name: str) -> str | None:
    """Return a value of ``meta``, given what runs a query; None where there is none."""
    row = read(_META, (name,)).fetchone()
    return None if row is None else str(row[0])


def check_schema(connection: sqlite3.Connection, path: Path | None) -> None:
    """Refuse a database of another version of this program.

    Raises:
        JobVersionError: The version is another one than ours.
    """
    found = meta_of(connection.execute, meta_names.SCHEMA) or "none"
    if found != str(SCHEMA_VERSION):
        raise JobVersionError(
            f"{path}: schema {SCHEMA_VERSION} expected, got {found}; "
            "crawl into another JOBDIR, or use the version of the crawler that made it"
        )


def refuse_linked_state(folder: Path) -> None:
    """Refuse a link in a mirror that leads to the state of another one.

    Raises:
        JobError: It is one.
    """
    if folder.name == ".mirror" and folder.is_symlink():
        raise JobError(f"{folder}: is a symbolic link, which is not followed")


def require_crawl(folder: Path) -> Path:
    """Return the database of a crawl directory.

    Raises:
        JobError: There is no crawl in the folder.
    """
    refuse_linked_state(folder)
    if not folder.is_dir():
        fault = "not a directory" if folder.exists() else "no such directory"
        raise JobError(f"{folder}: {fault}")
    if not (folder / FILE_NAME).is_file():
        raise JobError(f"{folder}: no crawl in it (no {FILE_NAME})")
    return folder / FILE_NAME


def open_for_reading(folder: Path) -> sqlite3.Connection:
    """Open a crawl's database beside the process that may be writing to it.

    Raises:
        JobError: There is no crawl in the folder, or none that can be read.
        JobVersionError: It has another schema.
    """
    path = require_crawl(folder)
    with ExitStack() as stack:
        try:
            connection = connect_for_reading(path)
            stack.callback(connection.close)
            check_schema(connection, path)
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:  # it quotes damaged names
            fault = "cannot be read" if is_of_disk(error) else "not a crawl database"
            raise JobError(f"{path}: {fault}: {error}") from error
        stack.pop_all()
    connection.row_factory = sqlite3.Row
    return connection


def connect_for_reading(path: Path) -> sqlite3.Connection:
    """Open a database that is only read, also of a backup.

    Raises:
        JobError: The folder cannot be written, and lacks what SQLite would write there.
        sqlite3.Error: It cannot be opened.
    """
    return open_sqlite(path, reading_mode(path), timeout=30)


def reading_mode(path: Path) -> str:
    """Return the parameters of the URI by which SQLite opens a database for reading.

    Raises:
        JobError: The folder cannot be written, and lacks what SQLite would write there.
    """
    log, shared = (path.with_name(f"{path.name}-{ending}") for ending in ("wal", "shm"))
    # SQLite wants to write beside the file even to read it, unless its writer does so already.
    is_logged = log.exists() and (shared.exists() or log.stat().st_size > 0)
    is_writable = os.access(path.parent, os.W_OK)
    if is_logged and not is_writable and not shared.exists():
        raise JobError(
            f"{path}: what was written last is in {log.name}, which cannot be read in a folder "
            f"that is read-only without {shared.name}; copy both files to another folder"
        )
    return "mode=ro" if is_writable or is_logged else "mode=ro&immutable=1"


PATIENCE_SECS = 20.0
"""Wait at most this many seconds for a gap between two transactions of another process.

A crawl leaves a gap several times a second; a repair or a rejudgement only at its end.
"""

_TRY_INTERVAL_SECS = 0.0002
"""Retry after this many seconds: a gap is open for a millisecond or less.

SQLite's own busy timeout sleeps for up to 100 ms at a time, and would miss nearly every gap.
"""


@contextmanager
def beside(folder: Path) -> Iterator[sqlite3.Connection]:
    """Write to a crawl's database, whether or not a crawl is running.

    A crawl holds the write lock nearly all the time, except between its commits: the lock is
    requested repeatedly until it is granted. All writes within the context are committed together
    at its end, and rolled back when an exception leaves it. The crawl waits meanwhile: be quick.

    Raises:
        JobError: The folder holds no crawl, it cannot be written, or another process kept the
            lock for ``PATIENCE_SECS``.
        JobVersionError: The database has another schema.
    """
    open_for_reading(folder).close()  # raises if it is no crawl
    path = folder / FILE_NAME
    if not os.access(path, os.W_OK) or not os.access(folder, os.W_OK):
        which = path if not os.access(path, os.W_OK) else folder
        raise JobError(
            f"{path}: cannot be written: {which} is read-only, or belongs to another user"
        )
    with closing(open_sqlite(path, timeout=0)) as connection:
        connection.execute("PRAGMA synchronous = NORMAL")
        # The crawl copies its log into the file; here it would be waited for.
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        keep_checksums(connection)
        _begin(connection, path)
        try:
            yield connection
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            raise JobError(f"{path}: cannot be written: {error}") from error
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")


def _begin(connection: sqlite3.Connection, path: Path) -> None:
    deadline = time.monotonic() + PATIENCE_SECS
    while True:
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                raise JobError(f"{path}: cannot be written: {error}") from error
            if time.monotonic() > deadline:
                raise JobError(
                    f"{path}: another process has been writing to it for {PATIENCE_SECS:g} s, "
                    "such as crawl-once rejudge or verify --repair; try again when that is through"
                ) from None
            time.sleep(_TRY_INTERVAL_SECS)
        else:
            return
