"""Define the errors of a crawl directory.

::

    JobError
    ├── JobInUseError
    ├── JobVersionError
    ├── DamagedTextError
    └── CrawlStorageError
"""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

from crawler.suggestions import UserError

if TYPE_CHECKING:
    from pathlib import Path

_OF_DISK = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})
_OF_DISK_IN_SQLITE = frozenset({10, 13})
"""SQLITE_IOERR and SQLITE_FULL; to import ``sqlite3`` takes longer than most errors should."""


class JobError(UserError):
    """The crawl directory cannot be used; the message says why and what to do."""


class JobInUseError(JobError):
    """Another process is writing to the crawl directory."""


class CrawlStorageError(JobError):
    """The crawl directory cannot be written to any more; nothing after the last commit counts."""


class JobVersionError(JobError):
    """The crawl directory was made with another format, other URL rules or other features."""


def is_of_disk(error: BaseException | None) -> bool:
    """Return whether an error, or one that led to it, is of a disk that is full or fails."""
    met: list[BaseException] = []  # an error may have led to itself
    while error is not None and error not in met:
        met.append(error)
        if isinstance(error, OSError) and error.errno in _OF_DISK:
            return True
        code = getattr(error, "sqlite_errorcode", None)
        if code is not None and code & 0xFF in _OF_DISK_IN_SQLITE:
            return True
        error = error.__cause__ or error.__context__
    return False


class DamagedTextError(JobError):
    """A stored text cannot be read, so that no page can be judged by it.

    Args:
        page: ``pages.id`` of the page that has it.
        what: Words for it, with the URL of the page.
    """

    def __init__(self, page: int, what: str) -> None:
        super().__init__(what)
        self.page = page

    def of(self, folder: Path) -> JobError:
        """Return the error that names the crawl directory with the text."""
        return JobError(f"{folder}: {self}; crawl-once verify {folder} says more")
