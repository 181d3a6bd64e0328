"""Kept texts in one SQLite file, and indexes that catch up with them."""

import json
import logging
import os
import sqlite3
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from neardup.document import Document
from neardup.errors import ClosedError, DocumentsFileError, DuplicateIdError, IndexFileError
from neardup.files.durable import Closing
from neardup.indexes.arrays import Ids, checked_id
from neardup.indexes.hamming import HammingIndex
from neardup.indexes.index_files import is_ours
from neardup.indexes.lsh import LshIndex
from neardup.kept_facts import StoredFacts
from neardup.parameters import DEFAULTS, Parameters
from neardup.storage.documents import compress, decompress
from neardup.storage.signatures import open_passages, open_signatures
from neardup.storage.sqlite_format import PromisedCount, count_documents, open_database

_logger = logging.getLogger(__name__)

_BATCH = 1 << 16


class Postings(Protocol):
    """The fingerprints of a store, in an order to which it only appends."""

    def count_fingerprints(self) -> int:
        """Return the number of fingerprints that the store holds."""

    def highest_id(self, first: int) -> int:
        """Return the highest id of the first ``first`` fingerprints, -1 where there is none."""

    def fingerprints(self, skip: int = 0) -> Iterator[tuple[int, int]]:
        """Yield each fingerprint with its id, in order, but for the first ``skip``."""


def open_index(
    folder: str | os.PathLike[str], postings: Postings, *, radius: int = 3
) -> HammingIndex:
    """Open an index that holds all fingerprints of a store and no other.

    An index that is flushed only after its store holds the first fingerprints of the store, and the
    rest is added here. An index that holds anything else is rebuilt: it was damaged, or it holds
    fingerprints that a killed process had not stored yet.

    Args:
        folder: The directory of the index, made where there is none.
        postings: The fingerprints of the store, which count.
        radius: The radius of the index, in bits.

    Raises:
        IndexLockedError: The index is open in another process.
        IndexFileError: ``folder`` holds files that are none of an index.

    Complexity: O(n) to count, and O(n log n) to rebuild.
    """
    folder = Path(folder)
    try:
        index = HammingIndex(folder, radius=radius)
    except IndexFileError as error:
        _logger.warning("index made again: %s", error)
        index = _anew(folder, radius)
    try:
        if not _has_first_of(postings, index):
            _logger.warning("index made again: %s holds other fingerprints than its store", folder)
            index.close()
            index = _anew(folder, radius)
        _catch_up(index, postings)
    except BaseException:
        index.close()
        raise
    return index


def _anew(folder: Path, radius: int) -> HammingIndex:
    # Only what an index calls its own: the folder may belong to another program.
    for file in folder.iterdir():
        if is_ours(file.name):
            file.unlink()
    return HammingIndex(folder, radius=radius)


def _has_first_of(postings: Postings, index: HammingIndex) -> bool:
    stored = len(index)
    if stored > postings.count_fingerprints() or index.max_id != postings.highest_id(stored):
        return False
    # Counts and ids may agree by chance with an index of other texts, its ends hardly.
    ends = [next(postings.fingerprints(skip)) for skip in (0, stored - 1)] if stored else []
    return all((number, 0) in index.query(fingerprint) for fingerprint, number in ends)


def _catch_up(index: HammingIndex, postings: Postings) -> None:
    missing = postings.fingerprints(skip=len(index))
    while batch := list(islice(missing, _BATCH)):
        fingerprints, ids = zip(*batch, strict=True)
        index.add_many(np.array(fingerprints, np.uint64), np.array(ids, np.int64))


# A run that never flushes loses at most this many documents and ids that were dropped.
_COMMIT_EVERY = 1000

_SIGN = 1 << 63
_FETCHED = 4096
# Named, since the planner would rather read the table with all its texts.
_POSTINGS = "FROM documents INDEXED BY postings WHERE fingerprint IS NOT NULL"


