"""Texts of pages that stand in no crawl, in a temporary database."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

import zstandard

from crawler.lab.sources.source import SourceError
from crawler.pages.judged_documents import unpack_judged

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class TemporaryTexts:
    """Each text once, by its digest, on disk, so that memory does not grow with them.

    Files:
        One without a name in SQLite's folder for temporary files (``SQLITE_TMPDIR``, ``TMPDIR``),
        which is gone when it is closed.
    """

    def __init__(self) -> None:
        # Its owner sees to it that one thread at a time uses it.
        self._database = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self._database.execute("CREATE TABLE texts (digest BLOB PRIMARY KEY, text BLOB NOT NULL)")
        self._compress = zstandard.ZstdCompressor().compress
        # Never committed: nobody else can see it.
        self._database.execute("BEGIN")

    def add(self, digest: bytes, text: str) -> None:
        """Hold a text, which may hold halves of surrogate pairs.

        Raises:
            SourceError: The disk is full.
        """
        self.add_packed(digest, self._compress(text.encode("utf-8", "replace")))

    def add_packed(self, digest: bytes, text: bytes) -> None:
        """Hold a text that is UTF-8, compressed by zstd.

        Raises:
            SourceError: The disk is full.
        """
        try:
            self._database.execute("INSERT OR IGNORE INTO texts VALUES (?, ?)", (digest, text))
        except sqlite3.OperationalError as error:
            raise SourceError(f"temporary files: {error}; TMPDIR may name a larger disk") from None

    def texts(self, digests: Sequence[bytes]) -> Iterator[str | None]:
        """The texts with these digests; None for one that is not held."""
        for digest in digests:
            sql = "SELECT text FROM texts WHERE digest = ?"
            row = self._database.execute(sql, (digest,)).fetchone()
            yield None if row is None else unpack_judged(row[0])

    def close(self) -> None:
        """Remove it."""
        self._database.close()
