"""Files that are there as a whole, or not at all, and directories that one process owns.

Whoever hands over a directory may have put links into it. So no file is written to through one:
files are made under a new name, and opened, by the functions of this module alone.
"""

import errno
import os
import re
import secrets
import sqlite3
import stat
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, BinaryIO, Self, cast

from neardup.errors import IndexLockedError
from neardup.files.sealed import ELSEWHERE, unusable

if TYPE_CHECKING:
    from filelock import FileLock

TEMPORARY_SUFFIX = ".tmp"
LOCK_NAME = "index.lock"

_TAIL = re.compile(r"\.tail-\d+$")
"""The end of the name of a torn tail that was set aside."""


class Closing(ABC):
    """Is closed at the end of a ``with`` block."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @abstractmethod
    def close(self) -> None:
        """Let go of what is open."""


def open_itself(path: Path, mode: str, *, buffering: int = -1, rights: int = 0o666) -> BinaryIO:
    """Open a file, and never what a link of its name leads to.

    Args:
        path: The file.
        mode: That of ``open``, in bytes: ``xb`` makes the file, ``r+b`` changes it.
        buffering: That of ``open``.
        rights: Rights of a file that is made.

    Raises:
        OSError: It is a link, or the system refuses.
    """

    def opener(name: str, flags: int) -> int:
        return os.open(name, flags | getattr(os, "O_NOFOLLOW", 0), rights)

    return cast("BinaryIO", open(path, mode, buffering, opener=opener))


def new_file(path: Path, *, rights: int = 0o666) -> BinaryIO:
    """Make a file in place of any of its name, and open it.

    Raises:
        OSError: The system refuses.
    """
    path.unlink(missing_ok=True)
    return open_itself(path, "xb", rights=rights)


def own_folder(path: Path) -> Path:
    """Make a folder unless it is there, and return it.

    Raises:
        OSError: It is a link, or the system refuses.
    """
    if path.is_symlink():
        raise OSError(errno.ELOOP, "is a symbolic link, which is not followed", os.fspath(path))
    path.mkdir(parents=True, exist_ok=True)
    return path


def open_sqlite(
    path: Path, query: str = "", *, timeout: float = 5.0, check_same_thread: bool = True
) -> sqlite3.Connection:
    """Open a database, and never what a link of its name leads to.

    Args:
        path: The file.
        query: Parameters of SQLite's URI, such as ``mode=ro``.
        timeout: That of ``sqlite3.connect``; no transaction begins by itself.
        check_same_thread: That of ``sqlite3.connect``.

    Raises:
        sqlite3.Error: It is a link, or cannot be opened.
    """
    if path.is_symlink():
        refusal = sqlite3.OperationalError("it is a symbolic link, which is not followed")
        refusal.sqlite_errorcode = sqlite3.SQLITE_ERROR
        raise refusal
    return sqlite3.connect(
        f"{path.absolute().as_uri()}?{query}",
        timeout,
        isolation_level=None,
        check_same_thread=check_same_thread,
        uri=True,
    )


def write_temporary(
    path: Path, chunks: Iterable[bytes | memoryview], *, rights: int = 0o666, is_synced: bool = True
) -> Path:
    """Write the chunks beside ``path``, make them durable, and return where they are.

    Raises:
        OSError: The disk is full, or the like; nothing is left behind.
    """
    temporary = path.with_name(path.name + TEMPORARY_SUFFIX)
    try:
        with new_file(temporary, rights=rights) as file:
            for chunk in chunks:
                file.write(chunk)
            if is_synced:
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


def write_durably(path: Path, chunks: Iterable[bytes | memoryview], *, rights: int = 0o666) -> None:
    """Write a file under its name in one step: after a crash it is the old one or the new one."""
    put_in_place(write_temporary(path, chunks, rights=rights), path)


def write_whole(path: Path, content: bytes) -> None:
    """Write a file under its name in one step, without waiting for the disk."""
    write_temporary(path, [content], is_synced=False).replace(path)


@contextmanager
def replacing(path: Path, unfinished: str = "") -> Iterator[IO[bytes]]:
    """Open a file that takes its name, and its predecessor's rights, when the block ends well.

    When the block fails or is interrupted, nothing is left behind. Not durable by itself.

    Args:
        path: The file.
        unfinished: Its name until then, for one process alone; by default one of chance.

    Raises:
        OSError: It cannot be made; the error names ``path``.
    """
    # The name is known before the file is: an interruption between the two leaves no file.
    temporary = path.with_name(unfinished or f".{path.name[:100]}.{secrets.token_hex(8)}")
    before = None
    with suppress(OSError):
        before = path.lstat().st_mode
    is_kept = before is not None and stat.S_ISREG(before)
    try:
        try:
            # Until the end for its owner alone, who may have kept others from the predecessor.
            file = new_file(temporary, rights=0o600 if is_kept else 0o666)
        except OSError as error:
            error.filename = os.fspath(path)
            raise
        with file:
            yield file
        if before is not None and is_kept:
            with suppress(OSError):
                temporary.chmod(before)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


@contextmanager
def named_file(path: Path) -> Iterator[IO[bytes]]:
    """Open a file that a user has named for a result, as ``replacing`` does.

    Their own links are followed; a device or a pipe is written to as it is.

    Raises:
        OSError: It cannot be made.
    """
    is_special = path.exists() and not path.is_file()
    place = Path(os.path.realpath(path))  # ``resolve`` breaks at a link that leads to itself
    with path.open("wb") if is_special else replacing(place) as file:
        yield file


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


def lock_directory(path: Path, content: str, is_ours: Callable[[str], bool]) -> "FileLock":
    """Make a directory where it is absent, and lock it.

    Args:
        path: The directory.
        content: The kind of its content, for errors.
        is_ours: Whether a file of such a name belongs to it.

    Raises:
        IndexLockedError: It is open already.
        IndexFileError: It is a file, or holds other files only.
    """
    from filelock import FileLock, Timeout  # noqa: PLC0415  # not for help and errors

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
    except OSError as error:
        raise IndexLockedError(f"{path / LOCK_NAME}: cannot be locked: {error.strerror}") from error
    return lock
