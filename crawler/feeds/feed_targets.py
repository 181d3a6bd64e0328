"""Refuse feeds that could not be written, before a crawl begins."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from w3lib.url import file_uri_to_path

from crawler.storage.output_files import check_output, check_writable

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings


def check_feeds(settings: BaseSettings) -> None:
    """Check the local files of all feeds.

    What stands in place of ``%(time)s`` and the like is known later, so of such a feed the folder
    before it is checked.

    Raises:
        JobError: A feed cannot be written, or is a file that a crawl lives on.
    """
    jobdir = settings["JOBDIR"]
    folder = Path(jobdir) if jobdir else None
    for feed in map(str, settings.getdict("FEEDS")):
        path = _local_path(feed)
        if path is None:
            continue
        if "%(" in path:
            known = f"{path.partition('%(')[0]}x"
            check_writable(Path(known).parent / "feed")
            continue
        check_output(Path(path), folder)
        check_writable(Path(path))


def feeds_stdout(settings: BaseSettings) -> bool:
    """Return whether a feed goes to standard output, which then has nothing else."""
    return any(str(feed).startswith(("-", "stdout:")) for feed in settings.getdict("FEEDS"))


def _local_path(feed: str) -> str | None:
    """Return the path of a feed in a local file, None for one that goes elsewhere."""
    scheme = urlsplit(feed).scheme
    if scheme == "file":
        return file_uri_to_path(feed)
    return None if scheme else feed
