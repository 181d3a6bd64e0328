"""Read and write the file of a table of document frequencies, as docs/formats.md has it."""

import os
import struct
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import xxhash
from numpy.typing import NDArray

from neardup.features.hashing import Hashes
from neardup.files.durable import write_durably
from neardup.files.sealed import CHECKSUM, FileKind, sealed, unusable

UNITS = {1: "word", 2: "character"}
ROW_BYTES = 16
REMEDY = "restore it from a copy, or learn it again from the texts"

_HEADER = struct.Struct("<8sIIIIQQQQQ")
HEADER_BYTES = _HEADER.size + CHECKSUM.size
_KIND = FileKind("document frequencies", b"NDUPIDF\n", 1, HEADER_BYTES, REMEDY)

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
        magic, version = _KIND.magic, _KIND.version
        return sealed(_HEADER.pack(magic, version, self.unit, self.size, 0, *self[2:]))


def write_table(path: Path, table: StoredTable, probe: int) -> None:
    """Write a table durably; after a crash the file is the old one or the new one.

    Args:
        path: Its folder exists.
        table: The table to write.
        probe: A number that tells how its features were hashed.

    Raises:
        OSError: The disk is full, or the like; the old file is as it was.
    """
    hashes = np.ascontiguousarray(table.hashes, "<u8").data
    frequencies = np.ascontiguousarray(table.frequencies, "<u8").data
    checksum = xxhash.xxh3_64(hashes)
    checksum.update(frequencies)
    units = {name: number for number, name in UNITS.items()}
    header = IdfHeader(
        units[table.unit],
        table.size,
        table.documents,
        table.max_undercount,
        len(table.hashes),
        probe,
        checksum.intdigest(),
    )
    write_durably(path, (header.to_bytes(), hashes, frequencies))


def read_table(path: Path, probe_of: Callable[[str, int], int]) -> StoredTable:
    """Return the table in a file.

    Args:
        path: The file.
        probe_of: Gives for a unit and a size the probe of how features are hashed now.

    Raises:
        IndexFileError: The file is damaged, cut short, foreign, of another version, or its
            features were hashed in another way than now.
        OSError: There is no such file, or the like.

    Complexity: O(features).
    """
    with path.open("rb") as file:
        header = _checked_header(path, file.read(HEADER_BYTES))
        unit = UNITS[header.unit]
        _check_probe(path, header, probe_of(unit, header.size))
        size, expected = os.fstat(file.fileno()).st_size, HEADER_BYTES + ROW_BYTES * header.features
        # Looked at before reading: a damaged size must not ask for all the memory there is.
        if size != expected:
            raise unusable(path, f"{expected} bytes", f"{size} bytes", REMEDY)
        payload = file.read(ROW_BYTES * header.features)
    if xxhash.xxh3_64_intdigest(payload) != header.payload_checksum:
        raise unusable(path, "rows with their checksum", "another checksum", REMEDY)
    hashes = np.frombuffer(payload, "<u8", header.features).astype(np.uint64, copy=False)
    # As signed: what does not fit is below 1, and refused with the rest of that kind.
    frequencies = np.frombuffer(payload, "<i8", offset=hashes.nbytes).astype(np.int64, copy=False)
    table = StoredTable(
        unit, header.size, header.documents, header.max_undercount, hashes, frequencies
    )
    _check_rows(path, table)
    return table


def _checked_header(path: Path, data: bytes) -> IdfHeader:
    _, _, unit, size_of_feature, _, *others = _HEADER.unpack(_KIND.fields(path, data))
    header = IdfHeader(unit, size_of_feature, *others)
    if header.unit not in UNITS or header.size < 1:
        found = f"unit {header.unit}, size {header.size}"
        raise unusable(path, "a unit of 1 or 2 and a size of at least 1", found, REMEDY)
    return header


def _check_probe(path: Path, header: IdfHeader, probe: int) -> None:
    if header.probe != probe:
        raise unusable(
            path,
            f"features hashed as now (probe {probe:016x})",
            f"probe {header.probe:016x}",
            "use the version of neardup that wrote it, or learn it again from the texts",
        )


def _check_rows(path: Path, table: StoredTable) -> None:
    """Refuse rows that a wrong writer made, which a checksum does not tell."""
    hashes, frequencies = table.hashes, table.frequencies
    if not (hashes[1:] > hashes[:-1]).all():
        raise unusable(path, "hashes that ascend", "others", REMEDY)
    if len(frequencies) and not 1 <= frequencies.min() <= frequencies.max() <= table.documents:
        found = f"{frequencies.min()} to {frequencies.max()}"
        raise unusable(path, f"frequencies of 1 to {table.documents}", found, REMEDY)
