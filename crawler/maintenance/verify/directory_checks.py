"""A crawl directory, held so that nothing changes while it is looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from crawler.storage.database import open_for_reading
from crawler.storage.directory import PATIENCE_SECS
from crawler.storage.errors import JobError, JobInUseError
from crawler.urls.canonical import Canonicalizer
from neardup import Features, ParameterError, Parameters

if TYPE_CHECKING:
    from pathlib import Path

_RULES = "URL rules (URLS_DISABLED_RULES)"
_FEATURES = "features (NEARDUP_FEATURES)"


class CrawlDirectory:
    """What checks look at: the files of a crawl, and the database opened for reading.

    Args:
        folder: The crawl directory.

    Raises:
        JobInUseError: A crawl has it open.
        JobVersionError: It was made with another format.
        JobError: There is no crawl in it, or it cannot be opened.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        open_for_reading(folder).close()  # complains before a lock is left in a foreign folder
        self._lock = _locked(folder)
        try:
            self.connection = open_for_reading(folder)
            self.connection.row_factory = None
        except BaseException:
            self._lock.release()
            raise

    @property
    def meta(self) -> dict[str, str]:
        """The values of the crawl itself, as they are now."""
        return dict(self.connection.execute("SELECT name, value FROM meta"))

    @property
    def index(self) -> Path:
        """The folder of the fingerprint index."""
        return self.folder / "fingerprints"

    @property
    def bloom(self) -> Path:
        """The file of the Bloom filter."""
        return self.folder / "seen.bloom"

    @property
    def plan(self) -> str | None:
        """What the crawl is about; None where a spider of somebody else's made it."""
        return self.meta.get("plan")

    @property
    def parameters(self) -> Parameters | None:
        """Those by which the fingerprints were made, None where they are not known here."""
        try:
            features = Features.parsed(self.meta.get(_FEATURES, ""))
        except ParameterError:
            return None
        # Texts are as short as the crawl allowed: that is no part of a fingerprint.
        return Parameters(features=features, min_words=1)

    @property
    def canonicalizer(self) -> Canonicalizer | None:
        """That by which the keys were made, None where it is not known here."""
        _, _, disabled = self.meta.get(_RULES, "").partition(" without ")
        try:
            found = Canonicalizer(disabled.split(", ") if disabled else ())
        except ValueError:
            return None
        return found if found.version == self.meta.get(_RULES) else None

    def count(self, sql: str) -> int:
        """The one number that a query gives."""
        return int(self.connection.execute(sql).fetchone()[0])

    def close(self) -> None:
        """Let go of everything."""
        self.connection.close()
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
