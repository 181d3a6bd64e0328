"""Files that are there as a whole, or not at all, and directories that one process owns."""

import os
from collections.abc import Iterable
from pathlib import Path

from filelock import FileLock, Timeout

from neardup.errors import IndexLockedError
from neardup.files.sealed import ELSEWHERE, unusable

TEMPORARY_SUFFIX = ".tmp"
LOCK_NAME = "index.lock"


def write_temporary(path: Path, chunks: Iterable[bytes | memoryview]) -> Path:
    """Write the chunks beside ``path``, make them durable, and return where they are.

    Raises:
        OSError: The disk is full, or the like; nothing is left behind.
    """
    temporary = path.with_name(path.name + TEMPORARY_SUFFIX)
    try:
        with temporary.open("wb") as file:
            for chunk in chunks:
                file.write(chunk)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return temporary


def put_in_place(temporary: Path, path: Path) -> None:
    """Give a durable temporary file its name, durably, in place of any file of that name."""
    temporary.replace(path)
    sync_directory(path.parent)


def write_durably(path: Path, chunks: Iterable[bytes | memoryview]) -> None:
    """Write a file under its name in one step: after a crash it is the old one or the new one."""
    put_in_place(write_temporary(path, chunks), path)


def sync_directory(path: Path) -> None:
    """Make the names in a directory durable."""
    if os.name == "nt":
        return  # Windows cannot open a directory; its renames are journalled
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


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
