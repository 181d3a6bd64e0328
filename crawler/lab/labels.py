"""Labels where they are kept: in ``crawl.db``, or in a file beside what a crawl was made of."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

from filelock import Timeout

from crawler.lab.crawl_source import SourceError, directory_of
from crawler.lab.pair_label import (
    DUPLICATE,
    Label,
    LabelError,
    edit_label_file,
    label_file,
    pair_of,
    read_label_file,
)
from crawler.storage.database import beside, open_for_reading
from crawler.storage.errors import JobError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

_FAULTS = (JobError, LabelError, OSError, sqlite3.Error, Timeout)

_LABELS = f"""
SELECT first, second, label = '{DUPLICATE}' AS is_duplicate, first_url, second_url, labelled_at
FROM labels
"""  # noqa: S608


def read_labels(paths: Iterable[Path]) -> list[Label]:
    """Return all labels, oldest first; where several sources differ, the newest counts.

    Args:
        paths: Crawl directories, and files and folders of which crawls are made.

    Raises:
        SourceError: They cannot be read.
    """
    newest: dict[tuple[bytes, bytes], Label] = {}
    for path in paths:
        for label in _read(path):
            known = newest.get(label.pair)
            if known is None or known.labelled_at <= label.labelled_at:
                newest[label.pair] = label
    return sorted(newest.values(), key=lambda label: (label.labelled_at, label.pair))


def store_labels(paths: Iterable[Path], labels: Sequence[Label]) -> None:
    """Store labels in each source, all or none, in place of earlier ones of the same pairs.

    This may be done beside a running crawl.

    Raises:
        SourceError: They cannot be written.
    """
    for path in paths:
        try:
            if folder := directory_of(path):
                _store_in_crawl(folder, labels)
            else:
                with edit_label_file(label_file(path)) as known:
                    known.update((label.pair, label) for label in labels)
        except _FAULTS as error:
            raise _complaint(path, error) from None


def remove_label(paths: Iterable[Path], first: bytes, second: bytes) -> bool:
    """Take back the label of two texts, in either order.

    Returns:
        Whether there was a label.

    Raises:
        SourceError: It cannot be written.
    """
    pair = pair_of(first, second)
    # Each of them is asked, whatever the others said.
    return any([_remove(path, pair) for path in paths])  # noqa: C419


def _remove(path: Path, pair: tuple[bytes, bytes]) -> bool:
    try:
        if folder := directory_of(path):
            with beside(folder) as connection:
                sql = "DELETE FROM labels WHERE first = ? AND second = ?"
                return bool(connection.execute(sql, pair).rowcount)
        if pair not in read_label_file(label_file(path)):
            return False
        with edit_label_file(label_file(path)) as known:
            return known.pop(pair, None) is not None
    except _FAULTS as error:
        raise _complaint(path, error) from None


def _read(path: Path) -> Iterable[Label]:
    try:
        folder = directory_of(path)
        if folder is None:
            return read_label_file(label_file(path)).values()
        with closing(open_for_reading(folder)) as connection:
            rows = connection.execute(_LABELS).fetchall()
    except _FAULTS as error:
        raise _complaint(path, error) from None
    return [Label(**{**dict(row), "is_duplicate": bool(row["is_duplicate"])}) for row in rows]


def _store_in_crawl(folder: Path, labels: Iterable[Label]) -> None:
    rows = [
        (*label.pair, label.name, label.first_url, label.second_url, label.labelled_at)
        for label in labels
    ]
    with beside(folder) as connection:
        connection.executemany("INSERT OR REPLACE INTO labels VALUES (?, ?, ?, ?, ?, ?)", rows)


def _complaint(path: Path, error: Exception) -> SourceError:
    if isinstance(error, JobError | LabelError):
        return SourceError(str(error))
    if isinstance(error, Timeout):
        return SourceError(f"{path}: its labels are being written by another process")
    if isinstance(error, OSError):
        return SourceError(f"{label_file(path)}: {error.strerror or error}")
    return SourceError(f"{path}: its labels cannot be used: {error}")
