"""Appends to a file; what it has returned from is durable, and a failure leaves no trace."""

import os
from pathlib import Path


class AppendingFile:
    """A file that only grows, by whole batches.

    Args:
        path: A file that exists.
        end: Its size without a torn tail, which is cut off.
        count: The entries that it names.

    Files: the file itself, open until :meth:`close`.
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
        """How many entries the file names durably."""
        return self._written[1]

    def append_bytes(self, data: bytes, entries: int) -> None:
        """Write one batch and make it durable.

        Raises:
            OSError: The disk is full, or the like; the next call starts where this one did.
        """
        # Half a batch of a failed call, in front of this one, would be damage.
        self._cut_to_end()
        end, count = self._written
        self._file.seek(end)
        left = memoryview(data)
        while left:
            left = left[self._file.write(left) :]
        os.fsync(self._file.fileno())
        self._written = (end + len(data), count + entries)

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def _cut_to_end(self) -> None:
        end = self._written[0]
        if os.fstat(self._file.fileno()).st_size != end:
            self._file.truncate(end)
            os.fsync(self._file.fileno())
