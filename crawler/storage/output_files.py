"""Refuse output that cannot be written, or that would replace a file that a crawl lives on."""

from __future__ import annotations

import json
import os
import tempfile
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from crawler.storage import meta_names
from crawler.storage.database import FILE_NAME, meta_of, open_for_reading
from crawler.storage.errors import JobError
from neardup.installing import install_command

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

STATUS_FILE = "status.json"
"""Name of the file that says how a running crawl stands."""

_WATCH = ("watch.db", "watch.lock", "watch.log")
_KEPT = frozenset(
    {"fingerprints", "signatures", "passages", "seen.bloom", "lock", STATUS_FILE, *_WATCH}
)
"""Names in a crawl directory that the crawl owns, beside crawl.db and its companions of SQLite."""

SPARES_OTHERS = "spares_others"
"""The option of a feed that replaces only a file that the crawl wrote."""

_SQLITE = b"SQLite format 3\x00"


def check_output(path: Path, folder: Path | None = None) -> None:
    """Check that a file may be written without harm to a crawl.

    Args:
        path: The file, which may be missing.
        folder: A crawl directory that is about to be made.

    Raises:
        JobError: It is a file of a crawl directory, a database or a directory.
    """
    place = Path(os.path.realpath(path))
    if place.is_dir():
        raise JobError(f"{path}: is a directory, a file is needed")
    for parent in place.parents:
        name = place.relative_to(parent).parts[0]
        is_kept = name in _KEPT or name.startswith(FILE_NAME)
        if is_kept and ((parent / FILE_NAME).exists() or _is_same(parent, folder)):
            raise JobError(f"{path}: the crawl in {parent} lives on it; choose another file")
    if _is_database(place):
        raise JobError(f"{path}: is a database; choose another file, or remove it yourself")


def _is_same(parent: Path, folder: Path | None) -> bool:
    return folder is not None and str(parent) == os.path.realpath(folder)


def check_writable(path: Path) -> None:
    """Check that a file can be made or changed; leave everything as it was.

    Directories that are missing would be made with it. A device or a pipe is not tried.

    Raises:
        JobError: It cannot be written.
    """
    made: list[Path] = []
    try:
        if path.is_file():
            path.open("ab").close()
        elif not path.exists():
            missing = [parent for parent in path.parents if not parent.exists()]
            for parent in reversed(missing):
                parent.mkdir()
                made.append(parent)
            descriptor, trial = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:100]}.")
            os.close(descriptor)
            Path(trial).unlink()
    except OSError as error:
        raise JobError(f"{path}: cannot be written: {error.strerror or error}") from None
    finally:
        for parent in reversed(made):
            with suppress(OSError):
                parent.rmdir()


def _is_database(path: Path) -> bool:
    """Return whether a file is a database of SQLite, which no result may replace.

    A file that cannot be read is none: the attempt to write it says why.
    """
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return file.read(len(_SQLITE)) == _SQLITE
    except OSError:
        return False


def require_pyarrow() -> None:
    """Refuse early to write parquet without pyarrow.

    Raises:
        JobError: pyarrow is not installed.
    """
    try:
        import pyarrow.parquet  # noqa: F401, PLC0415
    except ImportError:
        raise JobError(f"parquet needs pyarrow: {install_command('parquet')}") from None


def check_feeds(feeds: Mapping[str, Any], folder: Path | None) -> None:
    """Check the local files of all feeds.

    What stands in place of ``%(time)s`` and the like is known later, so of such a feed the folder
    before it is checked.

    Args:
        feeds: The setting ``FEEDS``.
        folder: The crawl directory.

    Raises:
        JobError: A feed cannot be written, or is a file that a crawl lives on, or would replace one
            of others.
    """
    for feed, options in feeds.items():
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


def feeds_stdout(feeds: Iterable[str]) -> bool:
    """Return whether a feed goes to standard output, which then has nothing else."""
    return any(str(feed).startswith(("-", "stdout:")) for feed in feeds)


def _local_path(feed: str) -> str | None:
    """Return the path of a feed in a local file, None for one that goes elsewhere."""
    scheme = urlsplit(feed).scheme
    if scheme == "file":
        from w3lib.url import file_uri_to_path  # noqa: PLC0415  # seldom, and it takes 16 ms

        return file_uri_to_path(feed)
    return None if scheme else feed
