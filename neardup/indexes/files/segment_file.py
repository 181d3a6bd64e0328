"""Reads a segment, or says what is wrong with it."""

import mmap
from pathlib import Path

import numpy as np
import xxhash

from neardup.indexes.columns import Shape, Tables, tables_of
from neardup.indexes.files.complaints import unusable
from neardup.indexes.files.segment_format import (
    HEADER_BYTES,
    MAGIC,
    VERSION,
    SegmentHeader,
    checksum_holds,
    parsed,
    sections_of,
    version_of,
)


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
        data = file.read(HEADER_BYTES)
    size = path.stat().st_size
    if data[: len(MAGIC)] != MAGIC:
        raise unusable(path, f"a segment, starting with {MAGIC!r}", f"{data[: len(MAGIC)]!r}")
    if len(data) < HEADER_BYTES:
        raise unusable(path, f"a header of {HEADER_BYTES} bytes", f"{len(data)} bytes")
    if version_of(data) != VERSION:
        raise unusable(path, f"version {VERSION}", f"version {version_of(data)}")
    if not checksum_holds(data):
        raise unusable(path, "a header with its checksum", "another checksum")
    header = parsed(data)
    expected = sections_of(header.shape)[-1].end
    if size != expected:
        raise unusable(path, f"{expected} bytes for {header.shape.rows} rows", f"{size} bytes")
    return header
