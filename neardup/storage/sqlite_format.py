"""The file of kept texts: its tables, and how it is opened.

::

    about      name, value              the recipe of the fingerprints: features, min_words
    documents  seq                      1, 2, ... in the order in which they were added
               id, digest, words        digest: 16 bytes, xxh3-128 of the folded text
               payload                  16 bytes, xxh3-128 of the bytes behind the text, or NULL
               fingerprint              64 bits, signed as SQLite wants it; NULL for short texts
               name                     what the text is called (``neardup.names.Name.packed``)
               text                     a zstd frame of UTF-8 (lone surrogates as surrogatepass)
    dropped    id, digest               texts that were judged and not stored

Nothing is ever changed or deleted, so the first n documents of a file stay the first n.
"""

import sqlite3
from pathlib import Path
from typing import BinaryIO

from neardup.errors import DocumentsFileError, IndexFileError
from neardup.files.batches import PROMISE_BYTES, Promise, parsed_promise
from neardup.files.durable import open_itself, open_sqlite, write_durably

_REMEDY = "restore it with its file of texts from a copy, or delete it: then nothing is promised"

APPLICATION_ID = 0x6E647570  # "ndup"
VERSION = 5

_SCHEMA = f"""
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE documents (
    seq INTEGER PRIMARY KEY,
    id INTEGER NOT NULL UNIQUE,
    digest BLOB NOT NULL,
    payload BLOB,
    words INTEGER NOT NULL,
    fingerprint INTEGER,
    name TEXT NOT NULL,
    text BLOB NOT NULL
) STRICT;
CREATE TABLE dropped (id INTEGER PRIMARY KEY, digest BLOB NOT NULL) STRICT;
CREATE INDEX documents_by_digest ON documents (digest);
CREATE INDEX documents_by_payload ON documents (payload) WHERE payload IS NOT NULL;
CREATE INDEX postings ON documents (seq, fingerprint, id) WHERE fingerprint IS NOT NULL;
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {VERSION};
"""

_WAIT_SECS = 1.0


class PromisedCount:
    """The number of documents that were promised, beside a SQLite file.

    A ``-wal`` that is cut short, or gone, is none of SQLite's errors: it goes on from an older
    state. Written after each commit, and not synced: after a power cut it may be behind.

    Args:
        path: The SQLite file.

    Files: ``<path>-promise``, a record of ``neardup.files.batches``: the count, twice.
    """

    def __init__(self, path: Path) -> None:
        self._path = path.with_name(f"{path.name}-promise")
        self._file: BinaryIO | None = None

    def read(self) -> int:
        """Return the number of documents that were promised, 0 where none were.

        Raises:
            DocumentsFileError: The record is damaged.
        """
        try:
            data = self._path.read_bytes()
        except FileNotFoundError:
            return 0
        try:
            return parsed_promise(self._path, data, _REMEDY).entries
        except IndexFileError as error:
            raise DocumentsFileError(str(error)) from None

    def write(self, count: int) -> None:
        """Promise ``count`` documents from now on.

        Raises:
            OSError: It cannot be written.
        """
        record = Promise(count, count).to_bytes()
        if self._file is None:
            if not self._path.exists():
                write_durably(self._path, [record])
            self._file = open_itself(self._path, "r+b", buffering=0)
        self._file.seek(0)
        if self._file.write(record) != PROMISE_BYTES:
            raise OSError(f"{self._path}: cut short")

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            self._file.close()
            self._file = None


def open_database(path: Path, features: str, min_words: int, promised: int) -> sqlite3.Connection:
    """Open the file for this process alone, and make it where there is none.

    Args:
        path: The file.
        features: The features of its fingerprints.
        min_words: The number of words below which a text has no fingerprint.
        promised: The least number of documents that it must hold.

    Raises:
        DocumentsFileError: Foreign, of another version, of other features, or it holds fewer
            documents.
        sqlite3.Error: Damaged, or open in another process.
    """
    database = open_sqlite(path, timeout=_WAIT_SECS)
    try:
        # Exclusive: the lock lasts until the file is closed, and a killed process leaves none.
        database.execute("PRAGMA locking_mode = EXCLUSIVE")
        database.execute("BEGIN EXCLUSIVE")
        if _is_empty(database):
            _check_count(path, 0, promised)
            _create(database, features, min_words)
        _check(database, path, features)
        _check_count(path, count_documents(database), promised)
        _check_words(database, path, min_words)
        database.execute("COMMIT")
        # After the check, since it changes the file.
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = FULL")
    except BaseException:
        database.close()
        raise
    return database


def count_documents(database: sqlite3.Connection) -> int:
    """Return the number of documents. O(log n)."""
    (last,) = database.execute("SELECT max(seq) FROM documents").fetchone()
    return int(last or 0)


def _is_empty(database: sqlite3.Connection) -> bool:
    (tables,) = database.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    return not tables and not _pragma(database, "application_id")


def _create(database: sqlite3.Connection, features: str, min_words: int) -> None:
    # Not executescript, which would commit first: a kill must leave all of the schema or none.
    for statement in _SCHEMA.split(";"):
        database.execute(statement)
    database.execute("INSERT INTO about VALUES ('features', ?)", (features,))
    database.execute("INSERT INTO about VALUES ('min_words', ?)", (str(min_words),))


def _check(database: sqlite3.Connection, path: Path, features: str) -> None:
    if _pragma(database, "application_id") != APPLICATION_ID:
        raise DocumentsFileError(f"{path}: not a file of neardup; choose another path")
    version = _pragma(database, "user_version")
    if version != VERSION:
        raise DocumentsFileError(
            f"{path}: version {VERSION} expected, got {version}; open it with the neardup that "
            "made it, or choose another path"
        )
    stored = _about(database, "features")
    if stored != features:
        raise DocumentsFileError(
            f"{path}: its fingerprints are of the features {stored}, got {features}; ask for the "
            "same, or choose another path"
        )


def _check_words(database: sqlite3.Connection, path: Path, min_words: int) -> None:
    """Refuse texts that were stored as too short and now are not: they have no fingerprint."""
    stored = _about(database, "min_words")
    if min_words < int(stored):
        raise DocumentsFileError(
            f"{path}: texts of fewer than {stored} words have no fingerprint, min_words "
            f"{min_words} asks for it; ask for at least {stored}, or choose another path"
        )
    database.execute("UPDATE about SET value = ? WHERE name = 'min_words'", (str(min_words),))


def _check_count(path: Path, count: int, promised: int) -> None:
    if count < promised:
        raise DocumentsFileError(
            f"{path}: {promised} documents were promised, found {count}: it was cut short, or "
            f"lacks its {path.name}-wal; restore all of its files from a copy, or delete all to "
            "begin anew"
        )


def _about(database: sqlite3.Connection, name: str) -> str:
    row = database.execute("SELECT value FROM about WHERE name = ?", (name,)).fetchone()
    if row is None:
        raise sqlite3.DatabaseError(f"no {name} in it")
    return str(row[0])


def _pragma(database: sqlite3.Connection, name: str) -> int:
    return int(database.execute(f"PRAGMA {name}").fetchone()[0])
