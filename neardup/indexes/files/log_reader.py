"""Reads a log, cuts off a tail that was never promised, and names every other damage.

A batch is written by one write and promised only after the fsync that follows it. So a process
that is killed, or a machine that loses power, leaves at most one batch that ends too early, or
whose last blocks the file system never wrote and reads as zeros. Anything else is damage.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from neardup.indexes.arrays import Rows
from neardup.indexes.files.complaints import unusable
from neardup.indexes.files.log_format import (
    BATCH_HEADER_BYTES,
    END_MARK,
    HEADER_BYTES,
    MAGIC,
    VERSION,
    LogHeader,
    parsed_batch_header,
    parsed_header,
    parsed_rows,
    version_of,
)


class LogContent(NamedTuple):
    """What a log holds.

    Attributes:
        header: Of the log.
        rows: All entries that were promised, in the order in which they came.
        end: Bytes of the file up to the end of the last whole batch.
    """

    header: LogHeader
    rows: Rows
    end: int


def read_log(path: Path) -> LogContent:
    """Return what the log holds, without its torn tail.

    Raises:
        IndexFileError: The file is damaged, foreign or of another version.
    """
    data = path.read_bytes()
    header = _checked_header(path, data)
    batches, end, count = [Rows(np.zeros(0, np.uint64), np.zeros(0, np.int64))], HEADER_BYTES, 0
    while end < len(data):
        batch = _batch_at(path, data, end, count)
        if batch is None:
            break
        rows, size = batch
        batches.append(rows)
        end += size
        count += len(rows.ids)
    fingerprints = np.concatenate([rows.fingerprints for rows in batches])
    return LogContent(header, Rows(fingerprints, np.concatenate([r.ids for r in batches])), end)


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


def _batch_at(path: Path, data: bytes, start: int, count: int) -> tuple[Rows, int] | None:
    """Return the batch that starts there and its size; None: a tail that was never promised."""
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
    rows = parsed_rows(data[start:end], header.entries)
    if rows is None:
        if len(data) == end and not any(data[-len(END_MARK) :]):
            return None
        raise unusable(path, f"a batch with its checksum at byte {start}", "another checksum")
    return rows, header.batch_bytes
