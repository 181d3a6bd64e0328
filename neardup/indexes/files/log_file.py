"""Read and write the log of an index; the grammar is in docs/formats.md."""

import struct
from pathlib import Path
from typing import NamedTuple

import numpy as np

from neardup.files.batches import AppendingFile, BatchFormat, Promise, StoredBatch
from neardup.files.sealed import CHECKSUM, FileKind, sealed
from neardup.indexes.arrays import Rows
from neardup.indexes.files.segment_file import IDENTITY_BYTES

_HEADER = struct.Struct(f"<8sII{IDENTITY_BYTES}sQ")
_KIND = FileKind("a log", b"NDUPLOG\n", 3, _HEADER.size + CHECKSUM.size)
_BATCHES = BatchFormat("entry", _KIND.header_bytes, entry_bytes=16)
EMPTY = _BATCHES.empty
"""The promise of a log without entries: its first batch begins there."""


class LogHeader(NamedTuple):
    """The first 48 bytes of a log.

    Attributes:
        identity: 16 random bytes that all files of one index share.
        number: The number of the log, from 1.
    """

    identity: bytes
    number: int

    def empty_log(self) -> bytes:
        """Return a log without entries."""
        return sealed(_HEADER.pack(_KIND.magic, _KIND.version, 0, *self)) + EMPTY.to_bytes()


class Batch(NamedTuple):
    """The changes that one call makes durable.

    Attributes:
        removed: Earlier entries of the log or of a segment that no longer count.
        added: New entries, in the order in which they came.
    """

    removed: Rows
    added: Rows

    def append_to(self, log: AppendingFile) -> None:
        """Write the batch to the end of a log and make it durable.

        Raises:
            OSError: The disk is full, or the like; the next call starts where this one did.
        """
        parts = (part for rows in self for part in (rows.fingerprints, rows.ids))
        payload = b"".join(part.astype(part.dtype.newbyteorder("<")).tobytes() for part in parts)
        log.append(len(self.removed.ids), len(self.added.ids), payload)


class LogContent(NamedTuple):
    """The content of a log.

    Attributes:
        header: The header of the log.
        batches: All batches that were promised, in the order in which they came.
        whole: The place where the last whole batch ends.
    """

    header: LogHeader
    batches: list[Batch]
    whole: Promise


def open_log(path: Path, whole: Promise) -> AppendingFile:
    """Open a log that exists, to go on where its last whole batch ends."""
    return AppendingFile(path, _KIND.header_bytes, whole)


def read_log(path: Path) -> LogContent:
    """Return the content of the log, without its torn tail.

    Raises:
        IndexFileError: The file is damaged, foreign or of another version, or ends before what it
            promised.
    """
    data = path.read_bytes()
    _, _, _, identity, number = _HEADER.unpack(_KIND.fields(path, data))
    found = list(_BATCHES.batches(path, memoryview(data)))
    whole = found[-1].whole if found else EMPTY
    return LogContent(LogHeader(identity, number), [_parsed(batch) for batch in found], whole)


def _parsed(batch: StoredBatch) -> Batch:
    middle = _BATCHES.entry_bytes * batch.removed
    return Batch(
        _rows(batch.payload[:middle], batch.removed), _rows(batch.payload[middle:], batch.added)
    )


def _rows(data: memoryview, count: int) -> Rows:
    fingerprints = np.frombuffer(data, "<u8", count)
    ids = np.frombuffer(data, "<i8", count, 8 * count)
    return Rows(fingerprints.astype(np.uint64), ids.astype(np.int64))
