"""Reads a log, leaves out a tail that was never promised, and names every other damage.

A batch is written by one write and promised only after the fsync that follows it. So a process
that is killed, or a machine that loses power, leaves at most one batch that ends too early, or
whose last blocks the file system never wrote and reads as zeros. Anything else is damage.
"""

from pathlib import Path
from typing import NamedTuple

from neardup.indexes.files.appending import AppendingFile
from neardup.indexes.files.complaints import unusable
from neardup.indexes.files.durable import put_in_place, write_temporary
from neardup.indexes.files.log_format import (
    BATCH_HEADER_BYTES,
    EMPTY,
    END_MARK,
    HEADER_BYTES,
    MAGIC,
    VERSION,
    Batch,
    LogHeader,
    batch_bytes,
    parsed_batch,
    parsed_batch_header,
    parsed_header,
    version_of,
)
from neardup.indexes.files.promise import Promise, check_promise, parsed_promise


def create_log(path: Path, header: LogHeader) -> None:
    """Write a log without entries under its name, durably."""
    put_in_place(stage_log(path, header), path)


def stage_log(path: Path, header: LogHeader) -> Path:
    """Write a durable log without entries under a temporary name, and return that name.

    Raises:
        OSError: The disk is full, or the like; nothing is left behind.
    """
    return write_temporary(path, [header.empty_log()])


class LogWriter(AppendingFile):
    """Writes to the end of a log.

    Args:
        path: A log that exists.
        whole: The place where its last whole batch ends.
    """

    def __init__(self, path: Path, whole: Promise) -> None:
        super().__init__(path, HEADER_BYTES, whole)

    def append(self, batch: Batch) -> None:
        """Write one batch and make it durable.

        Raises:
            OSError: The disk is full, or the like; the next call starts where this one did.
        """
        self.append_bytes(batch_bytes(batch, self.count), batch.rows)


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


def read_log(path: Path) -> LogContent:
    """Return the content of the log, without its torn tail.

    Raises:
        IndexFileError: The file is damaged, foreign or of another version, or ends before what it
            promised.
    """
    data = path.read_bytes()
    header = _checked_header(path, data)
    batches: list[Batch] = []
    promise = parsed_promise(path, data[HEADER_BYTES : EMPTY.end])
    ends = [EMPTY]
    while ends[-1].end < len(data):
        found = _batch_at(path, data, ends[-1])
        if found is None:
            break
        batches.append(found[0])
        ends.append(found[1])
    check_promise(path, promise, set(ends))
    return LogContent(header, batches, ends[-1])


def _checked_header(path: Path, data: bytes) -> LogHeader:
    if data[: len(MAGIC)] != MAGIC:
        raise unusable(path, f"a log, starting with {MAGIC!r}", f"{data[: len(MAGIC)]!r}")
    if len(data) < HEADER_BYTES:
        raise unusable(path, f"a header of {HEADER_BYTES} bytes", f"{len(data)} bytes")
    if version_of(data) != VERSION:
        raise unusable(path, f"version {VERSION}", f"version {version_of(data)}")
    header = parsed_header(data)
    if header is None:
        raise unusable(path, "a header with its checksum", "another checksum")
    return header


def _batch_at(path: Path, data: bytes, before: Promise) -> tuple[Batch, Promise] | None:
    """Return the batch after what stands before it, and where it ends; None: a torn tail."""
    start, count = before
    if len(data) - start < BATCH_HEADER_BYTES:
        return None
    header = parsed_batch_header(data[start : start + BATCH_HEADER_BYTES])
    if header is None or header.first != count:
        if len(data[start:].rstrip(b"\0")) < BATCH_HEADER_BYTES:
            return None
        raise unusable(path, f"entry {count} and a checksum at byte {start}", "other bytes")
    end = start + header.batch_bytes
    if len(data) < end:
        return None
    batch = parsed_batch(data[start:end], header)
    if batch is None:
        if len(data) == end and not any(data[-len(END_MARK) :]):
            return None
        raise unusable(path, f"a batch with its checksum at byte {start}", "another checksum")
    return batch, Promise(end, count + batch.rows)
