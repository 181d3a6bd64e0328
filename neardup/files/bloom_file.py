"""Read and write files of Bloom filters; the grammar is in docs/formats.md."""

import struct
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

import xxhash

from neardup.files.durable import write_durably
from neardup.files.sealed import CHECKSUM, FileKind, sealed, unusable

REMEDY = "restore it from a copy, or delete it and add its keys again"
KINDS = {1: "BloomFilter", 2: "ScalableBloomFilter"}

_HEADER = struct.Struct("<8sIIIIQdQ")
FILTER = struct.Struct("<QdQQ")
HEADER_BYTES = _HEADER.size + CHECKSUM.size
_KIND = FileKind("Bloom filters", b"NDUPBLM\n", 2, HEADER_BYTES, REMEDY)


class BloomHeader(NamedTuple):
    """The first 56 bytes of a file of Bloom filters.

    Attributes:
        kind: A key of KINDS.
        filters: The number of filters that follow.
        capacity: The capacity given to the constructor.
        error_rate: The error rate given to the constructor.
        probe: A number that tells whether the library still sets the bits that it set then.
    """

    kind: int
    filters: int
    capacity: int
    error_rate: float
    probe: int

    def to_bytes(self) -> bytes:
        """Return the header as it stands in the file."""
        magic, version = _KIND.magic, _KIND.version
        return sealed(_HEADER.pack(magic, version, self.kind, self.filters, 0, *self[2:]))


class StoredFilter(NamedTuple):
    """One filter of a file.

    Attributes:
        capacity: The number of keys that the filter is made for.
        error_rate: The rate of wrong answers when the filter holds ``capacity`` keys.
        keys: The number of keys that it holds.
        data: The bytes that ``rbloom.Bloom.save_bytes`` returns.
    """

    capacity: int
    error_rate: float
    keys: int
    data: bytes

    def fields(self) -> bytes:
        """Return the bytes that stand before the data in the file."""
        return FILTER.pack(self.capacity, self.error_rate, self.keys, len(self.data))


def read_filters(path: Path, kind: int, probe: int) -> tuple[BloomHeader, list[StoredFilter]]:
    """Return the header and the filters of a file.

    Args:
        path: The file.
        kind: The kind expected, a key of KINDS.
        probe: The probe of the library in use.

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
    fields = _KIND.fields(path, data)
    _, _, found_kind, filters, _, capacity, error_rate, found_probe = _HEADER.unpack(fields)
    header = BloomHeader(found_kind, filters, capacity, error_rate, found_probe)
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


def write_filters(path: Path, header: BloomHeader, filters: Iterable[StoredFilter]) -> None:
    """Write the filters durably; after a crash the file is the old one or the new one.

    Args:
        path: Its folder exists.
        header: Names as many filters as follow.
        filters: Taken one after the other, so that one copy at a time is in memory.

    Raises:
        OSError: The disk is full, or the like; the old file is as it was.
    """
    write_durably(path, _chunks(header, filters))


def _chunks(header: BloomHeader, filters: Iterable[StoredFilter]) -> Iterator[bytes]:
    yield header.to_bytes()
    for stored in filters:
        fields = stored.fields()
        checksum = xxhash.xxh3_64(fields)
        checksum.update(stored.data)
        yield fields
        yield stored.data
        yield CHECKSUM.pack(checksum.intdigest())
