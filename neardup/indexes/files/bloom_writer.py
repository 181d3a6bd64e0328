"""Writes Bloom filters into one file, which is replaced in one step."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import xxhash

from neardup.indexes.files.bloom_file import CHECKSUM, BloomHeader, StoredFilter
from neardup.indexes.files.durable import write_durably


def write_filters(path: Path, header: BloomHeader, filters: Iterable[StoredFilter]) -> None:
    """Write the filters durably; after a crash the file is the old one or the new one.

    Args:
        path: Its folder exists.
        header: Names as many filters as follow.
        filters: Taken one after the other, so that one copy at a time is in memory.

    Raises:
        OSError: The disk is full, or the like; the old file is as it was.
    """
    write_durably(path, _chunks(header, filters))


def _chunks(header: BloomHeader, filters: Iterable[StoredFilter]) -> Iterator[bytes]:
    yield header.to_bytes()
    for stored in filters:
        fields = stored.fields()
        checksum = xxhash.xxh3_64(fields)
        checksum.update(stored.data)
        yield fields
        yield stored.data
        yield CHECKSUM.pack(checksum.intdigest())
