"""How Bloom filters are written; the grammar is in docs/formats.md."""

import struct
from typing import NamedTuple

import xxhash

MAGIC = b"NDUPBLM\n"
VERSION = 2
KINDS = {1: "BloomFilter", 2: "ScalableBloomFilter"}

_HEADER = struct.Struct("<8sIIIIQdQ")
FILTER = struct.Struct("<QdQQ")
CHECKSUM = struct.Struct("<Q")
HEADER_BYTES = _HEADER.size + CHECKSUM.size


class BloomHeader(NamedTuple):
    """The first 56 bytes of a file of Bloom filters.

    Attributes:
        kind: A key of KINDS.
        filters: How many filters follow.
        capacity: That of the constructor.
        error_rate: That of the constructor.
        probe: What tells whether the library still sets the bits that it set then.
    """

    kind: int
    filters: int
    capacity: int
    error_rate: float
    probe: int

    def to_bytes(self) -> bytes:
        """Return the header as it stands in the file."""
        fields = _HEADER.pack(MAGIC, VERSION, self.kind, self.filters, 0, *self[2:])
        return fields + CHECKSUM.pack(xxhash.xxh3_64_intdigest(fields))


class StoredFilter(NamedTuple):
    """One filter of a file.

    Attributes:
        capacity: The keys that it is made for.
        error_rate: The rate of wrong answers when it holds so many.
        keys: How many it holds.
        data: What ``rbloom.Bloom.save_bytes`` returns.
    """

    capacity: int
    error_rate: float
    keys: int
    data: bytes

    def fields(self) -> bytes:
        """Return what stands before the data in the file."""
        return FILTER.pack(self.capacity, self.error_rate, self.keys, len(self.data))


def version_of(header: bytes) -> int:
    """Return the version that a header with our magic names."""
    return int.from_bytes(header[8:12], "little")


def parsed_header(data: bytes) -> BloomHeader | None:
    """Return a file's header; None: its checksum is another."""
    fields, checksum = data[: _HEADER.size], data[_HEADER.size :]
    if CHECKSUM.pack(xxhash.xxh3_64_intdigest(fields)) != checksum:
        return None
    _, _, kind, filters, _, capacity, error_rate, probe = _HEADER.unpack(fields)
    return BloomHeader(kind, filters, capacity, error_rate, probe)
