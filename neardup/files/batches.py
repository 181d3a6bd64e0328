"""Files that only grow, by whole batches, and promise how long they are at least.

A batch is written by one write and promised only after the fsync that follows it. So a process
that is killed, or a machine that loses power, leaves at most one batch that ends too early, or
whose last blocks the file system never wrote and reads as zeros. Anything else is damage.

The promise is a record behind the header of the file. It never promises what is not on the disk. It
is synced with the next batch, so a power cut may leave it one batch behind; what is whole beyond it
counts all the same.
"""

import os
import struct
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import BinaryIO, NamedTuple

from neardup.files.durable import open_itself, write_durably
from neardup.files.sealed import CHECKSUM, REMEDY, checksum_of, sealed, unsealed, unusable

_PROMISE = struct.Struct("<QQ")
PROMISE_BYTES = _PROMISE.size + CHECKSUM.size

BATCH_MARK = b"NDB\n"
END_MARK = b"NDBEND\r\n"
_BATCH = struct.Struct("<4sIIIQ")
BATCH_HEADER_BYTES = _BATCH.size + CHECKSUM.size
TRAILER_BYTES = CHECKSUM.size + len(END_MARK)

_CHUNK_BYTES = 1 << 20


class Promise(NamedTuple):
    """The least that a file holds.

    Attributes:
        end: The length of the file in bytes, up to the end of a batch.
        entries: The number of entries up to there.
    """

    end: int
    entries: int

    def to_bytes(self) -> bytes:
        """Return the record as it stands in the file."""
        return sealed(_PROMISE.pack(*self))


def parsed_promise(path: Path, data: bytes, remedy: str = REMEDY) -> Promise:
    """Return the promise that a file makes.

    Args:
        path: The file, for the error.
        data: Its record.
        remedy: The remedy that the error names.

    Raises:
        IndexFileError: The record is cut short or damaged.
    """
    fields = unsealed(data) if len(data) == PROMISE_BYTES else None
    if fields is None:
        raise unusable(path, "a promised length with its checksum", "other bytes", remedy)
    return Promise(*_PROMISE.unpack(fields))


class StoredBatch(NamedTuple):
    """A batch of a file.

    Attributes:
        removed: The number of earlier entries that it removes, named at the beginning.
        added: The number of entries that it adds, named behind those.
        payload: The entries.
        whole: The promise of its end.
    """

    removed: int
    added: int
    payload: memoryview
    whole: Promise


@dataclass(frozen=True, slots=True)
class BatchFormat:
    """The batches of one kind of file: a sealed header, entries, their checksum and an end mark.

    Attributes:
        entry: The word for an entry, for errors.
        file_header_bytes: The size of the header of the file, behind which the promise stands.
        entry_bytes: The size of an entry, added or removed.
    """

    entry: str
    file_header_bytes: int
    entry_bytes: int

    @property
    def empty(self) -> Promise:
        """The promise of a file without batches: its first batch begins there."""
        return Promise(self.file_header_bytes + PROMISE_BYTES, 0)

    def batches(self, path: Path, data: memoryview) -> Iterator[StoredBatch]:
        """Yield all batches of a file that were promised.

        A torn tail is left out.

        Args:
            path: The file, for errors.
            data: All that it holds, its header checked.

        Raises:
            IndexFileError: The file is damaged, or ends before what it promised.
        """
        promise = parsed_promise(path, bytes(data[self.file_header_bytes : self.empty.end]))
        ends = [self.empty]
        while ends[-1].end < len(data):
            found = self._batch_at(path, data, ends[-1])
            if found is None:
                break
            yield found
            ends.append(found.whole)
        _check_promise(path, promise, set(ends))

    def _batch_at(self, path: Path, data: memoryview, before: Promise) -> StoredBatch | None:
        """Return the batch after what stands before it; None: a torn tail."""
        start, first = before
        payload_at = start + BATCH_HEADER_BYTES
        if len(data) < payload_at:
            return None
        fields = unsealed(bytes(data[start:payload_at]))
        mark, removed, added, _, stored_first = _BATCH.unpack(fields or bytes(_BATCH.size))
        if (mark, stored_first) != (BATCH_MARK, first):
            if len(bytes(data[start:]).rstrip(b"\0")) < BATCH_HEADER_BYTES:
                return None
            wanted = f"{self.entry} {first} and a checksum at byte {start}"
            raise unusable(path, wanted, "other bytes")
        trailer_at = payload_at + self.entry_bytes * (removed + added)
        end = trailer_at + TRAILER_BYTES
        if len(data) < end:
            return None
        payload = data[payload_at:trailer_at]
        if bytes(data[trailer_at:end]) != _trailer(payload):
            if len(data) == end and not any(data[-len(END_MARK) :]):
                return None
            raise unusable(path, f"a batch with its checksum at byte {start}", "another checksum")
        return StoredBatch(removed, added, payload, Promise(end, first + removed + added))


