"""Read and write a segment, or say what is wrong with it; the grammar is in docs/formats.md."""

import mmap
import os
import struct
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

import numpy as np
import xxhash

from neardup.files.durable import TEMPORARY_SUFFIX
from neardup.files.sealed import CHECKSUM, FileKind, sealed, unusable
from neardup.indexes.columns import (
    COLUMNS,
    Array,
    ArrayColumn,
    Shape,
    Tables,
    columns_of,
    tables_of,
)
from neardup.indexes.files.file_layout import Span

HEADER_BYTES = 256
IDENTITY_BYTES = 16
ALIGNMENT = 64
SYNC_BYTES = 1 << 23
"""The file is synced each time this many bytes were written, so that the end of a long merge has
little left to wait for.
"""

_KIND = FileKind("a segment", b"NDUPSEG\n", 2, HEADER_BYTES)
_FIELDS = struct.Struct(f"<8sII{IDENTITY_BYTES}sQQQQQq{COLUMNS}Q")
_PADDING = bytes(HEADER_BYTES - _FIELDS.size - CHECKSUM.size)


class SegmentHeader(NamedTuple):
    """The first 256 bytes of a segment.

    Attributes:
        identity: 16 random bytes that all files of one index share.
        first_log: The log with the oldest entries of the segment.
        last_log: The log with the newest entries of the segment.
        shape: The sizes of the segment.
        max_id: The largest id, -1 where there is none.
        checksums: xxh3_64 of each column with the zeros after it.
    """

    identity: bytes
    first_log: int
    last_log: int
    shape: Shape
    max_id: int
    checksums: Sequence[int]

    def to_bytes(self) -> bytes:
        """Return the header as it stands in the file."""
        identity, first, last, shape, max_id, checksums = self
        fields = _FIELDS.pack(
            _KIND.magic,
            _KIND.version,
            HEADER_BYTES,
            identity,
            first,
            last,
            *shape,
            max_id,
            *checksums,
        )
        return sealed(fields + _PADDING)


class Section(NamedTuple):
    """The place of a column in the file.

    Attributes:
        offset: The place of its first byte.
        column: The type and length of the column.
        end: The place of the next column's first byte, after zeros.
    """

    offset: int
    column: ArrayColumn
    end: int


def sections_of(shape: Shape) -> list[Section]:
    """Return where each column stands; the file ends with the last one."""
    columns = columns_of(shape)
    sizes = (-(-column.nbytes // ALIGNMENT) * ALIGNMENT for column in columns)
    edges = list(accumulate(sizes, initial=HEADER_BYTES))
    return [Section(*section) for section in zip(edges, columns, edges[1:], strict=False)]


class SegmentLabel(NamedTuple):
    """The identity of a segment, apart from its content.

    Attributes:
        identity: The identity of the index.
        span: The logs whose entries are in it.
    """

    identity: bytes
    span: Span


class SegmentWriter:
    """Takes the columns of a segment, side by side, and writes them where they belong.

    Args:
        path: The name that the segment shall get.
        label: The identity of the segment.
        shape: Its sizes.

    Raises:
        OSError: The file cannot be made.

    Files: ``path`` with ``.tmp`` after it, until it is renamed.
    """

    def __init__(self, path: Path, label: SegmentLabel, shape: Shape) -> None:
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


def stage_segment(path: Path, label: SegmentLabel, tables: Tables) -> Path:
    """Write a durable segment under a temporary name beside ``path`` and return that name.

    Args:
        path: The name that it shall get.
        label: The identity of the segment.
        tables: The content of the segment.

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


def read_segment(path: Path) -> tuple[SegmentHeader, Tables]:
    """Return the header and the tables, mapped into memory, after checking every byte.

    Raises:
        IndexFileError: The file is damaged, foreign or of another version.

    Complexity: O(n), 1 ms a million entries from the page cache.
    """
    header = _checked_header(path)
    mapped = _mapped(path)
    for section, expected in zip(sections_of(header.shape), header.checksums, strict=True):
        found = xxhash.xxh3_64_intdigest(memoryview(mapped)[section.offset : section.end])
        if found != expected:
            raise unusable(
                path,
                f"checksum {expected:016x} of bytes {section.offset} to {section.end}",
                f"{found:016x}",
            )
    return header, _tables(mapped, header.shape, header.max_id)


def map_tables(path: Path, shape: Shape, max_id: int) -> Tables:
    """Map the tables of a segment that was checked, or just written by us, into memory."""
    return _tables(_mapped(path), shape, max_id)


def _mapped(path: Path) -> mmap.mmap:
    with path.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _tables(mapped: mmap.mmap, shape: Shape, max_id: int) -> Tables:
    columns = [
        np.frombuffer(mapped, column.dtype, column.length, offset)
        if column.length
        else np.zeros(0, column.dtype)
        for offset, column, _ in sections_of(shape)
    ]
    return tables_of(shape, max_id, columns)


def _checked_header(path: Path) -> SegmentHeader:
    with path.open("rb") as file:
        fields = _KIND.fields(path, file.read(HEADER_BYTES))
    size = path.stat().st_size
    _, _, _, identity, first, last, *numbers = _FIELDS.unpack(fields[: _FIELDS.size])
    shape = Shape(*numbers[:3])
    header = SegmentHeader(identity, first, last, shape, numbers[3], numbers[4:])
    expected = sections_of(header.shape)[-1].end
    if size != expected:
        raise unusable(path, f"{expected} bytes for {header.shape.rows} rows", f"{size} bytes")
    return header
