"""The promise of a file that only grows: a record of its length, behind its header.

A batch is synced, and the record is written after that: it never promises what is not on the disk.
It is synced with the next batch, so a power cut may leave it one batch behind; what is whole beyond
it counts all the same.
"""

import struct
from pathlib import Path
from typing import NamedTuple

import xxhash

from neardup.indexes.files.complaints import REMEDY, unusable

_FIELDS = struct.Struct("<QQ")
_CHECKSUM = struct.Struct("<Q")
PROMISE_BYTES = _FIELDS.size + _CHECKSUM.size


class Promise(NamedTuple):
    """The least that a file holds.

    Attributes:
        end: The length of the file in bytes, up to the end of a batch.
        entries: The number of entries up to there.
    """

    end: int
    entries: int

    def to_bytes(self) -> bytes:
        """Return the record as it stands in the file."""
        fields = _FIELDS.pack(*self)
        return fields + _CHECKSUM.pack(xxhash.xxh3_64_intdigest(fields))


def parsed_promise(path: Path, data: bytes, remedy: str = REMEDY) -> Promise:
    """Return the promise that a file makes.

    Args:
        path: The file, for the error.
        data: Its record.
        remedy: The remedy that the error names.

    Raises:
        IndexFileError: The record is cut short or damaged.
    """
    if len(data) == PROMISE_BYTES:
        promise = Promise(*_FIELDS.unpack(data[: _FIELDS.size]))
        if promise.to_bytes() == data:
            return promise
    raise unusable(path, "a promised length with its checksum", "other bytes", remedy)


def check_promise(path: Path, promise: Promise, batches: set[tuple[int, int]]) -> None:
    """Refuse a file that ends before what it promised.

    Args:
        path: The file.
        promise: The promise of the file.
        batches: The ends of its whole batches, each with the entries up to there.

    Raises:
        IndexFileError: None of them ends where the promise does.
    """
    if promise not in batches:
        end, entries = max(batches)
        raise unusable(
            path,
            f"at least the {promise.entries} entries in {promise.end} bytes that it promised",
            f"{entries} entries in {end} bytes",
        )
