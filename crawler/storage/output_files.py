"""Keep what users have written by our commands away from the files that a crawl lives on."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path

from crawler.storage.database import FILE_NAME
from crawler.storage.errors import JobError

STATUS_FILE = "status.json"
"""Name of the file that says how a running crawl stands."""

_WATCH = ("watch.db", "watch.lock", "watch.log")
_KEPT = frozenset(
    {"fingerprints", "signatures", "passages", "seen.bloom", "lock", STATUS_FILE, *_WATCH}
)
"""Names in a crawl directory that the crawl owns, beside crawl.db and its companions of SQLite."""


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
