"""How many documents does a file of texts hold at least?"""

from pathlib import Path
from typing import BinaryIO

from neardup.errors import DocumentsFileError, IndexFileError
from neardup.indexes.files.durable import write_durably
from neardup.indexes.files.promise import PROMISE_BYTES, Promise, parsed_promise

_REMEDY = "restore it with its file of texts from a copy, or delete it: then nothing is promised"


class PromisedCount:
    """The number of documents that were promised, beside a SQLite file.

    A ``-wal`` that is cut short, or gone, is none of SQLite's errors: it goes on from an older
    state. Written after each commit, and not synced: after a power cut it may be behind.

    Args:
        path: The SQLite file.

    Files: ``<path>-promise``, a record of ``neardup.indexes.files.promise``: the count, twice.
    """

    def __init__(self, path: Path) -> None:
        self._path = path.with_name(f"{path.name}-promise")
        self._file: BinaryIO | None = None

    def read(self) -> int:
        """Return how many were promised, 0 where nothing was.

        Raises:
            DocumentsFileError: The record is damaged.
        """
        try:
            data = self._path.read_bytes()
        except FileNotFoundError:
            return 0
        try:
            return parsed_promise(self._path, data, _REMEDY).entries
        except IndexFileError as error:
            raise DocumentsFileError(str(error)) from None

    def write(self, count: int) -> None:
        """Promise so many from now on.

        Raises:
            OSError: It cannot be written.
        """
        record = Promise(count, count).to_bytes()
        if self._file is None:
            if not self._path.exists():
                write_durably(self._path, [record])
            self._file = self._path.open("r+b", buffering=0)
        self._file.seek(0)
        if self._file.write(record) != PROMISE_BYTES:
            raise OSError(f"{self._path}: cut short")

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            self._file.close()
            self._file = None
