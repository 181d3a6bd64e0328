"""Appends batches of documents to their file; what it has returned from is durable."""

from pathlib import Path

from neardup.indexes.files.appending import AppendingFile
from neardup.indexes.files.durable import write_durably
from neardup.indexes.files.promise import Promise
from neardup.indexes.lsh_rows import Rows
from neardup.indexes.signature_files.format import EMPTY, HEADER_BYTES, Header, batch_bytes


def create_file(path: Path, header: Header) -> None:
    """Write a file without documents under its name, durably."""
    write_durably(path, [header.to_bytes(), EMPTY.to_bytes()])


class BatchWriter(AppendingFile):
    """Writes to the end of a file of documents.

    Args:
        path: A file that exists.
        whole: Where its last whole batch ends.
    """

    def __init__(self, path: Path, whole: Promise) -> None:
        super().__init__(path, HEADER_BYTES, whole)

    def append(self, rows: Rows) -> None:
        """Write one batch and make it durable.

        Raises:
            OSError: The disk is full, or the like; the next call starts where this one did.
        """
        self.append_bytes(batch_bytes(rows, self.count), len(rows.ids))
