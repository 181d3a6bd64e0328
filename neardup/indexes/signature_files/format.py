"""Encode and decode the file of an index of signatures; the grammar is in docs/lsh_format.md."""

import struct
from typing import NamedTuple

import numpy as np
import xxhash

from neardup.indexes.banding import Banding
from neardup.indexes.files.promise import PROMISE_BYTES, Promise
from neardup.indexes.lsh_layout import words_of
from neardup.indexes.lsh_rows import StoredRows

FILE_NAME = "documents.lsh"
MAGIC = b"NDUPLSH\n"
VERSION = 2

_HEADER = struct.Struct("<8sIIIIdQ")
_BATCH = struct.Struct("<4sIQ")
_CHECKSUM = struct.Struct("<Q")

HEADER_BYTES = _HEADER.size + _CHECKSUM.size
EMPTY = Promise(HEADER_BYTES + PROMISE_BYTES, 0)
"""The promise of a file without documents: its first batch begins there."""

BATCH_MARK = b"NDB\n"
BATCH_HEADER_BYTES = _BATCH.size + _CHECKSUM.size
END_MARK = b"NDBEND\r\n"
TRAILER_BYTES = _CHECKSUM.size + len(END_MARK)
BATCH_ROWS = 1 << 16
"""The largest number of rows in a batch: 10 MB with 128 permutations in 18 bands."""


class Header(NamedTuple):
    """The first 48 bytes of the file.

    Attributes:
        permutations: Values of a signature.
        shape: Its bands, and the values of each.
        min_similarity: The similarity for which they were chosen.
        probe: A number that tells whether keys and sketches are still made as they were then.
    """

    permutations: int
    shape: Banding
    min_similarity: float
    probe: int

    @property
    def row_bytes(self) -> int:
        """Bytes of a document."""
        return 8 + 8 * words_of(self.permutations) + 4 * self.shape.bands

    def to_bytes(self) -> bytes:
        """Return the header as it stands in the file."""
        numbers = (self.permutations, *self.shape, self.min_similarity, self.probe)
        return _sealed(_HEADER.pack(MAGIC, VERSION, *numbers))


class SignatureBatchHeader(NamedTuple):
    """The first 24 bytes of a batch.

    Attributes:
        documents: The number of documents in it.
        first: The number of documents in the file before it.
    """

    documents: int
    first: int

    def batch_bytes(self, row_bytes: int) -> int:
        """Return the size of the whole batch."""
        return BATCH_HEADER_BYTES + self.documents * row_bytes + TRAILER_BYTES


def batch_bytes(rows: StoredRows, first: int) -> bytes:
    """Return a batch as it stands in the file."""
    header = _sealed(_BATCH.pack(BATCH_MARK, len(rows.ids), first))
    payload = b"".join(
        (
            rows.ids.astype("<i8", copy=False).tobytes(),
            rows.sketches.astype("<u8", copy=False).tobytes(),
            rows.keys.astype("<u4", copy=False).tobytes(),
        )
    )
    checksum = _CHECKSUM.pack(xxhash.xxh3_64_intdigest(payload))
    return b"".join((header, payload, checksum, END_MARK))


def version_of(header: bytes) -> int:
    """Return the version that a header with our magic names."""
    return int.from_bytes(header[8:12], "little")


def parsed_header(data: bytes) -> Header | None:
    """Return a file's header; None: its checksum is another."""
    fields = _unsealed(data[:HEADER_BYTES])
    if fields is None:
        return None
    _, _, permutations, bands, rows, min_similarity, probe = _HEADER.unpack(fields)
    return Header(permutations, Banding(bands, rows), min_similarity, probe)


def parsed_batch_header(data: bytes) -> SignatureBatchHeader | None:
    """Return a batch's header; None: it is none, or its checksum is another."""
    fields = _unsealed(data[:BATCH_HEADER_BYTES])
    if fields is None:
        return None
    mark, count, first = _BATCH.unpack(fields)
    return SignatureBatchHeader(count, first) if mark == BATCH_MARK else None


def parsed_rows(batch: memoryview, header: Header, count: int) -> StoredRows | None:
    """Return the documents of a whole batch; None: its checksum or its end mark is another."""
    payload = batch[BATCH_HEADER_BYTES:-TRAILER_BYTES]
    checksum = _CHECKSUM.pack(xxhash.xxh3_64_intdigest(payload))
    if bytes(batch[-TRAILER_BYTES:]) != checksum + END_MARK:
        return None
    words = words_of(header.permutations)
    ids = np.frombuffer(payload, "<i8", count)
    sketches = np.frombuffer(payload, "<u8", count * words, 8 * count)
    keys = np.frombuffer(payload, "<u4", count * header.shape.bands, 8 * count * (1 + words))
    return StoredRows(
        ids.astype(np.int64, copy=False),
        keys.astype(np.uint32, copy=False).reshape(count, -1),
        sketches.astype(np.uint64, copy=False).reshape(count, -1),
    )


def _sealed(fields: bytes) -> bytes:
    return fields + _CHECKSUM.pack(xxhash.xxh3_64_intdigest(fields))


def _unsealed(data: bytes) -> bytes | None:
    fields = data[: -_CHECKSUM.size]
    return fields if _sealed(fields) == data else None
