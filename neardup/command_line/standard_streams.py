"""Bytes of a file or of standard input."""

import gzip
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import IO

from neardup.command_line.errors import InputError

STANDARD_INPUT = "-"

_GZIP = b"\x1f\x8b"


@dataclass(frozen=True, slots=True)
class InputStream:
    """Bytes, unpacked, with the progress of their reader.

    Attributes:
        name: The name in messages.
        file: The bytes, unpacked where they were gzip.
        raw: The bytes as they are stored.
        total: The number of bytes stored; None where it is not known.
    """

    name: str
    file: IO[bytes]
    raw: BufferedReader
    total: int | None

    def position(self) -> int:
        """Return how many of the stored bytes were read; 0 where their number is not known."""
        return 0 if self.total is None else self.raw.tell()


@contextmanager
def open_stream(path: str) -> Iterator[InputStream]:
    """Open a file, or standard input for ``-``; gzip is known by its first bytes.

    Raises:
        InputError: Standard input is closed.
        OSError: It cannot be opened.
    """
    if path == STANDARD_INPUT:
        # Python has None in its place where a shell closed it.
        buffer = getattr(sys.stdin, "buffer", None)
        if not isinstance(buffer, BufferedReader):
            raise InputError("standard input is closed")
        yield _stream("standard input", buffer)
        return
    with Path(path).open("rb") as raw:
        yield _stream(path, raw)


def _stream(name: str, raw: BufferedReader) -> InputStream:
    packed = raw.peek(2)[:2] == _GZIP
    file: IO[bytes] = BufferedReader(gzip.GzipFile(fileobj=raw)) if packed else raw
    status = os.fstat(raw.fileno())
    total = status.st_size if stat.S_ISREG(status.st_mode) else None
    return InputStream(name, file, raw, total)
