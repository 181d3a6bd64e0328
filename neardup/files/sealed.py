"""Headers that end in a checksum, and the errors about files that cannot be used."""

import struct
from pathlib import Path
from typing import NamedTuple

import xxhash

from neardup.errors import IndexFileError

REMEDY = "restore it from a copy, or delete the index directory and add its documents again"

ELSEWHERE = "name another path"
"""The remedy where the files belong to another program."""

HALF_WAY = (
    "the index failed half way through a write; open it again; "
    "it may hold what was added since the last flush"
)

CHECKSUM = struct.Struct("<Q")
_VERSION = slice(8, 12)


def unusable(path: Path, expected: str, found: str, remedy: str = REMEDY) -> IndexFileError:
    """Return the error that names the file, what was expected, what was found and what to do."""
    return IndexFileError(f"{path}: expected {expected}, found {found}; {remedy}")


def digest_of(*parts: bytes | memoryview) -> int:
    """Return the checksum of parts that follow one another, as a number."""
    digest = xxhash.xxh3_64()
    for part in parts:
        digest.update(part)
    return digest.intdigest()


def checksum_of(*parts: bytes | memoryview) -> bytes:
    """Return the 8 bytes that tell whether the parts are as they were written."""
    return CHECKSUM.pack(digest_of(*parts))


def sealed(fields: bytes) -> bytes:
    """Return fields with their checksum behind them."""
    return fields + checksum_of(fields)


def unsealed(data: bytes) -> bytes | None:
    """Return the fields before a checksum; None: the checksum is another."""
    fields = data[: -CHECKSUM.size]
    return fields if sealed(fields) == data else None


class FileKind(NamedTuple):
    """The header of all files of one kind: magic, version in bytes 8 to 12, fields, checksum.

    Attributes:
        content: The content of such a file, in a few words, for errors.
        magic: The first 8 bytes.
        version: The version that is read and written.
        header_bytes: The size of the header.
        remedy: The remedy that errors name.
    """

    content: str
    magic: bytes
    version: int
    header_bytes: int
    remedy: str = REMEDY

    def fields(self, path: Path, data: bytes) -> bytes:
        """Return the fields of a header, without its checksum.

        Args:
            path: The file, for the error.
            data: The beginning of the file.

        Raises:
            IndexFileError: The header is damaged, cut short, foreign or of another version.
        """
        header = data[: self.header_bytes]
        start = header[: len(self.magic)]
        if start != self.magic:
            wanted = f"{self.content}, starting with {self.magic!r}"
            raise unusable(path, wanted, f"{start!r}", self.remedy)
        if len(header) < self.header_bytes:
            wanted = f"a header of {self.header_bytes} bytes"
            raise unusable(path, wanted, f"{len(header)} bytes", self.remedy)
        version = int.from_bytes(header[_VERSION], "little")
        if version != self.version:
            raise unusable(path, f"version {self.version}", f"version {version}", self.remedy)
        fields = unsealed(header)
        if fields is None:
            raise unusable(path, "a header with its checksum", "another checksum", self.remedy)
        return fields