def batch_bytes(removed: int, added: int, first: int, payload: bytes) -> bytes:
    """Return a batch as it stands in a file, behind ``first`` entries."""
    header = sealed(_BATCH.pack(BATCH_MARK, removed, added, 0, first))
    return b"".join((header, payload, _trailer(payload)))


def _trailer(payload: bytes | memoryview) -> bytes:
    return checksum_of(payload) + END_MARK


def _check_promise(path: Path, promise: Promise, batches: set[tuple[int, int]]) -> None:
    """Refuse a file that ends before what it promised.

    Args:
        path: The file.
        promise: The promise of the file.
        batches: The ends of its whole batches, each with the entries up to there.

    Raises:
        IndexFileError: None of them ends where the promise does.
    """
    if promise not in batches:
        end, entries = max(batches)
        raise unusable(
            path,
            f"at least the {promise.entries} entries in {promise.end} bytes that it promised",
            f"{entries} entries in {end} bytes",
        )


class AppendingFile:
    """A file that only grows, by whole batches, and says how long it is at least.

    Args:
        path: A file that exists.
        promise_at: The place of its promise in the file.
        whole: The place where its last whole batch ends. The bytes behind it are a torn tail.

    Files: the file itself, open until :meth:`close`; ``<name>.tail-1`` and so on are torn tails.
    """

    def __init__(self, path: Path, promise_at: int, whole: Promise) -> None:
        self.path = path
        self._promise_at = promise_at
        # One attribute, so that an interrupt never finds one of the two ahead of the other.
        self._written = whole
        self._file = open_itself(path, "r+b", buffering=0)
        try:
            if os.fstat(self._file.fileno()).st_size > whole.end:
                _set_aside(path, whole.end)
                self._cut_to_end()
            if self._read_promise() != whole.to_bytes():
                self._write_promise(whole)
        except BaseException:
            self._file.close()
            raise

    def append(self, removed: int, added: int, payload: bytes) -> None:
        """Write one batch, make it durable, and promise it.

        Args:
            removed: The number of entries that it removes.
            added: The number of entries that it adds.
            payload: The ones and the others.

        Raises:
            OSError: The disk is full, or the like; the next call starts where this one did.
        """
        # Half a batch of a failed call, in front of this one, would be damage.
        self._cut_to_end()
        end, count = self._written
        data = batch_bytes(removed, added, count, payload)
        try:
            self._write(end, data)
            os.fsync(self._file.fileno())
        except OSError:
            with suppress(OSError):
                self._cut_to_end()
            raise
        written = Promise(end + len(data), count + removed + added)
        self._write_promise(written)
        self._written = written

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def _read_promise(self) -> bytes:
        self._file.seek(self._promise_at)
        return self._file.read(PROMISE_BYTES) or b""

    def _write_promise(self, promise: Promise) -> None:
        self._write(self._promise_at, promise.to_bytes())

    def _write(self, place: int, data: bytes) -> None:
        self._file.seek(place)
        left = memoryview(data)
        while left:
            left = left[self._file.write(left) :]

    def _cut_to_end(self) -> None:
        end = self._written.end
        if os.fstat(self._file.fileno()).st_size != end:
            self._file.truncate(end)
            os.fsync(self._file.fileno())


def _set_aside(path: Path, end: int) -> None:
    """Copy what stands in a file from ``end`` on to a file beside it, durably."""
    names = (path.with_name(f"{path.name}.tail-{number}") for number in count(1))
    with path.open("rb") as file:
        file.seek(end)
        write_durably(next(name for name in names if not name.exists()), _chunks(file))


def _chunks(file: BinaryIO) -> Iterator[bytes]:
    while chunk := file.read(_CHUNK_BYTES):
        yield chunk
