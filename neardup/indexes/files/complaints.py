"""Word the errors about files that cannot be used."""

from pathlib import Path

from neardup.errors import IndexFileError

REMEDY = "restore it from a copy, or delete the index directory and add its documents again"

ELSEWHERE = "name another path"
"""The remedy where the files belong to another program."""

HALF_WAY = (
    "the index failed half way through a write; open it again; "
    "it may hold what was added since the last flush"
)


def unusable(path: Path, expected: str, found: str, remedy: str = REMEDY) -> IndexFileError:
    """Return the error that names the file, what was expected, what was found and what to do."""
    return IndexFileError(f"{path}: expected {expected}, found {found}; {remedy}")
