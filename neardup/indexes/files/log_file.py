"""Read and write the log of an index; the grammar is in docs/formats.md."""

import struct
from pathlib import Path
from typing import NamedTuple

import numpy as np

from neardup.files.batches import (
    BATCH_MARK,
    AppendingFile,
    BatchFormat,
    Extent,
    Promise,
    batch_of,
)
from neardup.files.durable import put_in_place, write_temporary
from neardup.files.sealed import CHECKSUM, FileKind, sealed
from neardup.indexes.arrays import Rows
from neardup.indexes.files.segment_file import IDENTITY_BYTES

_HEADER = struct.Struct(f"<8sII{IDENTITY_BYTES}sQ")
_KIND = FileKind("a log", b"NDUPLOG\n", 3, _HEADER.size + CHECKSUM.size)
_BATCH = struct.Struct("<4sIIIQ")
_ROW_BYTES = 16


class LogHeader(NamedTuple):
    """The first 48 bytes of a log.

    Attributes:
        identity: 16 random bytes that all files of one index share.
        number: The number of the log, from 1.
    """

    identity: bytes
    number: int

    def to_bytes(self) -> bytes:
        """Return the header as it stands in the file."""
        return sealed(_HEADER.pack(_KIND.magic, _KIND.version, 0, *self))

    def empty_log(self) -> bytes:
        """Return a log without entries."""
        return self.to_bytes() + EMPTY.to_bytes()


class Batch(NamedTuple):
    """The changes that one call makes durable.

    Attributes:
        removed: Earlier entries of the log or of a segment that no longer count.
        added: New entries, in the order in which they came.
    """

    removed: Rows
    added: Rows

    @property
    def rows(self) -> int:
        """The number of entries that the batch removes and adds."""
        return len(self.removed.ids) + len(self.added.ids)


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


class LogWriter(AppendingFile):
    """Writes to the end of a log.

    Args:
        path: A log that exists.
        whole: The place where its last whole batch ends.
    """

    def __init__(self, path: Path, whole: Promise) -> None:
        super().__init__(path, _KIND.header_bytes, whole)

    def append(self, batch: Batch) -> None:
        """Write one batch and make it durable.

        Raises:
            OSError: The disk is full, or the like; the next call starts where this one did.
        """
        self.append_bytes(batch_bytes(batch, self.count), batch.rows)


def create_log(path: Path, header: LogHeader) -> None:
    """Write a log without entries under its name, durably."""
    put_in_place(stage_log(path, header), path)


def stage_log(path: Path, header: LogHeader) -> Path:
    """Write a durable log without entries under a temporary name, and return that name.

    Raises:
        OSError: The disk is full, or the like; nothing is left behind.
    """
    return write_temporary(path, [header.empty_log()])


def read_log(path: Path) -> LogContent:
    """Return the content of the log, without its torn tail.

    Raises:
        IndexFileError: The file is damaged, foreign or of another version, or ends before what it
            promised.
    """
    data = path.read_bytes()
    _, _, _, identity, number = _HEADER.unpack(_KIND.fields(path, data))
    found = list(_BATCHES.batches(path, memoryview(data)))
    whole = found[-1][1] if found else EMPTY
    return LogContent(LogHeader(identity, number), [batch for batch, _ in found], whole)


def batch_bytes(batch: Batch, first: int) -> bytes:
    """Return a batch as it stands in the file."""
    counts = (len(batch.removed.ids), len(batch.added.ids))
    payload = b"".join(
        rows.fingerprints.astype("<u8").tobytes() + rows.ids.astype("<i8").tobytes()
        for rows in batch
    )
    return batch_of(_BATCH.pack(BATCH_MARK, *counts, 0, first), payload)


def _extent(fields: bytes) -> Extent:
    _, removed, added, _, first = _BATCH.unpack(fields)
    return Extent(first, removed + added, _ROW_BYTES * (removed + added))


def _parsed(fields: bytes, payload: memoryview) -> Batch:
    _, removed, added, _, _ = _BATCH.unpack(fields)
    middle = _ROW_BYTES * removed
    return Batch(_rows(payload[:middle], removed), _rows(payload[middle:], added))


def _rows(data: memoryview, count: int) -> Rows:
    fingerprints = np.frombuffer(data, "<u8", count)
    ids = np.frombuffer(data, "<i8", count, 8 * count)
    return Rows(fingerprints.astype(np.uint64), ids.astype(np.int64))


_BATCHES = BatchFormat("entry", _KIND.header_bytes, _BATCH, _extent, _parsed)
EMPTY = _BATCHES.empty
"""The promise of a log without entries: its first batch begins there."""
