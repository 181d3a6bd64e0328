"""Write to ``crawl.db`` beside the process that crawls."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from crawler.storage.database import FILE_NAME, open_for_reading
from crawler.storage.errors import JobError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

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
        raise JobError(f"{path}: cannot be written")
    with closing(sqlite3.connect(path, isolation_level=None, timeout=0)) as connection:
        connection.execute("PRAGMA synchronous = NORMAL")
        # The crawl copies its log into the file; here it would be waited for.
        connection.execute("PRAGMA wal_autocheckpoint = 0")
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
                    f"{path}: somebody has been writing to it for {PATIENCE_SECS:g} s, such as "
                    "scrapy rejudge or verify --repair; try again when that is through"
                ) from None
            time.sleep(_TRY_INTERVAL_SECS)
        else:
            return
