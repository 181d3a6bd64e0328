"""Appends batches of entries to a log; what it has returned from is durable."""

import os
from pathlib import Path

from neardup.indexes.files.durable import put_in_place, write_temporary
from neardup.indexes.files.log_format import HEADER_BYTES, Batch, LogHeader, batch_bytes


def create_log(path: Path, header: LogHeader) -> int:
    """Write a log without entries under its name, durably, and return its size in bytes."""
    put_in_place(stage_log(path, header), path)
    return HEADER_BYTES


def stage_log(path: Path, header: LogHeader) -> Path:
    """Write a durable log without entries under a temporary name, and return that name.

    Raises:
        OSError: The disk is full, or the like; nothing is left behind.
    """
    return write_temporary(path, [header.to_bytes()])


class LogWriter:
    """Writes to the end of a log.

    Args:
        path: A log that exists.
        end: Its size without a torn tail, which is cut off.
        count: The entries that it names.

    Files: the log itself, open until :meth:`close`.
    """

    def __init__(self, path: Path, end: int, count: int) -> None:
        self.path = path
        # One attribute, so that an interrupt never finds one of the two ahead of the other.
        self._written = (end, count)
        self._file = path.open("r+b", buffering=0)
        try:
            self._cut_to_end()
        except BaseException:
            self._file.close()
            raise

    @property
    def count(self) -> int:
        """How many entries the log names durably."""
        return self._written[1]

    def append(self, batch: Batch) -> None:
        """Write one batch and make it durable.

        Raises:
            OSError: The disk is full, or the like; the next call starts where this one did.
        """
        # Half a batch of a failed call, in front of this one, would be damage.
        self._cut_to_end()
        end, count = self._written
        data = batch_bytes(batch, count)
        self._file.seek(end)
        left = memoryview(data)
        while left:
            left = left[self._file.write(left) :]
        os.fsync(self._file.fileno())
        self._written = (end + len(data), count + batch.rows)

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def _cut_to_end(self) -> None:
        end = self._written[0]
        if os.fstat(self._file.fileno()).st_size != end:
            self._file.truncate(end)
            os.fsync(self._file.fileno())
