"""Date the files of a mirror as its server did."""

from __future__ import annotations

import time
from contextlib import suppress
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from crawler.mirror.errors import MirrorError

if TYPE_CHECKING:
    from crawler.mirror.folder import MirrorFolder
    from crawler.storage.database import Database

_DATES = """
SELECT files.path, pages.last_modified FROM files
JOIN pages ON pages.key = files.key AND pages.latest = 1
WHERE files.state = 'own' AND pages.last_modified IS NOT NULL ORDER BY files.id
"""


def date_files(database: Database, folder: MirrorFolder) -> None:
    """Give each file the time that the server said, so that listings and backups tell its age.

    Names of one file have one time: that of the last of them. Complexity: O(files).
    """
    now = time.time()
    for path, modified in database.read(_DATES):
        secs = said_time(modified)
        if secs is not None and secs <= now:
            with suppress(MirrorError):
                folder.date(path, secs)


def said_time(modified: str) -> float | None:
    """Return a Last-Modified in seconds since 1970; None for what is no time, or one before."""
    try:
        moment = parsedate_to_datetime(modified)
        if moment.tzinfo is None:  # of asctime, which is in UTC as well
            moment = moment.replace(tzinfo=UTC)
        secs = moment.timestamp()
    except (ValueError, OverflowError):  # a year of twenty digits
        return None
    return secs if secs >= 0 else None
