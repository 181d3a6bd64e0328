"""Reads document frequencies, or says what is wrong with their file."""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import xxhash

from neardup.features.idf_format import (
    HEADER_BYTES,
    MAGIC,
    ROW_BYTES,
    UNITS,
    VERSION,
    IdfHeader,
    StoredTable,
    parsed_header,
    version_of,
)
from neardup.indexes.files.complaints import unusable

REMEDY = "restore it from a copy, or learn it again from the texts"


def read_table(path: Path, probe_of: Callable[[str, int], int]) -> StoredTable:
    """Return what a file holds.

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
    if data[: len(MAGIC)] != MAGIC:
        start = data[: len(MAGIC)]
        raise unusable(path, f"document frequencies, starting with {MAGIC!r}", f"{start!r}", REMEDY)
    if len(data) < HEADER_BYTES:
        raise unusable(path, f"a header of {HEADER_BYTES} bytes", f"{len(data)} bytes", REMEDY)
    if version_of(data) != VERSION:
        raise unusable(path, f"version {VERSION}", f"version {version_of(data)}", REMEDY)
    header = parsed_header(data)
    if header is None:
        raise unusable(path, "a header with its checksum", "another checksum", REMEDY)
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
    """A checksum says that nothing changed since; it says not that the writer was right."""
    hashes, frequencies = table.hashes, table.frequencies
    if not (hashes[1:] > hashes[:-1]).all():
        raise unusable(path, "hashes that ascend", "others", REMEDY)
    if len(frequencies) and not 1 <= frequencies.min() <= frequencies.max() <= table.documents:
        found = f"{frequencies.min()} to {frequencies.max()}"
        raise unusable(path, f"frequencies of 1 to {table.documents}", found, REMEDY)
