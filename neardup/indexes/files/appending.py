"""Appends to a file; what it has returned from is durable, and a failure leaves no trace."""

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import BinaryIO

from neardup.indexes.files.durable import write_durably
from neardup.indexes.files.promise import PROMISE_BYTES, Promise

TAIL = re.compile(r"(.+)\.tail-\d+")
"""The name of a torn tail that was set aside: its file's name, then a number."""

_CHUNK_BYTES = 1 << 20


class AppendingFile:
    """A file that only grows, by whole batches, and says how long it is at least.

    Args:
        path: A file that exists.
        promise_at: The place of its promise in the file.
        whole: The place where its last whole batch ends. The bytes behind it are a torn tail.

    Files: the file itself, open until :meth:`close`; ``<name>.tail-1`` and so on are torn tails.
    """

    def __init__(self, path: Path, promise_at: int, whole: Promise) -> None:
        self.path = path
        self._promise_at = promise_at
        # One attribute, so that an interrupt never finds one of the two ahead of the other.
        self._written = whole
        self._file = path.open("r+b", buffering=0)
        try:
            if os.fstat(self._file.fileno()).st_size > whole.end:
                _set_aside(path, whole.end)
                self._cut_to_end()
            if self._read_promise() != whole.to_bytes():
                self._write_promise(whole)
        except BaseException:
            self._file.close()
            raise

    @property
    def count(self) -> int:
        """The number of entries that the file holds durably."""
        return self._written.entries

    def append_bytes(self, data: bytes, entries: int) -> None:
        """Write one batch, make it durable, and promise it.

        Raises:
            OSError: The disk is full, or the like; the next call starts where this one did.
        """
        # Half a batch of a failed call, in front of this one, would be damage.
        self._cut_to_end()
        end, count = self._written
        try:
            self._write(end, data)
            os.fsync(self._file.fileno())
        except OSError:
            with suppress(OSError):
                self._cut_to_end()
            raise
        written = Promise(end + len(data), count + entries)
        self._write_promise(written)
        self._written = written

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def _read_promise(self) -> bytes:
        self._file.seek(self._promise_at)
        return self._file.read(PROMISE_BYTES) or b""

    def _write_promise(self, promise: Promise) -> None:
        self._write(self._promise_at, promise.to_bytes())

    def _write(self, place: int, data: bytes) -> None:
        self._file.seek(place)
        left = memoryview(data)
        while left:
            left = left[self._file.write(left) :]

    def _cut_to_end(self) -> None:
        end = self._written.end
        if os.fstat(self._file.fileno()).st_size != end:
            self._file.truncate(end)
            os.fsync(self._file.fileno())


def _set_aside(path: Path, end: int) -> None:
    """Copy what stands in a file from ``end`` on to a file beside it, durably."""
    names = (path.with_name(f"{path.name}.tail-{number}") for number in count(1))
    with path.open("rb") as file:
        file.seek(end)
        write_durably(next(name for name in names if not name.exists()), _chunks(file))


def _chunks(file: BinaryIO) -> Iterator[bytes]:
    while chunk := file.read(_CHUNK_BYTES):
        yield chunk
