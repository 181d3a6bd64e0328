"""Encode and decode the file of a table of document frequencies, as docs/formats.md has it."""

import struct
from typing import NamedTuple

import numpy as np
import xxhash
from numpy.typing import NDArray

from neardup.features.hashing import Hashes

MAGIC = b"NDUPIDF\n"
VERSION = 1
UNITS = {1: "word", 2: "character"}

_HEADER = struct.Struct("<8sIIIIQQQQQ")
CHECKSUM = struct.Struct("<Q")
HEADER_BYTES = _HEADER.size + CHECKSUM.size
ROW_BYTES = 16

Frequencies = NDArray[np.int64]


class StoredTable(NamedTuple):
    """The content of a table of document frequencies.

    Attributes:
        unit: The unit of features, "word" or "character".
        size: The number of units in a row that are a feature.
        documents: The number of texts that were counted.
        max_undercount: The largest number by which a frequency may be below the true one.
        hashes: uint64, (features,), ascending.
        frequencies: int64, (features,), the documents that hold each, 1 to ``documents``.
    """

    unit: str
    size: int
    documents: int
    max_undercount: int
    hashes: Hashes
    frequencies: Frequencies


class IdfHeader(NamedTuple):
    """The first 72 bytes of a file of document frequencies.

    Attributes:
        unit: A key of UNITS.
        size: As in StoredTable.
        documents: As in StoredTable.
        max_undercount: As in StoredTable.
        features: The number of rows that follow.
        probe: A number that tells whether features are still hashed as they were then.
        payload_checksum: The checksum of the bytes after the header.
    """

    unit: int
    size: int
    documents: int
    max_undercount: int
    features: int
    probe: int
    payload_checksum: int

    def to_bytes(self) -> bytes:
        """Return the header as it stands in the file."""
        fields = _HEADER.pack(MAGIC, VERSION, self.unit, self.size, 0, *self[2:])
        return fields + CHECKSUM.pack(xxhash.xxh3_64_intdigest(fields))


def version_of(header: bytes) -> int:
    """Return the version that a header with our magic names."""
    return int.from_bytes(header[8:12], "little")


def parsed_header(data: bytes) -> IdfHeader | None:
    """Return a file's header; None: its checksum is another."""
    fields, checksum = data[: _HEADER.size], data[_HEADER.size :]
    if CHECKSUM.pack(xxhash.xxh3_64_intdigest(fields)) != checksum:
        return None
    _, _, unit, size, _, *others = _HEADER.unpack(fields)
    return IdfHeader(unit, size, *others)
