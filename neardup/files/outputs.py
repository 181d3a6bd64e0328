"""Tell databases from files that a user may have results written to."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_SQLITE = b"SQLite format 3\x00"


def is_database(path: Path) -> bool:
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
