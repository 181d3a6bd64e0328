"""How a segment is written; the grammar is in docs/formats.md."""

import struct
from typing import NamedTuple

import xxhash

MAGIC = b"NDUPSEG\n"
VERSION = 1
IDENTITY_BYTES = 16

_FIELDS = struct.Struct(f"<8sII{IDENTITY_BYTES}sQQQqQ")
_CHECKSUM = struct.Struct("<Q")
HEADER_BYTES = _FIELDS.size + _CHECKSUM.size
ROW_BYTES = 16


class SegmentHeader(NamedTuple):
    """The first 80 bytes of a segment.

    Attributes:
        identity: 16 random bytes that all files of one index share.
        first_log: The log of which the segment holds the oldest entries.
        last_log: The log of which it holds the newest entries.
        rows: How many there are.
        max_id: The largest id.
        payload_checksum: xxh3_64 of all bytes after the header.
    """

    identity: bytes
    first_log: int
    last_log: int
    rows: int
    max_id: int
    payload_checksum: int

    def to_bytes(self) -> bytes:
        """Return the header as it stands in the file."""
        fields = _FIELDS.pack(MAGIC, VERSION, 0, *self)
        return fields + _CHECKSUM.pack(xxhash.xxh3_64_intdigest(fields))


def version_of(header: bytes) -> int:
    """Return the version that a header with our magic names."""
    return int.from_bytes(header[8:12], "little")


def checksum_holds(header: bytes) -> bool:
    """Whether the header is as it was written."""
    fields, checksum = header[: _FIELDS.size], header[_FIELDS.size : HEADER_BYTES]
    return _CHECKSUM.pack(xxhash.xxh3_64_intdigest(fields)) == checksum


def parsed(header: bytes) -> SegmentHeader:
    """Return the fields of a header whose magic, version and checksum were looked at."""
    _, _, _, *fields = _FIELDS.unpack(header[: _FIELDS.size])
    return SegmentHeader(*fields)
