"""Encode and decode the parts of a log; the grammar is in docs/formats.md."""

import struct
from typing import NamedTuple

import numpy as np
import xxhash

from neardup.indexes.arrays import Rows
from neardup.indexes.files.promise import PROMISE_BYTES, Promise
from neardup.indexes.files.segment_format import IDENTITY_BYTES

MAGIC = b"NDUPLOG\n"
VERSION = 3
_HEADER = struct.Struct(f"<8sII{IDENTITY_BYTES}sQ")
_BATCH = struct.Struct("<4sIIIQ")
_CHECKSUM = struct.Struct("<Q")

HEADER_BYTES = _HEADER.size + _CHECKSUM.size
EMPTY = Promise(HEADER_BYTES + PROMISE_BYTES, 0)
"""The promise of a log without entries: its first batch begins there."""

BATCH_MARK = b"NDB\n"
BATCH_HEADER_BYTES = _BATCH.size + _CHECKSUM.size
END_MARK = b"NDBEND\r\n"
TRAILER_BYTES = _CHECKSUM.size + len(END_MARK)
ROW_BYTES = 16


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
        return _sealed(_HEADER.pack(MAGIC, VERSION, 0, *self))

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


class BatchHeader(NamedTuple):
    """The first 32 bytes of a batch.

    Attributes:
        removed: The number of entries that it removes.
        added: The number of entries that it adds.
        first: The number of entries that the log names before it.
    """

    removed: int
    added: int
    first: int

    @property
    def batch_bytes(self) -> int:
        """Bytes of the whole batch."""
        return BATCH_HEADER_BYTES + ROW_BYTES * (self.removed + self.added) + TRAILER_BYTES


def batch_bytes(batch: Batch, first: int) -> bytes:
    """Return a batch as it stands in the file."""
    counts = (len(batch.removed.ids), len(batch.added.ids))
    header = _sealed(_BATCH.pack(BATCH_MARK, *counts, 0, first))
    payload = b"".join(
        rows.fingerprints.astype("<u8").tobytes() + rows.ids.astype("<i8").tobytes()
        for rows in batch
    )
    checksum = _CHECKSUM.pack(xxhash.xxh3_64_intdigest(payload))
    return header + payload + checksum + END_MARK


def version_of(header: bytes) -> int:
    """Return the version that a header with our magic names."""
    return int.from_bytes(header[8:12], "little")


def parsed_header(data: bytes) -> LogHeader | None:
    """Return a log's header; None: its checksum is another."""
    fields = _unsealed(data[:HEADER_BYTES])
    if fields is None:
        return None
    _, _, _, identity, number = _HEADER.unpack(fields)
    return LogHeader(identity, number)


def parsed_batch_header(data: bytes) -> BatchHeader | None:
    """Return a batch's header; None: it is none, or its checksum is another."""
    fields = _unsealed(data[:BATCH_HEADER_BYTES])
    if fields is None:
        return None
    mark, removed, added, _, first = _BATCH.unpack(fields)
    return BatchHeader(removed, added, first) if mark == BATCH_MARK else None


def parsed_batch(batch: bytes, header: BatchHeader) -> Batch | None:
    """Return the content of a whole batch; None: its checksum or its end mark is another."""
    payload = batch[BATCH_HEADER_BYTES:-TRAILER_BYTES]
    checksum = _CHECKSUM.pack(xxhash.xxh3_64_intdigest(payload))
    if batch[-TRAILER_BYTES:] != checksum + END_MARK:
        return None
    middle = ROW_BYTES * header.removed
    return Batch(_rows(payload[:middle], header.removed), _rows(payload[middle:], header.added))


def _rows(data: bytes, count: int) -> Rows:
    fingerprints = np.frombuffer(data, "<u8", count)
    ids = np.frombuffer(data, "<i8", count, 8 * count)
    return Rows(fingerprints.astype(np.uint64), ids.astype(np.int64))


def _sealed(fields: bytes) -> bytes:
    return fields + _CHECKSUM.pack(xxhash.xxh3_64_intdigest(fields))


def _unsealed(data: bytes) -> bytes | None:
    fields = data[: -_CHECKSUM.size]
    return fields if _sealed(fields) == data else None
