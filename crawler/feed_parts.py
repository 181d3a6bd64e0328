"""Which part of a feed's file is a crawl's own, so that it can be written anew."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from crawler.storage.errors import StorageError

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.job import Job

_META = "feeds"


class FeedPart(NamedTuple):
    """Where in a file a crawl's pages begin and end, in bytes; no end while they are written."""

    start: int
    end: int | None


class FeedParts:
    """The parts of files that feeds of this crawl take, remembered in ``crawl.db``."""

    def __init__(self, job: Job) -> None:
        self._job = job

    def find(self, path: Path) -> FeedPart | None:
        """The part that this crawl has in a file, None where it never wrote to it."""
        known = self._all().get(str(path))
        if known is None:
            return None
        start, end = known
        return FeedPart(start or 0, end)

    def note(self, path: Path, part: FeedPart) -> None:
        """Remember a part, durably; not where the directory can no longer be written to."""
        with suppress(StorageError):
            noted = json.dumps({**self._all(), str(path): part})
            self._job.database.set_meta(_META, noted)
            self._job.commit()

    def _all(self) -> dict[str, list[int | None]]:
        found: dict[str, list[int | None]] = json.loads(self._job.database.meta(_META) or "{}")
        return found


def part_start(known: FeedPart | None, size_bytes: int) -> int:
    """From where on a file that is appended to may be written anew.

    Never what is somebody else's: where the file grew or shrank since this crawl
    closed it, all of it stays, and the crawl's pages are appended once more.

    Args:
        known: The part that the crawl had.
        size_bytes: Of the file now, 0 where there is none.
    """
    if known is None or known.start > size_bytes:
        return size_bytes
    if known.end is not None and known.end != size_bytes:
        return size_bytes
    return known.start
