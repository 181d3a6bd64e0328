"""Files that are there as a whole, or not at all, and directories that one process owns."""

import os
import re
import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from filelock import FileLock, Timeout

from neardup.errors import IndexLockedError
from neardup.files.sealed import ELSEWHERE, unusable

TEMPORARY_SUFFIX = ".tmp"
LOCK_NAME = "index.lock"

_TAIL = re.compile(r"\.tail-\d+$")
"""The end of the name of a torn tail that was set aside."""


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


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """Open a file that takes its name, and its predecessor's rights, when the block ends well.

    When the block fails or is interrupted, nothing is left behind. Not durable by itself.

    Raises:
        OSError: It cannot be made; the error names ``path``.
    """
    # The name is known before the file is: an interruption between the two leaves no file.
    temporary = path.with_name(f".{path.name[:100]}.{secrets.token_hex(8)}")
    try:
        try:
            file = temporary.open("xb")
        except OSError as error:
            error.filename = os.fspath(path)
            raise
        with file:
            yield file
        if path.exists():
            temporary.chmod(path.stat().st_mode)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def sync_directory(path: Path) -> None:
    """Make the names in a directory durable."""
    if os.name == "nt":
        return  # Windows cannot open a directory; its renames are journalled
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def origin_of(name: str) -> str:
    """Return the name of a file without what a torn tail or a file that is not whole has behind."""
    return _TAIL.sub("", name.removesuffix(TEMPORARY_SUFFIX))


def lock_directory(path: Path, content: str, is_ours: Callable[[str], bool]) -> FileLock:
    """Make a directory where it is absent, and lock it.

    Args:
        path: The directory.
        content: The kind of its content, for errors.
        is_ours: Whether a file of such a name belongs to it.

    Raises:
        IndexLockedError: It is open already.
        IndexFileError: It is a file, or holds other files only.
    """
    if path.is_dir():
        # Before, so that no lock is left behind among the files of another program.
        names = {file.name for file in path.iterdir()} - {LOCK_NAME}
        others = sorted(name for name in names if not is_ours(name))
        if others and not any(is_ours(name) and origin_of(name) == name for name in names):
            wanted = f"{content} or an empty directory"
            raise unusable(path, wanted, repr(others[0]), ELSEWHERE)
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
