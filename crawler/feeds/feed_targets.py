"""Refuse feeds that could not be written, before a crawl begins."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from w3lib.url import file_uri_to_path

from crawler.storage import meta_names
from crawler.storage.database import FILE_NAME, meta_of, open_for_reading
from crawler.storage.errors import JobError
from crawler.storage.output_files import check_output, check_writable
from neardup.installing import install_command

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings


SPARES_OTHERS = "spares_others"
"""The option of a feed that replaces only a file that the crawl wrote."""


def require_pyarrow() -> None:
    """Refuse early to write parquet without pyarrow.

    Raises:
        JobError: pyarrow is not installed.
    """
    try:
        import pyarrow.parquet  # noqa: F401, PLC0415
    except ImportError:
        raise JobError(f"parquet needs pyarrow: {install_command('parquet')}") from None


def check_feeds(settings: BaseSettings) -> None:
    """Check the local files of all feeds.

    What stands in place of ``%(time)s`` and the like is known later, so of such a feed the folder
    before it is checked.

    Raises:
        JobError: A feed cannot be written, or is a file that a crawl lives on, or would replace one
            of others.
    """
    jobdir = settings["JOBDIR"]
    folder = Path(jobdir) if jobdir else None
    for feed, options in settings.getdict("FEEDS").items():
        path = _local_path(str(feed))
        if path is None:
            continue
        if "%(" in path:
            known = f"{path.partition('%(')[0]}x"
            check_writable(Path(known).parent / "feed")
            continue
        check_output(Path(path), folder)
        check_writable(Path(path))
        if options.get(SPARES_OTHERS) and options.get("overwrite") and _is_of_others(path, folder):
            raise JobError(
                f"{path}: this crawl did not write the file, so that the configuration does not "
                f"replace it; --overwrite-output {path} does"
            )


def _is_of_others(path: str, folder: Path | None) -> bool:
    place = Path(path).resolve()
    if not place.is_file() or not place.stat().st_size:
        return False
    if folder is None or not (folder / FILE_NAME).is_file():
        return True
    with closing(open_for_reading(folder)) as connection:
        return str(place) not in json.loads(meta_of(connection.execute, meta_names.FEEDS) or "{}")


def feeds_stdout(settings: BaseSettings) -> bool:
    """Return whether a feed goes to standard output, which then has nothing else."""
    return any(str(feed).startswith(("-", "stdout:")) for feed in settings.getdict("FEEDS"))


def _local_path(feed: str) -> str | None:
    """Return the path of a feed in a local file, None for one that goes elsewhere."""
    scheme = urlsplit(feed).scheme
    if scheme == "file":
        return file_uri_to_path(feed)
    return None if scheme else feed
