"""A folder that is there when it is whole, and not at all before."""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from crawler.storage.errors import JobError, JobInUseError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def made_whole(folder: Path) -> Iterator[Path]:
    """Give a folder beside one that is to be made; it gets that name when the block ends.

    Where an exception leaves, nothing stays. What a killed process left is thrown away by the
    next one.

    Files:
        .NAME.part: What is being made; .NAME.part.lock: held meanwhile.

    Raises:
        JobError: There is something in the folder, or it cannot be made.
        JobInUseError: Another process is making it.
    """
    folder = folder.resolve()  # "." has no name, and a link cannot be replaced by a folder
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise JobError(f"{folder}: there is something in it already; name a new directory")
    part = folder.with_name(f".{folder.name}.part")
    lock = FileLock(f"{part}.lock", timeout=0)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except Timeout:
        raise JobInUseError(f"{folder}: another process is making it") from None
    except OSError as error:
        raise JobError(f"{folder}: cannot be made: {error.strerror}") from error
    try:
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir()
        yield part
        if folder.exists():
            folder.rmdir()
        part.rename(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)
        lock.release()
        lock_file = part.with_name(f"{part.name}.lock")
        lock_file.unlink(missing_ok=True)
