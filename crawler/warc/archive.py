"""Write a folder of WARC files from one process."""

from __future__ import annotations

import asyncio
import hashlib
import sqlite3
from contextlib import contextmanager
from http import HTTPStatus
from tempfile import TemporaryFile
from typing import TYPE_CHECKING

from crawler.storage.directory import take_lock
from crawler.storage.errors import JobError
from crawler.warc import record_writing as records
from crawler.warc.record_writing import Exchange, OriginalRecord, Recorded
from crawler.warc.sources import ArchiveError
from crawler.warc.warc_files import WarcFiles, mend, pack

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from filelock import FileLock
    from warcio.recordloader import ArcWarcRecord

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

MAX_FILE_BYTES = 1_000_000_000


class Payloads:
    """The payloads of an archive, in a file of its own beside the WARC files.

    Not in ``crawl.db``: several crawls may write to one archive, and a crawl to several, and the
    file moves with its archive. It must never know a record that the files lack: they are flushed
    first.

    Files:
        payloads.db: SQLite. If it is lost, bodies are written once more; no other harm is done.
    """

    def __init__(self, folder: Path) -> None:
        self._connection = sqlite3.connect(folder / FILE_NAME, isolation_level=None, timeout=30)
        execute = self._connection.execute
        execute("PRAGMA journal_mode = WAL")
        execute("PRAGMA synchronous = NORMAL")
        execute(f"PRAGMA cache_size = -{_CACHE_KB}")
        self._connection.executescript(_TABLES)

    def find(self, digest: str) -> OriginalRecord | None:
        sql = "SELECT url, date, digest FROM payloads WHERE digest = ?"
        row = self._connection.execute(sql, (digest,)).fetchone()
        return None if row is None else OriginalRecord(*row)

    def last_of(self, url: str) -> OriginalRecord | None:
        """Return the response with the last payload of a URL, or None."""
        digest = self.last_digest(url)
        return None if digest is None else self.find(digest)

    def last_digest(self, url: str) -> str | None:
        sql = "SELECT digest FROM urls WHERE url = ?"
        row = self._connection.execute(sql, (_short(url),)).fetchone()
        return None if row is None else str(row[0])

    def add(self, original: OriginalRecord) -> None:
        self._write("INSERT OR IGNORE INTO payloads VALUES (?, ?, ?)",
                    (original.digest, original.url, original.date))  # fmt: skip

    def note_answer(self, url: str, digest: str) -> None:
        self._write("INSERT OR REPLACE INTO urls VALUES (?, ?)", (_short(url), digest))

    def _write(self, sql: str, values: tuple[str | bytes, ...]) -> None:
        if not self._connection.in_transaction:
            self._connection.execute("BEGIN IMMEDIATE")
        self._connection.execute(sql, values)

    def commit(self) -> None:
        if self._connection.in_transaction:
            self._connection.execute("COMMIT")

    def close(self) -> None:
        """Close the file, and discard uncommitted payloads."""
        self._connection.close()


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
            return self._record(exchange, records.payload_digest(exchange.body))

    async def record_large(self, exchange: Exchange) -> Recorded:
        """As ``record``, for a body in a file, which is read and compressed in a thread.

        The record is copied from a nameless file once it is complete, so that no other one is
        written in its midst, and nothing refers to it before.
        """
        with self._noting_failure():
            digest = await asyncio.to_thread(records.body_digest, exchange)
            if self._original(exchange, digest) is not None:
                return self._record(exchange, digest)
            answer = records.response(exchange, digest)
            with TemporaryFile(dir=self.folder) as packed:
                await asyncio.to_thread(pack, packed, answer)
                with self._noting_failure():  # another record may have failed meanwhile
                    self._files.write([records.request(exchange, answer)], packed)
                    self._note_payload(exchange, digest)
            return records.recorded(answer)

    def _record(self, exchange: Exchange, digest: str) -> Recorded:
        answer = self._answer(exchange, digest)
        group = [answer, records.request(exchange, answer)]
        if exchange.status == HTTPStatus.NOT_MODIFIED:
            told = records.head_fields(exchange)
            group.append(records.metadata(records.recorded(answer), told))
        self._files.write(group)
        return records.recorded(answer)

    def _answer(self, exchange: Exchange, digest: str) -> ArcWarcRecord:
        if exchange.status == HTTPStatus.NOT_MODIFIED:
            return records.not_modified(exchange, self._payloads.last_of(exchange.url))
        original = self._original(exchange, digest)
        self._note_payload(exchange, digest)
        if original is not None:
            return records.revisit(exchange, digest, original)
        return records.response(exchange, digest)

    def _original(self, exchange: Exchange, digest: str) -> OriginalRecord | None:
        return self._payloads.find(digest) if exchange.is_whole else None

    def _note_payload(self, exchange: Exchange, digest: str) -> None:
        if exchange.status == HTTPStatus.OK:
            self._payloads.note_answer(exchange.url, digest)
        if exchange.is_whole:  # of a stored payload the first record stays
            self._payloads.add(OriginalRecord(exchange.url, records.warc_date(exchange.at), digest))

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
        digest = records.payload_digest(content)
        with self._noting_failure():
            if self._payloads.last_digest(name) != digest:
                self._files.write([record])
                self._payloads.note_answer(name, digest)

    def flush(self) -> None:
        """Hand all records to the operating system, so that a killed process loses none.

        They are synced to the disk in a thread. A failure of the machine may lose what was written
        since the sync before.
        """
        if self._is_closed:
            return
        with self._noting_failure():
            self._files.flush()
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
