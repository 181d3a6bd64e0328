"""Open a crawl directory so that no process changes it while it is checked, or make a new one."""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from crawler.maintenance.broken_links import stored_canonicalizer
from crawler.storage import meta_names
from crawler.storage.database import open_for_reading
from crawler.storage.directory import is_in_use, take_lock
from crawler.storage.errors import JobError, JobInUseError
from neardup import Features, Parameters
from neardup.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from crawler.urls.canonical import Canonicalizer

_IN_USE = "a crawl has it open; stop it (Ctrl-C) or wait until it has ended"


class CrawlDirectory:
    """The files of a crawl, and its database opened for reading.

    Args:
        folder: The crawl directory.
        only_reads: Whether nothing is changed, so that a directory that cannot be written, such as
            a backup, is opened without a lock of its own.

    Raises:
        JobInUseError: A crawl has it open.
        JobVersionError: It was made with another format.
        JobError: There is no crawl in it, or it cannot be opened.
    """

    def __init__(self, folder: Path, *, only_reads: bool = False) -> None:
        self.folder = folder
        open_for_reading(folder).close()  # complains before a lock is left in a foreign folder
        is_unlocked = only_reads and not os.access(folder, os.W_OK)
        if is_unlocked and is_in_use(folder):
            raise JobInUseError(f"{folder}: {_IN_USE}")
        self._lock = None if is_unlocked else take_lock(folder, in_use=_IN_USE)
        try:
            self.connection = open_for_reading(folder)
            self.connection.row_factory = None
        except BaseException:
            self._release()
            raise

    @property
    def meta(self) -> dict[str, str]:
        return dict(self.connection.execute("SELECT name, value FROM meta"))

    @property
    def index(self) -> Path:
        return self.folder / "fingerprints"

    @property
    def bloom(self) -> Path:
        return self.folder / "seen.bloom"

    @property
    def plan(self) -> str | None:
        """The plan of the crawl, or None if a foreign spider made it."""
        return self.meta.get(meta_names.PLAN)

    @property
    def parameters(self) -> Parameters | None:
        """The parameters of the fingerprints, or None if this version does not know them."""
        try:
            features = Features.parsed(self.meta.get(meta_names.FEATURES, ""))
        except ParameterError:
            return None
        # The minimum length of texts is no part of a fingerprint.
        return Parameters(features=features, min_words=1)

    @property
    def canonicalizer(self) -> Canonicalizer | None:
        """The canonicalizer of the keys, or None if this version does not know it."""
        return stored_canonicalizer(self.connection)

    def count(self, sql: str) -> int:
        return int(self.connection.execute(sql).fetchone()[0])

    def close(self) -> None:
        self.connection.close()
        self._release()

    def _release(self) -> None:
        if self._lock is not None:
            self._lock.release()


@contextmanager
def made_whole(folder: Path) -> Iterator[Path]:
    """Yield a temporary folder beside a new one, and rename it when the block ends.

    After an exception nothing is left. The remains of a killed process are deleted by the next one.

    Files:
        .NAME.part: The unfinished folder; .NAME.part.lock: held meanwhile.

    Raises:
        JobError: The folder is not empty, or cannot be made.
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
