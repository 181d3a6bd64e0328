"""Encode and decode the header of a segment; the grammar is in docs/formats.md."""

import struct
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

import xxhash

from neardup.indexes.columns import COLUMNS, ArrayColumn, Shape, columns_of

MAGIC = b"NDUPSEG\n"
VERSION = 2
IDENTITY_BYTES = 16
ALIGNMENT = 64

_FIELDS = struct.Struct(f"<8sII{IDENTITY_BYTES}sQQQQQq{COLUMNS}Q")
_CHECKSUM = struct.Struct("<Q")
HEADER_BYTES = 256
_PADDING = bytes(HEADER_BYTES - _FIELDS.size - _CHECKSUM.size)


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
            MAGIC, VERSION, HEADER_BYTES, identity, first, last, *shape, max_id, *checksums
        )
        fields += _PADDING
        return fields + _CHECKSUM.pack(xxhash.xxh3_64_intdigest(fields))


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


def version_of(header: bytes) -> int:
    """Return the version that a header with our magic names."""
    return int.from_bytes(header[8:12], "little")


def checksum_holds(header: bytes) -> bool:
    """Whether the header is as it was written."""
    fields, checksum = header[: -_CHECKSUM.size], header[-_CHECKSUM.size :]
    return _CHECKSUM.pack(xxhash.xxh3_64_intdigest(fields)) == checksum


def parsed(header: bytes) -> SegmentHeader:
    """Return the fields of a header whose magic, version and checksum were looked at."""
    _, _, _, identity, first, last, *numbers = _FIELDS.unpack(header[: _FIELDS.size])
    return SegmentHeader(identity, first, last, Shape(*numbers[:3]), numbers[3], numbers[4:])
