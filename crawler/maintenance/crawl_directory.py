"""Open a crawl directory so that no process changes it while it is checked."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from crawler.maintenance.broken_links import stored_canonicalizer
from crawler.storage import meta_names
from crawler.storage.database import open_for_reading
from crawler.storage.directory import PATIENCE_SECS
from crawler.storage.errors import JobError, JobInUseError
from neardup import Features, Parameters
from neardup.errors import ParameterError

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.urls.canonical import Canonicalizer


class CrawlDirectory:
    """The files of a crawl, and its database opened for reading.

    Args:
        folder: The crawl directory.
        only_reads: Whether nothing is changed, so that a directory that cannot be written is opened
            without a lock: no crawl can write to it either.

    Raises:
        JobInUseError: A crawl has it open.
        JobVersionError: It was made with another format.
        JobError: There is no crawl in it, or it cannot be opened.
    """

    def __init__(self, folder: Path, *, only_reads: bool = False) -> None:
        self.folder = folder
        open_for_reading(folder).close()  # complains before a lock is left in a foreign folder
        is_open = only_reads and not os.access(folder, os.W_OK)
        self._lock = None if is_open else _locked(folder)
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


def _locked(folder: Path) -> FileLock:
    lock = FileLock(folder / "lock", timeout=PATIENCE_SECS)
    try:
        lock.acquire()
    except Timeout:
        raise JobInUseError(
            f"{folder}: a crawl has it open; stop it (Ctrl-C) or wait until it has ended"
        ) from None
    except OSError as error:
        raise JobError(f"{folder}: cannot be locked: {error.strerror}") from error
    return lock
