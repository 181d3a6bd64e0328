"""Read and write a segment, or say what is wrong with it; the grammar is in docs/formats.md."""

import mmap
import struct
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

import numpy as np

from neardup.files.durable import write_temporary
from neardup.files.sealed import CHECKSUM, FileKind, digest_of, sealed, unusable
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

_KIND = FileKind("a segment", b"NDUPSEG\n", 2, HEADER_BYTES)
_FIELDS = struct.Struct(f"<8sII{IDENTITY_BYTES}sQQQQQq{COLUMNS}Q")
_PADDING = bytes(HEADER_BYTES - _FIELDS.size - CHECKSUM.size)


class SegmentLabel(NamedTuple):
    """The identity of a segment, apart from its content.

    Attributes:
        identity: 16 random bytes that all files of one index share.
        span: The logs whose entries are in it.
    """

    identity: bytes
    span: Span


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


def stage_segment(path: Path, label: SegmentLabel, tables: Tables) -> Path:
    """Write a durable segment under a temporary name beside ``path`` and return that name.

    Args:
        path: The name that it shall get.
        label: The identity of the segment.
        tables: The content of the segment.

    Raises:
        OSError: The disk is full, or the like; nothing is left behind.
    """
    return write_temporary(path, _chunks(label, tables))


def _chunks(label: SegmentLabel, tables: Tables) -> Iterator[bytes | memoryview]:
    # Each column and the zeros after it.
    parts = [
        (_data(values, column), bytes(end - offset - column.nbytes))
        for values, (offset, column, end) in zip(
            tables.columns, sections_of(tables.shape), strict=True
        )
    ]
    numbers = (*label.span, *tables.shape, tables.max_id, *(digest_of(*part) for part in parts))
    fields = _FIELDS.pack(_KIND.magic, _KIND.version, HEADER_BYTES, label.identity, *numbers)
    yield sealed(fields + _PADDING)
    for part in parts:
        yield from part


def _data(values: Array, column: ArrayColumn) -> memoryview:
    return np.ascontiguousarray(values, column.dtype).view(np.uint8).data


def read_segment(path: Path) -> tuple[SegmentLabel, Tables]:
    """Return the label and the tables, mapped into memory, after checking every byte.

    Raises:
        IndexFileError: The file is damaged, foreign or of another version.

    Complexity: O(n), 1 ms a million entries from the page cache.
    """
    with path.open("rb") as file:
        fields = _KIND.fields(path, file.read(HEADER_BYTES))
    _, _, _, identity, first, last, *numbers = _FIELDS.unpack(fields[: _FIELDS.size])
    shape, max_id, checksums = Shape(*numbers[:3]), numbers[3], numbers[4:]
    sections, size = sections_of(shape), path.stat().st_size
    if size != sections[-1].end:
        wanted = f"{sections[-1].end} bytes for {shape.rows} rows"
        raise unusable(path, wanted, f"{size} bytes")
    mapped = _mapped(path)
    for (start, _, end), expected in zip(sections, checksums, strict=True):
        found = digest_of(memoryview(mapped)[start:end])
        if found != expected:
            wanted = f"checksum {expected:016x} of bytes {start} to {end}"
            raise unusable(path, wanted, f"{found:016x}")
    tables = _tables(mapped, shape, max_id)
    _check_places(path, tables)
    return SegmentLabel(identity, Span(first, last)), tables


def _check_places(path: Path, tables: Tables) -> None:
    """Refuse places outside of the columns: compiled loops do not look where they lead."""
    rows, entries, _ = tables.shape
    ends = [(tables.runs, entries)] * (entries != rows)
    for places, end in [*ends, *((table.starts, rows) for table in tables.tables)]:
        if not len(places) or places[0] or places[-1] != end or (places[1:] < places[:-1]).any():
            raise unusable(path, f"places that ascend from 0 to {end}", "others")


def map_tables(path: Path, written: Tables) -> Tables:
    """Map the tables of a segment that was just written into memory."""
    return _tables(_mapped(path), written.shape, written.max_id)


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
