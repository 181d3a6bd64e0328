"""Read and write the file of an index of signatures; the grammar is in docs/lsh_format.md."""

import mmap
import struct
from collections.abc import Iterator
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
from neardup.files.durable import write_durably
from neardup.files.sealed import CHECKSUM, FileKind, sealed
from neardup.indexes.banding import Banding
from neardup.indexes.lsh_layout import words_of
from neardup.indexes.lsh_rows import StoredRows

FILE_NAME = "documents.lsh"
BATCH_ROWS = 1 << 16
"""The largest number of rows in a batch: 10 MB with 128 permutations in 18 bands."""

_HEADER = struct.Struct("<8sIIIIdQ")
_KIND = FileKind("documents of an LshIndex", b"NDUPLSH\n", 2, _HEADER.size + CHECKSUM.size)
_BATCH = struct.Struct("<4sIQ")


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
        return sealed(_HEADER.pack(_KIND.magic, _KIND.version, *numbers))

    def batches(self) -> BatchFormat[StoredRows]:
        """Return the format of the batches behind this header."""
        return BatchFormat("document", _KIND.header_bytes, _BATCH, self._extent, self._parsed)

    def _extent(self, fields: bytes) -> Extent:
        _, count, first = _BATCH.unpack(fields)
        return Extent(first, count, count * self.row_bytes)

    def _parsed(self, fields: bytes, payload: memoryview) -> StoredRows:
        _, count, _ = _BATCH.unpack(fields)
        words = words_of(self.permutations)
        ids = np.frombuffer(payload, "<i8", count)
        sketches = np.frombuffer(payload, "<u8", count * words, 8 * count)
        keys = np.frombuffer(payload, "<u4", count * self.shape.bands, 8 * count * (1 + words))
        return StoredRows(
            ids.astype(np.int64, copy=False),
            keys.astype(np.uint32, copy=False).reshape(count, -1),
            sketches.astype(np.uint64, copy=False).reshape(count, -1),
        )


class BatchWriter(AppendingFile):
    """Writes to the end of a file of documents.

    Args:
        path: A file that exists.
        whole: The place where its last whole batch ends.
    """

    def __init__(self, path: Path, whole: Promise) -> None:
        super().__init__(path, _KIND.header_bytes, whole)

    def append(self, rows: StoredRows) -> None:
        """Write one batch and make it durable.

        Raises:
            OSError: The disk is full, or the like; the next call starts where this one did.
        """
        self.append_bytes(batch_bytes(rows, self.count), len(rows.ids))


def create_file(path: Path, header: Header) -> None:
    """Write a file without documents under its name, durably."""
    write_durably(path, [header.to_bytes(), header.batches().empty.to_bytes()])


def read_header(path: Path) -> Header:
    """Return the header of a file of documents.

    Raises:
        IndexFileError: The header is damaged, foreign or of another version.
    """
    with path.open("rb") as file:
        fields = _KIND.fields(path, file.read(_KIND.header_bytes))
    _, _, permutations, bands, rows, min_similarity, probe = _HEADER.unpack(fields)
    return Header(permutations, Banding(bands, rows), min_similarity, probe)


def read_batches(path: Path, header: Header) -> Iterator[tuple[StoredRows, Promise]]:
    """Yield all batches that were promised, mapped into memory, each with where it ends.

    Raises:
        IndexFileError: The file is damaged, or ends before what it promised.
    """
    with path.open("rb") as file:
        data = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    return header.batches().batches(path, data)


def batch_bytes(rows: StoredRows, first: int) -> bytes:
    """Return a batch as it stands in the file."""
    payload = b"".join(
        (
            rows.ids.astype("<i8", copy=False).tobytes(),
            rows.sketches.astype("<u8", copy=False).tobytes(),
            rows.keys.astype("<u4", copy=False).tobytes(),
        )
    )
    return batch_of(_BATCH.pack(BATCH_MARK, len(rows.ids), first), payload)
