"""Writes a segment; only a whole one ever bears a segment's name."""

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np
import xxhash

from neardup.indexes.columns import Array, Shape, Tables
from neardup.indexes.files.durable import TEMPORARY_SUFFIX
from neardup.indexes.files.file_layout import Span
from neardup.indexes.files.segment_format import SegmentHeader, sections_of

SYNC_BYTES = 1 << 23
"""Synced after so many bytes, so that the end of a long merge has little left to wait for."""


class Label(NamedTuple):
    """What a segment is, apart from what it holds.

    Attributes:
        identity: Of the index.
        span: The logs whose entries are in it.
    """

    identity: bytes
    span: Span


class SegmentWriter:
    """Takes the columns of a segment, side by side, and writes them where they belong.

    Args:
        path: The name that the segment shall get.
        label: What it is.
        shape: Its sizes.

    Raises:
        OSError: The file cannot be made.

    Files: ``path`` with ``.tmp`` after it, until it is renamed.
    """

    def __init__(self, path: Path, label: Label, shape: Shape) -> None:
        self.temporary = path.with_name(path.name + TEMPORARY_SUFFIX)
        self.shape = shape
        self._label = label
        self._sections = sections_of(shape)
        self._ends = [section.offset for section in self._sections]
        self._checksums = [xxhash.xxh3_64() for _ in self._sections]
        self._unsynced = 0
        self._file = self.temporary.open("wb", buffering=0)

    @property
    def span(self) -> Span:
        """The logs whose entries are in the segment."""
        return self._label.span

    def put(self, column: int, values: Array) -> None:
        """Append to a column.

        Raises:
            OSError: The disk is full, or the like.
        """
        dtype = self._sections[column].column.dtype
        data = np.ascontiguousarray(values, dtype).view(np.uint8).data
        self._write(self._ends[column], data)
        self._checksums[column].update(data)
        self._ends[column] += len(data)
        self._unsynced += len(data)
        if self._unsynced >= SYNC_BYTES:
            os.fsync(self._file.fileno())
            self._unsynced = 0

    def finish(self, max_id: int) -> None:
        """Write the header and make the file durable, still under its temporary name.

        Raises:
            OSError: The disk is full, or the like.
        """
        for checksum, section, end in zip(self._checksums, self._sections, self._ends, strict=True):
            zeros = bytes(section.end - end)
            checksum.update(zeros)
            self._write(end, zeros)
        checksums = [checksum.intdigest() for checksum in self._checksums]
        identity, span = self._label
        self._write(0, SegmentHeader(identity, *span, self.shape, max_id, checksums).to_bytes())
        os.fsync(self._file.fileno())
        self._file.close()

    def abandon(self) -> None:
        """Remove the file."""
        self._file.close()
        self.temporary.unlink(missing_ok=True)

    def _write(self, offset: int, data: bytes | memoryview) -> None:
        left = memoryview(data)
        while left:
            self._file.seek(offset)
            written = self._file.write(left)
            left, offset = left[written:], offset + written


def stage_segment(path: Path, label: Label, tables: Tables) -> Path:
    """Write a durable segment under a temporary name beside ``path`` and return that name.

    Args:
        path: The name that it shall get.
        label: What it is.
        tables: What it holds.

    Raises:
        OSError: The disk is full, or the like; nothing is left behind.
    """
    writer = SegmentWriter(path, label, tables.shape)
    try:
        for column, values in enumerate(tables.columns):
            writer.put(column, values)
        writer.finish(tables.max_id)
    except BaseException:
        writer.abandon()
        raise
    return writer.temporary
