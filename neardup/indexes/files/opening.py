"""Check and lock an index directory before it is opened."""

from pathlib import Path

from filelock import FileLock, Timeout

from neardup.errors import IndexFileError, IndexLockedError
from neardup.indexes.files.complaints import ELSEWHERE, REMEDY, unusable
from neardup.indexes.files.durable import sync_directory
from neardup.indexes.files.file_layout import LOCK_NAME, Layout, LayoutError, layout_of


def layout_in(path: Path) -> Layout:
    """Return the files of the index in a directory.

    Raises:
        IndexFileError: The directory holds other files, or one of the index is missing.
    """
    try:
        return layout_of(file.name for file in path.iterdir())
    except LayoutError as error:
        remedy = ELSEWHERE if error.foreign else REMEDY
        raise IndexFileError(f"{path}: expected {error}; {remedy}") from None


def locked(path: Path) -> FileLock:
    """Make the directory where it is absent, and lock it.

    Raises:
        IndexLockedError: It is open already.
        IndexFileError: It is a file, or holds other files.
    """
    if path.is_dir() and not (path / LOCK_NAME).exists():
        layout_in(path)  # leaves no lock behind in a directory of other files
    return lock_directory(path)


def lock_directory(path: Path) -> FileLock:
    """Make a directory where it is absent, and lock it, whatever is in it.

    Raises:
        IndexLockedError: It is open already.
        IndexFileError: It is a file.
    """
    absent = [folder for folder in (path, *path.parents) if not folder.exists()]
    try:
        path.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise unusable(path, "a directory", "a file", ELSEWHERE) from None
    for folder in absent:
        sync_directory(folder.parent)
    # The thread that closes an index need not be the one that opened it.
    lock = FileLock(path / LOCK_NAME, timeout=0, thread_local=False)
    try:
        lock.acquire()
    except Timeout:
        raise IndexLockedError(
            f"{path}: the index is open already, here or in another process; close it there first"
        ) from None
    return lock
