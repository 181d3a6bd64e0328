"""Writes document frequencies into one file, which is replaced in one step."""

from pathlib import Path

import numpy as np
import xxhash

from neardup.features.idf_format import UNITS, IdfHeader, StoredTable
from neardup.indexes.files.durable import write_durably


def write_table(path: Path, table: StoredTable, probe: int) -> None:
    """Write a table durably; after a crash the file is the old one or the new one.

    Args:
        path: Its folder exists.
        table: What is written.
        probe: What tells how its features were hashed.

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
