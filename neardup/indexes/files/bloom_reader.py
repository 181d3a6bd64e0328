"""Reads Bloom filters, or says what is wrong with their file."""

from pathlib import Path
from typing import BinaryIO

import xxhash

from neardup.indexes.files.bloom_file import (
    CHECKSUM,
    FILTER,
    HEADER_BYTES,
    KINDS,
    MAGIC,
    VERSION,
    BloomHeader,
    StoredFilter,
    parsed_header,
    version_of,
)
from neardup.indexes.files.complaints import unusable

REMEDY = "restore it from a copy, or delete it and add its keys again"


def read_filters(path: Path, kind: int, probe: int) -> tuple[BloomHeader, list[StoredFilter]]:
    """Return what a file holds.

    Args:
        path: The file.
        kind: The kind expected, a key of KINDS.
        probe: That of the library in use.

    Raises:
        IndexFileError: The file is damaged, cut short, foreign, of another version or kind, or
            its bits were set in another way than the library does now.
        OSError: There is no such file, or the like.
    """
    with path.open("rb") as file:
        header = _checked_header(path, file.read(HEADER_BYTES), kind, probe)
        filters = [_filter(path, file, number) for number in range(1, header.filters + 1)]
        if file.read(1):
            raise unusable(path, f"an end after {header.filters} filters", "more bytes", REMEDY)
    return header, filters


def _checked_header(path: Path, data: bytes, kind: int, probe: int) -> BloomHeader:
    if data[: len(MAGIC)] != MAGIC:
        start = data[: len(MAGIC)]
        raise unusable(path, f"Bloom filters, starting with {MAGIC!r}", f"{start!r}", REMEDY)
    if len(data) < HEADER_BYTES:
        raise unusable(path, f"a header of {HEADER_BYTES} bytes", f"{len(data)} bytes", REMEDY)
    if version_of(data) != VERSION:
        raise unusable(path, f"version {VERSION}", f"version {version_of(data)}", REMEDY)
    header = parsed_header(data)
    if header is None:
        raise unusable(path, "a header with its checksum", "another checksum", REMEDY)
    if header.kind != kind:
        found = KINDS.get(header.kind, f"kind {header.kind}")
        raise unusable(path, f"a {KINDS[kind]}", f"a {found}", f"load it with {found}.load")
    if header.probe != probe:
        raise unusable(
            path,
            f"bits set as rbloom does now (probe {probe:016x})",
            f"probe {header.probe:016x}",
            "use the version of rbloom that wrote it, or delete it and add its keys again",
        )
    return header


def _filter(path: Path, file: BinaryIO, number: int) -> StoredFilter:
    fields = file.read(FILTER.size)
    if len(fields) < FILTER.size:
        raise unusable(path, f"filter {number}", "the end of the file", REMEDY)
    capacity, error_rate, count, size = FILTER.unpack(fields)
    left = path.stat().st_size - file.tell()
    # Looked at before reading: a damaged size must not ask for all the memory there is.
    if left < size + CHECKSUM.size:
        raise unusable(path, f"{size} bytes in filter {number}", f"{left} bytes", REMEDY)
    data = file.read(size)
    checksum = xxhash.xxh3_64(fields)
    checksum.update(data)
    if file.read(CHECKSUM.size) != CHECKSUM.pack(checksum.intdigest()):
        raise unusable(path, f"filter {number} with its checksum", "another checksum", REMEDY)
    return StoredFilter(capacity, error_rate, count, data)
