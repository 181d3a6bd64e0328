"""Reads documents, leaves out a tail that was never promised, and names every other damage.

A batch is written by one write and promised only after the fsync that follows it. So a process
that is killed, or a machine that loses power, leaves at most one batch that ends too early, or
whose last blocks the file system never wrote and reads as zeros. Anything else is damage.
"""

import mmap
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from neardup.indexes.files.appending import AppendingFile
from neardup.indexes.files.complaints import unusable
from neardup.indexes.files.durable import write_durably
from neardup.indexes.files.promise import Promise, check_promise, parsed_promise
from neardup.indexes.lsh_rows import StoredRows
from neardup.indexes.signature_files.format import (
    BATCH_HEADER_BYTES,
    EMPTY,
    END_MARK,
    HEADER_BYTES,
    MAGIC,
    VERSION,
    Header,
    batch_bytes,
    parsed_batch_header,
    parsed_header,
    parsed_rows,
    version_of,
)


def create_file(path: Path, header: Header) -> None:
    """Write a file without documents under its name, durably."""
    write_durably(path, [header.to_bytes(), EMPTY.to_bytes()])


class BatchWriter(AppendingFile):
    """Writes to the end of a file of documents.

    Args:
        path: A file that exists.
        whole: The place where its last whole batch ends.
    """

    def __init__(self, path: Path, whole: Promise) -> None:
        super().__init__(path, HEADER_BYTES, whole)

    def append(self, rows: StoredRows) -> None:
        """Write one batch and make it durable.

        Raises:
            OSError: The disk is full, or the like; the next call starts where this one did.
        """
        self.append_bytes(batch_bytes(rows, self.count), len(rows.ids))


class SignatureBatch(NamedTuple):
    """Documents of a file.

    Attributes:
        rows: The documents, mapped into memory.
        whole: The place where the batch ends.
    """

    rows: StoredRows
    whole: Promise


def read_header(path: Path) -> Header:
    """Return the header of a file of documents.

    Raises:
        IndexFileError: The header is damaged, foreign or of another version.
    """
    with path.open("rb") as file:
        data = file.read(HEADER_BYTES)
    if data[: len(MAGIC)] != MAGIC:
        found = f"{data[: len(MAGIC)]!r}"
        raise unusable(path, f"documents of an LshIndex, starting with {MAGIC!r}", found)
    if len(data) < HEADER_BYTES:
        raise unusable(path, f"a header of {HEADER_BYTES} bytes", f"{len(data)} bytes")
    if version_of(data) != VERSION:
        raise unusable(path, f"version {VERSION}", f"version {version_of(data)}")
    header = parsed_header(data)
    if header is None:
        raise unusable(path, "a header with its checksum", "another checksum")
    return header


def read_batches(path: Path, header: Header) -> Iterator[SignatureBatch]:
    """Yield all batches that were promised, in the order in which they came.

    Raises:
        IndexFileError: The file is damaged, or ends before what it promised.
    """
    with path.open("rb") as file:
        data = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    promise = parsed_promise(path, bytes(data[HEADER_BYTES : EMPTY.end]))
    ends = [EMPTY]
    while ends[-1].end < len(data):
        batch = _batch_at(path, header, data, ends[-1])
        if batch is None:
            break
        yield batch
        ends.append(batch.whole)
    check_promise(path, promise, set(ends))


def _batch_at(
    path: Path, header: Header, data: memoryview, before: Promise
) -> SignatureBatch | None:
    """Return the batch after what stands before it; None: a tail that was never promised."""
    start, count = before
    if len(data) - start < BATCH_HEADER_BYTES:
        return None
    batch = parsed_batch_header(bytes(data[start : start + BATCH_HEADER_BYTES]))
    if batch is None or batch.first != count:
        if len(bytes(data[start:]).rstrip(b"\0")) < BATCH_HEADER_BYTES:
            return None
        raise unusable(path, f"document {count} and a checksum at byte {start}", "other bytes")
    end = start + batch.batch_bytes(header.row_bytes)
    if len(data) < end:
        return None
    rows = parsed_rows(data[start:end], header, batch.documents)
    if rows is None:
        if len(data) == end and not any(data[-len(END_MARK) :]):
            return None
        raise unusable(path, f"a batch with its checksum at byte {start}", "another checksum")
    return SignatureBatch(rows, Promise(end, count + batch.documents))
