"""Files that are there as a whole, or not at all, whatever happens meanwhile."""

import os
from collections.abc import Iterable
from pathlib import Path

TEMPORARY_SUFFIX = ".tmp"


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
