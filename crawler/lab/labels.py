"""Labels where they are kept: in ``crawl.db``, or in a file beside any other source."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

from filelock import Timeout

from crawler.lab.pair_label import (
    DUPLICATE,
    Label,
    LabelError,
    edit_label_file,
    label_file,
    pair_of,
    read_label_file,
)
from crawler.lab.sources.source import SourceError
from crawler.storage.database import beside, open_for_reading
from crawler.storage.errors import JobError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from crawler.lab.sources.several import Sources
    from crawler.lab.sources.source import PageSource

_FAULTS = (JobError, LabelError, OSError, sqlite3.Error, Timeout)

_LABELS = f"""
SELECT first, second, label = '{DUPLICATE}' AS is_duplicate, first_url, second_url, labelled_at
FROM labels
"""  # noqa: S608


def read_labels(sources: Sources) -> list[Label]:
    """Return all labels, oldest first; where several sources differ, the newest counts.

    Raises:
        SourceError: They cannot be read.
    """
    newest: dict[tuple[bytes, bytes], Label] = {}
    for part in sources.parts:
        for label in _read(part):
            known = newest.get(label.pair)
            if known is None or known.labelled_at <= label.labelled_at:
                newest[label.pair] = label
    return sorted(newest.values(), key=lambda label: (label.labelled_at, label.pair))


def store_labels(sources: Sources, labels: Sequence[Label]) -> None:
    """Store labels in each source, all or none, in place of earlier ones of the same pairs.

    This may be done beside a running crawl.

    Raises:
        SourceError: They cannot be written.
    """
    for part in sources.parts:
        try:
            if part.folder is not None:
                _store_in_crawl(part.folder, labels)
            else:
                with edit_label_file(label_file(part.path)) as known:
                    known.update((label.pair, label) for label in labels)
        except _FAULTS as error:
            raise _complaint(part, error) from None


def remove_label(sources: Sources, first: bytes, second: bytes) -> bool:
    """Take back the label of two texts, in either order.

    Returns:
        Whether there was a label.

    Raises:
        SourceError: It cannot be written.
    """
    pair = pair_of(first, second)
    # Each of them is asked, whatever the others said.
    return any([_remove(part, pair) for part in sources.parts])  # noqa: C419


def _remove(part: PageSource, pair: tuple[bytes, bytes]) -> bool:
    try:
        if part.folder is not None:
            with beside(part.folder) as connection:
                sql = "DELETE FROM labels WHERE first = ? AND second = ?"
                return bool(connection.execute(sql, pair).rowcount)
        if pair not in read_label_file(label_file(part.path)):
            return False
        with edit_label_file(label_file(part.path)) as known:
            return known.pop(pair, None) is not None
    except _FAULTS as error:
        raise _complaint(part, error) from None


def _read(part: PageSource) -> Iterable[Label]:
    try:
        if part.folder is None:
            return read_label_file(label_file(part.path)).values()
        with closing(open_for_reading(part.folder)) as connection:
            rows = connection.execute(_LABELS).fetchall()
    except _FAULTS as error:
        raise _complaint(part, error) from None
    return [Label(**{**dict(row), "is_duplicate": bool(row["is_duplicate"])}) for row in rows]


def _store_in_crawl(folder: Path, labels: Iterable[Label]) -> None:
    rows = [
        (*label.pair, label.name, label.first_url, label.second_url, label.labelled_at)
        for label in labels
    ]
    with beside(folder) as connection:
        connection.executemany("INSERT OR REPLACE INTO labels VALUES (?, ?, ?, ?, ?, ?)", rows)


def _complaint(part: PageSource, error: Exception) -> SourceError:
    if isinstance(error, JobError | LabelError):
        return SourceError(str(error))
    if isinstance(error, Timeout):
        return SourceError(f"{part.name}: its labels are being written by another process")
    if isinstance(error, OSError):
        return SourceError(f"{label_file(part.path)}: {error.strerror or error}")
    return SourceError(f"{part.name}: its labels cannot be used: {error}")
