"""Appends batches of entries to a log; what it has returned from is durable."""

from pathlib import Path

from neardup.indexes.files.appending import AppendingFile
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


class LogWriter(AppendingFile):
    """Writes to the end of a log."""

    def append(self, batch: Batch) -> None:
        """Write one batch and make it durable.

        Raises:
            OSError: The disk is full, or the like; the next call starts where this one did.
        """
        self.append_bytes(batch_bytes(batch, self.count), batch.rows)
