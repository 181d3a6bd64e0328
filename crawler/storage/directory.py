"""A crawl's directory: one process at a time, and none whose keys mean something else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from crawler.storage.database import FILE_NAME
from crawler.storage.errors import JobError, JobInUseError, JobVersionError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from crawler.storage.database import Database

PATIENCE_SECS = 0.2
"""Who only wants to know whether a crawl is running has the lock for a moment."""

_FOREIGN = ("requests.queue", "requests.seen")


def locked(folder: Path | None) -> FileLock | None:
    """Make a crawl directory where it is missing, and let no other process write to it.

    Returns:
        The lock, to be released; None where there is no directory.

    Raises:
        JobInUseError: Another process writes to it.
        JobVersionError: It is one of Scrapy's own scheduler.
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
    lock = FileLock(folder / "lock", timeout=PATIENCE_SECS)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except Timeout:
        raise JobInUseError(f"{folder}: in use by another process") from None
    except OSError as error:
        raise JobError(f"{folder}: cannot be written: {error.strerror}") from error
    return lock


def is_in_use(folder: Path) -> bool:
    """Whether another process writes to a crawl directory."""
    file = folder / "lock"
    if not file.exists():
        return False
    try:
        with FileLock(file, timeout=0):
            return False
    except Timeout:
        return True
    except OSError:  # not ours to write
        return False


def identity_of(url_rules: str, features: object) -> dict[str, str]:
    """What the keys and the fingerprints of a directory depend on, by names that people read."""
    return {
        "URL rules (URLS_DISABLED_RULES)": url_rules,
        "features (NEARDUP_FEATURES)": str(features),
    }


def check_identity(database: Database, identity: Mapping[str, str], folder: Path | None) -> None:
    """Note what a directory is made with, or compare it with what it was made with.

    Args:
        database: That of the directory.
        identity: What it is made with today, by names that people understand.
        folder: The directory, for messages.

    Raises:
        JobVersionError: It was made with something else.
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
