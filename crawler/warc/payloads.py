"""Which payload an archive holds, and where: what revisit records are made from."""

from __future__ import annotations

import hashlib
import sqlite3
from typing import TYPE_CHECKING

from crawler.warc.errors import ArchiveError
from crawler.warc.exchange import Original

if TYPE_CHECKING:
    from pathlib import Path

FILE_NAME = "payloads.db"

_TABLES = """
CREATE TABLE IF NOT EXISTS payloads (
    digest TEXT PRIMARY KEY,
    url    TEXT NOT NULL,       -- of the response that holds it
    date   TEXT NOT NULL        -- and its WARC-Date
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS urls (
    url    BLOB PRIMARY KEY,    -- blake2b, 16 bytes
    digest TEXT NOT NULL        -- of what it answered last
) WITHOUT ROWID;
"""
_CACHE_KB = 8 * 1024


class Payloads:
    """In a file of its own beside the WARC files, and not in ``crawl.db``.

    Several crawls may write to one archive, and a crawl to several; what is in it goes with it
    when it is moved. It must never know a record that the files lack: they are flushed first.

    Files:
        payloads.db: SQLite. Where it is lost, bodies are written again; nothing else suffers.

    Raises:
        ArchiveError: It cannot be opened or written to.
    """

    def __init__(self, folder: Path) -> None:
        path = folder / FILE_NAME
        try:
            self._connection = sqlite3.connect(path, isolation_level=None, timeout=30)
            execute = self._connection.execute
            execute("PRAGMA journal_mode = WAL")
            execute("PRAGMA synchronous = NORMAL")
            execute(f"PRAGMA cache_size = -{_CACHE_KB}")
            self._connection.executescript(_TABLES)
        except sqlite3.Error as error:
            raise ArchiveError(f"{path}: {error}") from error

    def find(self, digest: str) -> Original | None:
        """The response that holds a payload."""
        sql = "SELECT url, date, digest FROM payloads WHERE digest = ?"
        row = self._connection.execute(sql, (digest,)).fetchone()
        return None if row is None else Original(*row)

    def last_of(self, url: str) -> Original | None:
        """The response that holds what a URL answered last."""
        sql = "SELECT digest FROM urls WHERE url = ?"
        row = self._connection.execute(sql, (_short(url),)).fetchone()
        return None if row is None else self.find(row[0])

    def add(self, original: Original) -> None:
        """Note a response that was written as a whole."""
        self._write("INSERT OR IGNORE INTO payloads VALUES (?, ?, ?)",
                    (original.digest, original.url, original.date))  # fmt: skip

    def note_answer(self, url: str, digest: str) -> None:
        """Note what a URL answered with."""
        self._write("INSERT OR REPLACE INTO urls VALUES (?, ?)", (_short(url), digest))

    def _write(self, sql: str, values: tuple[str | bytes, ...]) -> None:
        try:
            if not self._connection.in_transaction:
                self._connection.execute("BEGIN IMMEDIATE")
            self._connection.execute(sql, values)
        except sqlite3.Error as error:
            raise ArchiveError(f"{FILE_NAME}: {error}") from error

    def commit(self) -> None:
        """Make durable what was noted."""
        try:
            if self._connection.in_transaction:
                self._connection.execute("COMMIT")
        except sqlite3.Error as error:
            raise ArchiveError(f"{FILE_NAME}: {error}") from error

    def close(self) -> None:
        """Close, and forget what was not committed."""
        self._connection.close()


def _short(url: str) -> bytes:
    return hashlib.blake2b(url.encode("utf-8", "surrogatepass"), digest_size=16).digest()
