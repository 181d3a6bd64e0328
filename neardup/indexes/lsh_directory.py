"""The directory of an index of signatures: locked while it is open, one file that grows."""

from collections.abc import Callable
from pathlib import Path
from typing import Self

from filelock import FileLock

from neardup.errors import IndexFileError
from neardup.files.batches import TAIL
from neardup.files.durable import LOCK_NAME, TEMPORARY_SUFFIX, lock_directory
from neardup.indexes.lsh_file import (
    BATCH_ROWS,
    FILE_NAME,
    BatchWriter,
    Header,
    create_file,
    read_batches,
    read_header,
)
from neardup.indexes.lsh_rows import StoredRows


class SignatureDirectory:
    """The files of an index of signatures.

    Files:
        index.lock: Locked while the directory is open; otherwise without meaning.
        documents.lsh: All documents, in the order in which they came; see ``lsh_file``.
        documents.lsh.tail-1: A torn tail of it, which was never promised; kept for inspection.
    """

    def __init__(self, path: Path, lock: FileLock) -> None:
        self.path = path
        self._lock = lock
        self._writer: BatchWriter | None = None
        self.header: Header | None = None

    @classmethod
    def opened(cls, path: Path) -> Self:
        """Lock the directory, make it where it is absent, and read what it holds documents of.

        Raises:
            IndexLockedError: It is open already.
            IndexFileError: It holds other files, or the file is foreign or of another version.
        """
        lock = _locked(path)
        try:
            directory = cls(path, lock)
            for name in filter(_is_temporary, [file.name for file in path.iterdir()]):
                (path / name).unlink()
            if directory._file.exists():
                directory.header = read_header(directory._file)
        except BaseException:
            lock.release()
            raise
        return directory

    @property
    def _file(self) -> Path:
        return self.path / FILE_NAME

    def begin(self, header: Header, restore: Callable[[StoredRows], None]) -> None:
        """Hand over all documents there are, and be ready for more.

        Args:
            header: The header of the index; where there is a file, its own.
            restore: Takes batches of documents.

        Raises:
            IndexFileError: The file is damaged.
        """
        if self.header is None:
            create_file(self._file, header)
            self.header = header
        whole = header.batches().empty
        for rows, batch_end in read_batches(self._file, header):
            restore(rows)
            whole = batch_end
        self._writer = BatchWriter(self._file, whole)

    def append(self, rows: StoredRows, written: Callable[[int], None]) -> None:
        """Make documents durable, batch by batch.

        Args:
            rows: The documents, in the order in which they came.
            written: Called after each batch with the number of documents that it made durable.

        Raises:
            OSError: The disk is full, or the like; what was told of is durable.
        """
        assert self._writer is not None
        for start in range(0, len(rows.ids), BATCH_ROWS):
            some = rows.part(start, start + BATCH_ROWS)
            self._writer.append(some)
            written(len(some.ids))

    def close(self) -> None:
        """Let go of the file and the lock."""
        if self._writer is not None:
            self._writer.close()
        self._lock.release()


def _locked(path: Path) -> FileLock:
    """Make the directory where it is absent, and lock it."""
    if path.is_dir():
        _check_names(path)
    return lock_directory(path)


def _check_names(path: Path) -> None:
    """Leave no lock behind in a directory of other files, and begin no index in it."""
    names = {file.name for file in path.iterdir()}
    others = sorted(name for name in names - {LOCK_NAME} if not _is_ours(name))
    if others and FILE_NAME not in names:
        raise IndexFileError(
            f"{path}: expected an LshIndex or an empty directory, found {others[0]!r}; "
            "name another path"
        )


def _is_ours(name: str) -> bool:
    name = name.removesuffix(TEMPORARY_SUFFIX)
    tail = TAIL.fullmatch(name)
    return (tail[1] if tail else name) == FILE_NAME


def _is_temporary(name: str) -> bool:
    return name.endswith(TEMPORARY_SUFFIX) and _is_ours(name)
