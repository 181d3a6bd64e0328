"""Write a folder of WARC files from one process."""

from __future__ import annotations

import asyncio
import hashlib
import os
import sqlite3
from contextlib import closing, contextmanager
from functools import partial
from http import HTTPStatus
from tempfile import TemporaryFile
from typing import TYPE_CHECKING

from crawler.storage.database import connect_for_reading
from crawler.storage.directory import take_lock
from crawler.storage.errors import JobError
from crawler.warc import record_writing as records
from crawler.warc.record_reading import is_record
from crawler.warc.record_writing import Exchange, OriginalRecord, Recorded, RecordPlace
from crawler.warc.sources import ArchiveError
from crawler.warc.warc_files import WarcFiles, mend, pack
from neardup.files.durable import open_sqlite

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path
    from typing import BinaryIO

    from filelock import FileLock
    from warcio.recordloader import ArcWarcRecord

FILE_NAME = "payloads.db"

_TABLES = """
DROP TABLE IF EXISTS payloads;  -- of versions that noted no places, with its urls
DROP TABLE IF EXISTS urls;
CREATE TABLE IF NOT EXISTS files (
    name   TEXT PRIMARY KEY,
    bytes  INTEGER NOT NULL     -- that were written to it
);
CREATE TABLE IF NOT EXISTS records (
    digest TEXT PRIMARY KEY,
    url    TEXT NOT NULL,       -- of the record that holds it
    date   TEXT NOT NULL,       -- and its WARC-Date
    file   INTEGER NOT NULL,    -- rowid of files
    offset INTEGER NOT NULL,
    length INTEGER NOT NULL     -- of its gzip member
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS answers (
    url     BLOB PRIMARY KEY,   -- blake2b, 16 bytes
    digest  TEXT NOT NULL,      -- of what it answered last
    etag TEXT NOT NULL,         -- and what the server called that version; may be empty
    last_modified TEXT NOT NULL
) WITHOUT ROWID;
"""
_CACHE_KB = 8 * 1024

MAX_FILE_BYTES = 1_000_000_000

_READ_AGAIN_BYTES = 1 << 20
"""A record of more bytes is read through once a process, before it is named again."""

Version = tuple[str, str]
"""The ETag and the Last-Modified of an answer, empty where it has none."""

NO_VERSION: Version = ("", "")


class Payloads:
    """The payloads of an archive, in a file of its own beside the WARC files.

    Not in ``crawl.db``: several crawls may write to one archive, and a crawl to several, and the
    file moves with its archive. It must never know a record that the files lack: they are flushed
    first. What happens to them later is seen when a record is looked at, before it is named.

    Files:
        payloads.db: SQLite. If it is lost, bodies are written once more; no other harm is done.
    """

    def __init__(self, folder: Path) -> None:
        self._connection = open_sqlite(folder / FILE_NAME, timeout=30)
        execute = self._connection.execute
        execute("PRAGMA journal_mode = WAL")
        execute("PRAGMA synchronous = NORMAL")
        execute(f"PRAGMA cache_size = -{_CACHE_KB}")
        self._connection.executescript(_TABLES)

    def find(self, digest: str) -> OriginalRecord | None:
        sql = (
            "SELECT url, date, digest, name, offset, length FROM records "
            "JOIN files ON files.rowid = file WHERE digest = ?"
        )
        row = self._connection.execute(sql, (digest,)).fetchone()
        if row is None:
            return None
        url, date, held, *place = row
        return OriginalRecord(url, date, held, RecordPlace(*place))

    def last_of(self, url: str) -> tuple[OriginalRecord | None, Version]:
        """Return the record with the last payload of a URL, if there is one, and its version."""
        sql = "SELECT digest, etag, last_modified FROM answers WHERE url = ?"
        row = self._connection.execute(sql, (_short(url),)).fetchone()
        return (None, NO_VERSION) if row is None else (self.find(row[0]), (row[1], row[2]))

    def add(self, original: OriginalRecord) -> None:
        """Note a new record, in place of one that is not there any more."""
        place = original.place
        self.note_size(place.file, place.end)
        self._write(
            "INSERT OR REPLACE INTO records SELECT ?, ?, ?, rowid, ?, ? FROM files WHERE name = ?",
            (original.digest, original.url, original.date, place.offset, place.length, place.file),
        )

    def note_size(self, file: str, size: int) -> None:
        sql = "INSERT INTO files VALUES (?, ?) ON CONFLICT DO UPDATE SET bytes = excluded.bytes"
        self._write(sql, (file, size))

    def rename_version(self, url: str, version: Version) -> None:
        """Note how a server calls the last version now, where it says that."""
        sql = (
            "UPDATE answers SET etag = coalesce(nullif(?, ''), etag), "
            "last_modified = coalesce(nullif(?, ''), last_modified) WHERE url = ?"
        )
        self._write(sql, (*version, _short(url)))

    def note_answer(self, url: str, digest: str, version: Version = NO_VERSION) -> None:
        self._write("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?)",
                    (_short(url), digest, *version))  # fmt: skip

    def _write(self, sql: str, values: tuple[str | bytes | int, ...]) -> None:
        if not self._connection.in_transaction:
            self._connection.execute("BEGIN IMMEDIATE")
        self._connection.execute(sql, values)

    def commit(self) -> None:
        if self._connection.in_transaction:
            self._connection.execute("COMMIT")

    def close(self) -> None:
        """Close the file, and discard uncommitted payloads."""
        self._connection.close()


