"""Writes a segment; only a whole one ever bears a segment's name."""

from pathlib import Path

import numpy as np
import xxhash

from neardup.indexes.arrays import Rows
from neardup.indexes.files.durable import write_temporary
from neardup.indexes.files.segment_format import SegmentHeader


def stage_segment(path: Path, rows: Rows, identity: bytes, first_log: int, last_log: int) -> Path:
    """Write a durable segment under a temporary name beside ``path`` and return that name.

    Args:
        path: The name that it shall get.
        rows: Sorted, at least one.
        identity: Of the index.
        first_log: The oldest log whose entries are in it.
        last_log: The newest one.

    Raises:
        OSError: The disk is full, or the like; nothing is left behind.
    """
    fingerprints = np.ascontiguousarray(rows.fingerprints, "<u8")
    ids = np.ascontiguousarray(rows.ids, "<i8")
    checksum = xxhash.xxh3_64()
    checksum.update(fingerprints.data)
    checksum.update(ids.data)
    header = SegmentHeader(
        identity=identity,
        first_log=first_log,
        last_log=last_log,
        rows=len(ids),
        max_id=int(ids.max()),
        payload_checksum=checksum.intdigest(),
    )
    return write_temporary(path, (header.to_bytes(), fingerprints.data, ids.data))
