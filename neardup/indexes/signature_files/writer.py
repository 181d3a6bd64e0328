"""Appends batches of documents to their file; what it has returned from is durable."""

import os
from pathlib import Path

from neardup.indexes.files.durable import write_durably
from neardup.indexes.lsh_rows import Rows
from neardup.indexes.signature_files.format import Header, batch_bytes


def create_file(path: Path, header: Header) -> None:
    """Write a file without documents under its name, durably."""
    write_durably(path, [header.to_bytes()])


class BatchWriter:
    """Writes to the end of a file.

    Args:
        path: A file that exists.
        end: Its size without a torn tail, which is cut off.
        count: The documents that it holds.

    Files: the file itself, open until :meth:`close`.
    """

    def __init__(self, path: Path, end: int, count: int) -> None:
        # One attribute, so that an interrupt never finds one of the two ahead of the other.
        self._written = (end, count)
        self._file = path.open("r+b", buffering=0)
        self._cut_to_end()

    def append(self, rows: Rows) -> None:
        """Write one batch and make it durable.

        Raises:
            OSError: The disk is full, or the like; the next call starts where this one did.
        """
        # Half a batch of a failed call, in front of this one, would be damage.
        self._cut_to_end()
        end, count = self._written
        data = batch_bytes(rows, count)
        self._file.seek(end)
        left = memoryview(data)
        while left:
            left = left[self._file.write(left) :]
        os.fsync(self._file.fileno())
        self._written = (end + len(data), count + len(rows.ids))

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def _cut_to_end(self) -> None:
        end = self._written[0]
        if os.fstat(self._file.fileno()).st_size != end:
            self._file.truncate(end)
            os.fsync(self._file.fileno())