def noted_sizes(folder: Path) -> dict[str, int]:
    """Return the files that an archive has written, each with its size in bytes.

    Raises:
        sqlite3.Error: What it noted cannot be read.
    """
    path = folder / FILE_NAME
    if not path.is_file():
        return {}
    with closing(connect_for_reading(path)) as connection:
        if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'files'").fetchone():
            return {}
        return dict(connection.execute("SELECT name, bytes FROM files"))


def _short(url: str) -> bytes:
    return hashlib.blake2b(url.encode("utf-8", "surrogatepass"), digest_size=16).digest()


class Archive:
    """Records exchanges, with a revisit record for a payload that is stored already.

    Args:
        folder: Folder of the archive, made if it is missing.
        name: Prefix of the names of its files.
        max_file_bytes: Size in bytes at which the next file begins.
        about: Fields of ``warcinfo``: software, operator, robots and others.

    Files:
        *.warc.gz: see ``WarcFiles``.
        payloads.db: see ``Payloads``.
        lock: Held while a process writes.

    A write that fails ends everything: records after half a record could not be read.

    Raises:
        ArchiveError: It cannot be written to, or another process writes to it.
    """

    def __init__(
        self,
        folder: Path,
        name: str,
        max_file_bytes: int = MAX_FILE_BYTES,
        about: Mapping[str, str] | None = None,
    ) -> None:
        self.folder = folder
        self._failure: str | None = None
        self._read_through: set[RecordPlace] = set()
        self._is_closed = False
        self._lock = lock(folder)
        try:
            with self._noting_failure():
                mend(folder)
                self._payloads = Payloads(folder)
        except BaseException:
            self._lock.release()
            raise
        self._files = WarcFiles(folder, name, max_file_bytes, about or {})

    def record(self, exchange: Exchange) -> Recorded:
        """Write the answer, or a revisit record of its stored payload, and the request."""
        with self._noting_failure():
            digest = records.payload_digest(exchange.body)
            found = self._original(exchange, digest)
            return self._record(exchange, digest, found if self._look(found)() else None)

    async def record_large(self, exchange: Exchange) -> Recorded:
        """Do the same as ``record`` for a body in a file, which is read and compressed in a thread.

        The record is copied from a nameless file once it is complete, so that no other one is
        written in its midst, and nothing refers to it before.
        """
        with self._noting_failure():
            digest = await asyncio.to_thread(records.payload_digest, exchange.stream())
            found = self._original(exchange, digest)
            if await asyncio.to_thread(self._look(found)):
                return self._record(exchange, digest, found)
            answer = records.response(exchange, digest)
            with TemporaryFile(dir=self.folder) as packed:
                await asyncio.to_thread(pack, packed, answer)
                with self._noting_failure():  # another record may have failed meanwhile
                    place = self._files.write([records.request(exchange, answer)], packed)
                    self._note_answer(exchange, digest, place)
            return records.recorded(answer)

    async def holds(self, url: str, version: Version) -> bool:
        """Return whether the version of a URL is there to which "not modified" would refer."""
        with self._noting_failure():
            found, last = self._payloads.last_of(url)
            return last == version and await asyncio.to_thread(self._look(found))

    def _record(self, exchange: Exchange, digest: str, original: OriginalRecord | None) -> Recorded:
        if original is None:
            answer = records.response(exchange, digest)
        else:
            answer = records.revisit(exchange, digest, original)
        group = [answer, records.request(exchange, answer)]
        if original is not None and exchange.status == HTTPStatus.NOT_MODIFIED:
            told = records.head_fields(exchange)
            group.append(records.metadata(records.recorded(answer), told))
        place = self._files.write(group)
        self._note_answer(exchange, digest, place if original is None else None)
        return records.recorded(answer)

    def _original(self, exchange: Exchange, digest: str) -> OriginalRecord | None:
        """Return the noted record that an exchange repeats; it may be lost."""
        if exchange.status == HTTPStatus.NOT_MODIFIED:
            return self._payloads.last_of(exchange.url)[0]
        return self._payloads.find(digest) if exchange.is_whole else None

    def _look(self, original: OriginalRecord | None) -> Callable[[], bool]:
        """Open the file of a record, and return what tells whether the record can be read there."""
        file = None if original is None else self._files.opened(original.place.file)
        if original is None or file is None:
            return lambda: False
        return partial(self._is_whole, original, file)

    def _is_whole(self, original: OriginalRecord, file: BinaryIO) -> bool:
        """Read a record through; a large one once a process."""
        with file:
            place = original.place
            if place in self._read_through:
                return os.fstat(file.fileno()).st_size >= place.end
            is_whole = is_record(file, place, original.url, original.date)
            if is_whole and place.length > _READ_AGAIN_BYTES:
                self._read_through.add(place)
            return is_whole

    def _note_answer(self, exchange: Exchange, digest: str, place: RecordPlace | None) -> None:
        """Note the payload of an exchange, with its place where a record with it was written."""
        version = exchange.field(b"etag"), exchange.field(b"last-modified")
        if exchange.status == HTTPStatus.OK:
            self._payloads.note_answer(exchange.url, digest, version)
        elif exchange.status == HTTPStatus.NOT_MODIFIED and place is None:
            self._payloads.rename_version(exchange.url, version)
        if place is not None and exchange.is_whole:
            date = records.warc_date(exchange.at)
            self._payloads.add(OriginalRecord(exchange.url, date, digest, place))

    def note(self, about: Recorded, fields: Iterable[tuple[str, str]]) -> None:
        with self._noting_failure():
            self._files.write([records.metadata(about, fields)])

    def note_once(self, name: str, about: Recorded, fields: Sequence[tuple[str, str]]) -> None:
        """Write a metadata record about a response, unless the last one of that name was the same.

        Args:
            name: What is told, such as the TLS of one host.
            about: The response.
            fields: Names and values.
        """
        self._write_once(name, repr(fields).encode(), records.metadata(about, fields))

    def record_view(self, url: str, at: datetime, picture: bytes) -> None:
        """Write the picture of a page as a resource, unless the last one of it was the same."""
        name = f"urn:view:{url}"
        self._write_once(name, picture, records.resource(name, at, picture, "image/webp"))

    def record_address(self, host: str, at: datetime, address: str) -> None:
        """Write the address of a host as a resource, unless the last one of it was the same."""
        name, kind = f"dns:{host}", "AAAA" if ":" in address else "A"
        told = f"{at:%Y%m%d%H%M%S}\n{host}.\tIN\t{kind}\t{address}\n".encode()
        self._write_once(name, address.encode(), records.resource(name, at, told, "text/dns"))

    def _write_once(self, name: str, content: bytes, record: ArcWarcRecord) -> None:
        # With its name, so that no answer is taken for a revisit of it.
        digest = records.payload_digest(name.encode() + content)
        with self._noting_failure():
            last, _ = self._payloads.last_of(name)
            if last is None or last.digest != digest or not self._look(last)():
                place, told = self._files.write([record]), records.recorded(record)
                self._payloads.note_answer(name, digest)
                self._payloads.add(OriginalRecord(told.url, told.date, digest, place))

    def flush(self) -> None:
        """Hand all records to the operating system, so that a killed process loses none.

        They are synced to the disk in a thread. A failure of the machine may lose what was written
        since the sync before.
        """
        if self._is_closed:
            return
        with self._noting_failure():
            self._files.flush()
            while self._files.written:
                self._payloads.note_size(*self._files.written.popitem())
            self._payloads.commit()

    def close(self) -> None:
        """End the file; after a failure it stays as it is, to be mended when it is opened next.

        Closing twice is allowed.
        """
        if self._is_closed:
            return
        try:
            if self._failure is None:
                self.flush()
                with self._noting_failure():
                    self._files.close()
        finally:
            self._is_closed = True
            self._files.abandon()
            self._payloads.close()
            self._lock.release()

    @contextmanager
    def _noting_failure(self) -> Iterator[None]:
        if self._failure is not None:
            raise ArchiveError(self._failure)
        try:
            yield
        except (OSError, sqlite3.Error) as error:
            reason = (isinstance(error, OSError) and error.strerror) or str(error)
            self._failure = f"{self.folder}: cannot be written: {reason}"
            raise ArchiveError(self._failure) from error


def lock(folder: Path) -> FileLock:
    """Lock a folder for this process, and make it if it is missing.

    Raises:
        ArchiveError: Another process has it, or it cannot be made.
    """
    try:
        return take_lock(folder)
    except JobError as error:
        raise ArchiveError(str(error)) from None
