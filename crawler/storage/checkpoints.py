"""Copy the log of ``crawl.db`` into the file in a thread, beside the connection that writes.

SQLite copies the log within the commit that finds it long: 64 MB of pages in random order, then a
sync of the disk, a third of a second or more in which a crawl does nothing else. Here a thread does
that with a connection of its own, while the crawl appends to the log. The log starts from its
beginning only if all of it is copied when a transaction begins, and a crawl has one open nearly all
the time. The writing connection therefore copies the rest itself after a commit: what was appended
during the last pass of the thread.
"""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing, suppress
from typing import TYPE_CHECKING

from neardup.files.durable import open_sqlite

if TYPE_CHECKING:
    from pathlib import Path

LOG_BYTES = 64 * 2**20
"""Copy the log into the file once it has this many bytes.

With SQLite's default of 4 MB, the pages of the indexes, which are written in random order, are
copied several times as often.
"""

MAX_REST_BYTES = 4 * 2**20
"""Let the writing connection copy at most this many bytes, unless the passes are used up.

Two commits come in during the shortest pass, each of more than a megabyte where many hosts take
turns: a lower bound costs all passes, each of which writes and syncs the same pages again.
"""

MAX_PASSES = 8
"""Let the thread copy at most this many times in a row: a log may grow as fast as it is copied."""

_COPY = "PRAGMA wal_checkpoint(PASSIVE)"


class Checkpoints:
    """Keeps the log of a database short without making its writer wait.

    A process that is killed loses nothing by it: SQLite writes over a log only after all of it is
    copied and synced.
    A copy that fails leaves the log as it is, and is tried again when the log has grown by as much.

    Args:
        path: The database; it is in WAL mode.
        log_bytes: The size of the log from which it is copied.
    """

    def __init__(self, path: Path, log_bytes: int = LOG_BYTES) -> None:
        self._path = path
        self._log = path.with_name(f"{path.name}-wal")
        self._log_bytes = log_bytes
        self._thread: threading.Thread | None = None
        self._passes = 0
        self._size_at_start = 0
        # A reader may keep the log from starting again: the next copy is due at a larger size then.
        self._due_at = log_bytes

    def prepare(self, connection: sqlite3.Connection) -> None:
        """Let a connection leave the log to ``advance``, and cut the log when it starts again."""
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        connection.execute("PRAGMA journal_size_limit = 0")

    def advance(self, connection: sqlite3.Connection) -> None:
        """Start, continue or end a copy of the log; call it after each commit.

        Args:
            connection: The one that writes; it has no transaction open.
        """
        if self._thread is None:
            size = self._size()
            if size < self._log_bytes:
                self._due_at = self._log_bytes
            if size >= self._due_at:
                self._start(size)
        elif not self._thread.is_alive():
            self._thread.join()
            self._thread = None
            self._go_on(connection, self._size())

    def _go_on(self, connection: sqlite3.Connection, size: int) -> None:
        """Copy what was appended during a pass: here if it is little, else in another pass."""
        if size - self._size_at_start > MAX_REST_BYTES and self._passes < MAX_PASSES:
            self._start(size)
            return
        self._passes = 0
        self._due_at = size + self._log_bytes
        with suppress(sqlite3.Error):
            connection.execute(_COPY).fetchone()

    def _start(self, size: int) -> None:
        self._passes += 1
        self._size_at_start = size
        self._thread = threading.Thread(target=self._copy, name="checkpoint", daemon=True)
        self._thread.start()

    def _copy(self) -> None:
        with (
            suppress(sqlite3.Error),
            closing(open_sqlite(self._path)) as connection,
        ):
            connection.execute(_COPY).fetchone()

    def _size(self) -> int:
        try:
            return self._log.stat().st_size
        except FileNotFoundError:
            return 0

    def close(self) -> None:
        """Wait for the pass that is running, so that the last connection can remove the log."""
        if self._thread is not None:
            self._thread.join()
            self._thread = None
