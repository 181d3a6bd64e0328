"""Lock a crawl directory for one process, and refuse keys made with other settings."""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from crawler.storage import meta_names
from crawler.storage.database import FILE_NAME, refuse_linked_state
from crawler.storage.errors import JobError, JobInUseError, JobVersionError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from filelock import FileLock

    from crawler.storage.database import Database

PATIENCE_SECS = 0.2
"""Wait at most this many seconds for the lock: ``is_in_use`` holds it for a moment."""

_FOLDERS = ("fingerprints", "signatures", "passages", "screenshots")
"""Folders of a crawl directory, which are written to by way of their names."""

_FOREIGN = ("requests.queue", "requests.seen")


@contextmanager
def lock_held(folder: Path) -> Iterator[None]:
    """Lock out every other writer in the block; without a lock in a directory that is read-only.

    Raises:
        JobError: As `locked`.
    """
    lock = locked(folder) if os.access(folder, os.W_OK) else None
    try:
        yield
    finally:
        if lock is not None:
            lock.release()


def locked(folder: Path | None) -> FileLock | None:
    """Create a crawl directory if it is missing, and lock out every other writer.

    Returns:
        The lock, to be released, or None without a directory.

    Raises:
        JobInUseError: Another process writes to it.
        JobVersionError: It belongs to Scrapy's own scheduler.
        JobError: It is no directory, or cannot be written.
    """
    if folder is None:
        return None
    if folder.exists() and not folder.is_dir():
        raise JobError(f"{folder}: is a file, not a directory; choose another JOBDIR")
    if any((folder / name).exists() for name in _FOREIGN) and not (folder / FILE_NAME).exists():
        raise JobVersionError(
            f"{folder}: holds the state of Scrapy's own scheduler; choose another JOBDIR"
        )
    return take_lock(folder)


def take_lock(
    folder: Path, name: str = "lock", in_use: str = "in use by another process"
) -> FileLock:
    """Make a folder if it is missing, and lock it for this process.

    Args:
        folder: The folder.
        name: The file in it that is locked.
        in_use: What to say where another process has it.

    Raises:
        JobInUseError: Another process has it.
        JobError: It cannot be written.
    """
    from filelock import FileLock, Timeout  # noqa: PLC0415  # only who writes needs it

    refuse_linked_state(folder)
    linked = [place for place in map(folder.joinpath, _FOLDERS) if place.is_symlink()]
    if linked:
        raise JobError(f"{linked[0]}: is a symbolic link, which is not followed")
    lock = FileLock(folder / name, timeout=PATIENCE_SECS)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except Timeout:
        raise JobInUseError(f"{folder}: {in_use}") from None
    except OSError as error:
        raise JobError(f"{folder}: cannot be written: {error.strerror}") from error
    return lock


def is_in_use(folder: Path) -> bool:
    """Return whether another process writes to a crawl directory; it need not be writable."""
    try:
        with (folder / "lock").open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # there is none, or it is not ours to read
        return False
    return False


def identity_of(url_rules: str, features: object) -> dict[str, str]:
    """Return the settings on which keys and fingerprints depend, under names that people read."""
    return {
        meta_names.URL_RULES: url_rules,
        meta_names.FEATURES: str(features),
    }


def check_identity(database: Database, identity: Mapping[str, str], folder: Path | None) -> None:
    """Record the settings that a directory is made with, or check them against the recorded ones.

    Args:
        database: The database of the directory.
        identity: The settings of today, under names that people understand.
        folder: The directory, for messages.

    Raises:
        JobVersionError: The directory was made with other settings.
    """
    for name, wanted in identity.items():
        found = database.meta(name)
        if found is None:
            database.set_meta(name, wanted)
        elif found != wanted:
            raise JobVersionError(
                f"{folder}: made with {name} '{found}', now they are '{wanted}'; "
                "use the same setting, or another JOBDIR"
            )
    database.commit()