class SqliteDocuments(Closing):
    """Documents in a file, for one process at a time.

    What ``flush`` promised survives a killed process and a power cut. Every 1,000 documents it is
    called by itself.

    Files:
        ``path``: SQLite in WAL mode; ``neardup.storage.sqlite_format`` draws its tables. While it
        is open, ``path-wal`` stands beside it.
        ``path-promise``: The number of documents that were promised, so that a file which lacks
        some is noticed. It belongs to ``path``.

    Args:
        path: The file; made where there is none, in a folder that exists.
        features: The features of the fingerprints, which the file remembers.
        min_words: The number of words below which a text has no fingerprint, no smaller than the
            file's.

    Raises:
        DocumentsFileError: The file is damaged, shorter than promised, foreign, of other features
            or open in another process. Later calls raise it where they cannot read or write it.
        ClosedError: Used after ``close``.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        features: str = str(DEFAULTS.fingerprint_features),
        min_words: int = DEFAULTS.min_words,
    ) -> None:
        self._path = Path(path)
        self._unflushed = 0
        self._promised = PromisedCount(self._path)
        self._database: sqlite3.Connection | None = None
        with _errors(self._path):
            promised = self._promised.read()
            self._database = open_database(self._path, features, min_words, promised)
        try:
            self._promise()
        except BaseException:
            self.close()
            raise

    def __len__(self) -> int:
        return int(self._ask("SELECT count(*) FROM documents")[0][0])

    def find_digest(self, digest: bytes, exclude: Collection[int] = ()) -> int | None:
        """Return the first stored id with this text digest that is not excluded."""
        return self._first("SELECT id FROM documents WHERE digest = ?", digest, exclude)

    def find_payload(self, digest: bytes, exclude: Collection[int] = ()) -> int | None:
        """Return the first stored id with this payload digest that is not excluded."""
        return self._first("SELECT id FROM documents WHERE payload = ?", digest, exclude)

    def digest(self, id: int) -> bytes | None:  # noqa: A002  (the field's word)
        """Return the text digest stored under an id; None where there is none."""
        rows = self._ask("SELECT digest FROM documents WHERE id = ?", id)
        return rows[0][0] if rows else None

    def dropped_digest(self, id: int) -> bytes | None:  # noqa: A002  (the field's word)
        """Return the text digest with which an id was dropped; None where it never was."""
        rows = self._ask("SELECT digest FROM dropped WHERE id = ?", id)
        return rows[0][0] if rows else None

    def drop(self, id: int, digest: bytes) -> None:  # noqa: A002  (the field's word)
        """Note that an id was judged and its text not stored; durable after ``flush``."""
        self._begin()
        self._ask("INSERT OR IGNORE INTO dropped VALUES (?, ?)", checked_id(id), digest)
        self._unflushed += 1

    def name(self, id: int) -> str:  # noqa: A002  (the field's word)
        """Return what the text under an id is called, packed; empty where nothing is known."""
        rows = self._ask("SELECT name FROM documents WHERE id = ?", id)
        return rows[0][0] if rows else ""

    def facts_of(self, ids: Collection[int]) -> list[StoredFacts]:
        """Return the facts of those of some ids whose texts are stored with a fingerprint."""
        rows = self._of_signed("fingerprint, name", ids)
        return [StoredFacts(number, signed % (1 << 64), name) for number, signed, name in rows]

    def words_of(self, ids: Collection[int]) -> dict[int, int]:
        """Return the numbers of words of those of some ids that are stored with a fingerprint."""
        return dict(self._of_signed("words", ids))

    def _of_signed(self, columns: str, ids: Collection[int]) -> list[Any]:
        """Return id and columns of those of some ids that are stored with a fingerprint."""
        query = (
            f"SELECT id, {columns} FROM documents WHERE fingerprint IS NOT NULL"  # noqa: S608  (a constant)
            " AND id IN (SELECT value FROM json_each(?))"
        )
        return self._ask(query, json.dumps(list(ids)))

    def text(self, id: int) -> str | None:  # noqa: A002  (the field's word)
        """Return the text stored under an id; None where there is none."""
        rows = self._ask("SELECT text FROM documents WHERE id = ?", id)
        if not rows:
            return None
        try:
            return decompress(rows[0][0])
        except ValueError as error:
            raise DocumentsFileError(
                f"{self._path}: {error}, id {id}; restore the file from a copy"
            ) from error

    def add(self, id: int, document: Document) -> None:  # noqa: A002  (the field's word)
        """Store a document; durable after ``flush``.

        Raises:
            DuplicateIdError: The id holds a document.
            DocumentError: The id does not fit in 63 bits.
        """
        self._begin()
        number, frame = checked_id(id), compress(document.text)
        fingerprint = document.fingerprint
        signed = None if fingerprint is None else (fingerprint ^ _SIGN) - _SIGN
        row = (
            number,
            document.digest,
            document.payload,
            document.words,
            signed,
            document.name,
            frame,
        )
        self._ask(
            "INSERT INTO documents (id, digest, payload, words, fingerprint, name, text)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            *row,
        )
        self._unflushed += 1

    def count_fingerprints(self) -> int:
        """Return the number of documents that have a fingerprint. O(n)."""
        return int(self._ask(f"SELECT count(*) {_POSTINGS}")[0][0])

    def highest_id(self, first: int) -> int:
        """Return the highest id of the first ``first`` fingerprints, -1 if there is none. O(n)."""
        query = f"SELECT max(id) FROM (SELECT id {_POSTINGS} ORDER BY seq LIMIT ?)"  # noqa: S608  (a constant)
        highest = self._ask(query, first)[0][0]
        return -1 if highest is None else int(highest)

    def fingerprints(self, skip: int = 0) -> Iterator[tuple[int, int]]:
        """Yield each fingerprint with its id, in the order in which they were added.

        Args:
            skip: The number of fingerprints to leave out at the front.
        """
        query = f"SELECT fingerprint, id {_POSTINGS} ORDER BY seq LIMIT -1 OFFSET ?"
        with _errors(self._path):
            cursor = self._open().execute(query, (skip,))
            while rows := cursor.fetchmany(_FETCHED):
                yield from ((signed % (1 << 64), found) for signed, found in rows)

    def signed_ids(self) -> Ids:
        """Return the ids of all documents that have a fingerprint, in any order. O(n)."""
        with _errors(self._path):
            rows = self._open().execute(f"SELECT id {_POSTINGS}")
            return np.fromiter((number for (number,) in rows), np.int64)

    def flush(self) -> None:
        """Make durable what was added."""
        if self._open().in_transaction:
            self._ask("COMMIT")
            self._promise()
        self._unflushed = 0

    def close(self) -> None:
        """Flush and let the file go; closing twice does no harm."""
        if self._database is None:
            return
        try:
            self.flush()
        finally:
            database, self._database = self._database, None
            database.close()
            self._promised.close()

    def _begin(self) -> None:
        """Begin a transaction where none is open, after one that is large was committed."""
        if self._unflushed >= _COMMIT_EVERY:
            # Before, so that what fails to be written is not held either.
            self.flush()
        if not self._open().in_transaction:
            self._ask("BEGIN")

    def _promise(self) -> None:
        with _errors(self._path):
            self._promised.write(count_documents(self._open()))

    def _open(self) -> sqlite3.Connection:
        if self._database is None:
            raise ClosedError(f"{self._path} was closed")
        return self._database

    def _first(self, query: str, digest: bytes, exclude: Collection[int]) -> int | None:
        # Ids are distinct, so one more than are excluded is enough.
        rows = self._ask(f"{query} ORDER BY seq LIMIT ?", digest, len(exclude) + 1)
        return next((found for (found,) in rows if found not in exclude), None)

    def _ask(self, query: str, *values: Any) -> list[Any]:
        with _errors(self._path):
            return self._open().execute(query, values).fetchall()


@contextmanager
def _errors(path: Path) -> Iterator[None]:
    """Raise what SQLite says as an error of ours that names the file."""
    try:
        yield
    except sqlite3.IntegrityError as error:
        raise DuplicateIdError(f"{path}: this id holds a document ({error})") from error
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode == sqlite3.SQLITE_BUSY:
            raise DocumentsFileError(f"{path}: open in another process; end it first") from error
        raise DocumentsFileError(f"{path}: {error}") from error
    except sqlite3.DatabaseError as error:
        raise DocumentsFileError(
            f"{path}: damaged or no file of neardup ({error}); restore it from a copy, or choose "
            "another path"
        ) from error


def open_directory(
    path: str | os.PathLike[str], parameters: Parameters
) -> tuple[SqliteDocuments, HammingIndex, LshIndex, LshIndex]:
    """Open the texts and the indexes of a directory, in step; make them where there is nothing.

    Returns:
        The texts, and the indexes of their fingerprints, signatures and passages.

    Files:
        ``path/documents.sqlite``: the texts, the truth.
        ``path/index/``: their fingerprints; rebuilt from the texts where they disagree.
        ``path/signatures/``: their signatures; likewise.
        ``path/passages/``: their passages; likewise.

    Raises:
        DocumentsFileError: The file of texts is damaged, foreign, of other features or
            open in another process.
        IndexLockedError: An index is open in another process.
        IndexFileError: ``path/index``, ``path/signatures`` or ``path/passages`` holds files that
            are none of an index.
    """
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        raise DocumentsFileError(f"{folder}: a file; choose the path of a folder") from error
    features = str(parameters.fingerprint_features)
    documents = SqliteDocuments(
        folder / "documents.sqlite", features=features, min_words=parameters.min_words
    )
    with ExitStack() as opened:
        opened.callback(documents.close)
        index = open_index(folder / "index", documents, radius=parameters.max_distance)
        opened.callback(index.close)
        size = parameters.verify_shingle_size
        signatures = open_signatures(folder / "signatures", documents, shingle_size=size)
        opened.callback(signatures.close)
        passages = open_passages(folder / "passages", documents, shingle_size=size)
        opened.pop_all()
    return documents, index, signatures, passages
