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

_UNITS = {1: "word", 2: "character"}
_ROW_BYTES = 16
_REMEDY = "restore it from a copy, or learn it again from the texts"

# Magic, version, unit, size of a feature, 0, documents, max_undercount, number of features, probe,
# checksum of the rows.
_HEADER = struct.Struct("<8sIIIIQQQQQ")
_HEADER_BYTES = _HEADER.size + CHECKSUM.size
_KIND = FileKind("document frequencies", b"NDUPIDF\n", 1, _HEADER_BYTES, _REMEDY)

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


def write_table(path: Path, table: StoredTable, probe: int) -> None:
    """Write a table durably, with the probe of how its features were hashed.

    After a crash the file is the old one or the new one.
    """
    hashes = np.ascontiguousarray(table.hashes, "<u8").data
    frequencies = np.ascontiguousarray(table.frequencies, "<u8").data
    checksum = xxhash.xxh3_64(hashes)
    checksum.update(frequencies)
    unit = next(number for number, name in _UNITS.items() if name == table.unit)
    about = (unit, table.size, 0, table.documents, table.max_undercount, len(table.hashes))
    header = _HEADER.pack(_KIND.magic, _KIND.version, *about, probe, checksum.intdigest())
    write_durably(path, (sealed(header), hashes, frequencies))


def read_table(path: Path, probe_of: Callable[[str, int], int]) -> StoredTable:
    """Return the table in a file, if its features were hashed as ``probe_of`` hashes them now.

    Raises:
        IndexFileError: The file is damaged, cut short, foreign, of another version, or its
            features were hashed in another way than now.
    """
    with path.open("rb") as file:
        fields = _HEADER.unpack(_KIND.fields(path, file.read(_HEADER_BYTES)))
        unit, size, _, documents, max_undercount, features, probe, checksum = fields[2:]
        if unit not in _UNITS or size < 1:
            found = f"unit {unit}, size {size}"
            raise unusable(path, "a unit of 1 or 2 and a size of at least 1", found, _REMEDY)
        _check_probe(path, probe, probe_of(_UNITS[unit], size))
        stored, expected = os.fstat(file.fileno()).st_size, _HEADER_BYTES + _ROW_BYTES * features
        # Looked at before reading: a damaged size must not ask for all the memory there is.
        if stored != expected:
            raise unusable(path, f"{expected} bytes", f"{stored} bytes", _REMEDY)
        payload = file.read(_ROW_BYTES * features)
    if xxhash.xxh3_64_intdigest(payload) != checksum:
        raise unusable(path, "rows with their checksum", "another checksum", _REMEDY)
    hashes = np.frombuffer(payload, "<u8", features).astype(np.uint64, copy=False)
    # As signed: what does not fit is below 1, and refused with the rest of that kind.
    frequencies = np.frombuffer(payload, "<i8", offset=hashes.nbytes).astype(np.int64, copy=False)
    table = StoredTable(_UNITS[unit], size, documents, max_undercount, hashes, frequencies)
    _check_rows(path, table)
    return table


def _check_probe(path: Path, stored: int, present: int) -> None:
    if stored != present:
        raise unusable(
            path,
            f"features hashed as now (probe {present:016x})",
            f"probe {stored:016x}",
            "use the version of neardup that wrote it, or learn it again from the texts",
        )


def _check_rows(path: Path, table: StoredTable) -> None:
    """Refuse rows that a wrong writer made, which a checksum does not tell."""
    hashes, frequencies = table.hashes, table.frequencies
    if not (hashes[1:] > hashes[:-1]).all():
        raise unusable(path, "hashes that ascend", "others", _REMEDY)
    if len(frequencies) and not 1 <= frequencies.min() <= frequencies.max() <= table.documents:
        found = f"{frequencies.min()} to {frequencies.max()}"
        raise unusable(path, f"frequencies of 1 to {table.documents}", found, _REMEDY)
