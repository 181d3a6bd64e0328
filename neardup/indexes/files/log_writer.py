"""Appends batches of entries to a log; what it has returned from is durable."""

from pathlib import Path

from neardup.indexes.files.appending import AppendingFile
from neardup.indexes.files.durable import put_in_place, write_temporary
from neardup.indexes.files.log_format import HEADER_BYTES, Batch, LogHeader, batch_bytes
from neardup.indexes.files.promise import Promise


def create_log(path: Path, header: LogHeader) -> None:
    """Write a log without entries under its name, durably."""
    put_in_place(stage_log(path, header), path)


def stage_log(path: Path, header: LogHeader) -> Path:
    """Write a durable log without entries under a temporary name, and return that name.

    Raises:
        OSError: The disk is full, or the like; nothing is left behind.
    """
    return write_temporary(path, [header.empty_log()])


class LogWriter(AppendingFile):
    """Writes to the end of a log.

    Args:
        path: A log that exists.
        whole: Where its last whole batch ends.
    """

    def __init__(self, path: Path, whole: Promise) -> None:
        super().__init__(path, HEADER_BYTES, whole)

    def append(self, batch: Batch) -> None:
        """Write one batch and make it durable.

        Raises:
            OSError: The disk is full, or the like; the next call starts where this one did.
        """
        self.append_bytes(batch_bytes(batch, self.count), batch.rows)
