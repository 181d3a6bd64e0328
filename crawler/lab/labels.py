"""Labels where they are kept: in ``crawl.db``, or in a file beside any other source."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

from filelock import Timeout

from crawler.lab.label_files import edit_label_file, export_labels, label_file, read_label_file
from crawler.lab.pair_label import DUPLICATE, Label, LabelError
from crawler.lab.sources.source import SourceError
from crawler.storage.database import beside, open_for_reading
from crawler.storage.errors import JobError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from crawler.lab.sources.source import PageSource

__all__ = [
    "Label",
    "export_labels",
    "read_labels",
    "remove_label",
    "store_label",
    "store_labels",
]

_FAULTS = (JobError, LabelError, OSError, sqlite3.Error, Timeout)


def read_labels(source: PageSource) -> list[Label]:
    """Return all labels, oldest first; where several sources differ, the newest counts.

    Raises:
        SourceError: They cannot be read.
    """
    newest: dict[tuple[bytes, bytes], Label] = {}
    for part in source.parts:
        for label in _read(part):
            known = newest.get(label.pair)
            if known is None or known.labelled_at <= label.labelled_at:
                newest[label.pair] = label
    return sorted(newest.values(), key=lambda label: (label.labelled_at, label.pair))


def store_label(source: PageSource, label: Label) -> None:
    """Store a label, in place of the pair's earlier one, also beside a running crawl.

    Where a source consists of several, each of them stores it.

    Raises:
        SourceError: It cannot be written.
    """
    store_labels(source, (label,))


def store_labels(source: PageSource, labels: Iterable[Label]) -> None:
    """Store several labels, all or none in each source.

    Raises:
        SourceError: They cannot be written.
    """
    several = list(labels)
    for part in source.parts:
        try:
            if part.folder is not None:
                _store_in_crawl(part.folder, several)
            else:
                with edit_label_file(label_file(part.path)) as known:
                    known.update((label.pair, label) for label in several)
        except _FAULTS as error:
            raise _complaint(part, error) from None


def remove_label(source: PageSource, first: bytes, second: bytes) -> bool:
    """Take back what was said of two texts, in either order.

    Returns:
        Whether there was a label.

    Raises:
        SourceError: It cannot be written.
    """
    pair = (min(first, second), max(first, second))
    # Each of them is asked, whatever the others said.
    return any([_remove(part, pair) for part in source.parts])  # noqa: C419


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
            rows = connection.execute(
                "SELECT first, second, label, first_url, second_url, labelled_at FROM labels"
            ).fetchall()
    except _FAULTS as error:
        raise _complaint(part, error) from None
    return [
        Label(
            row["first"],
            row["second"],
            row["label"] == DUPLICATE,
            row["first_url"],
            row["second_url"],
            row["labelled_at"],
        )
        for row in rows
    ]


def _store_in_crawl(folder: Path, labels: Iterable[Label]) -> None:
    with beside(folder) as connection:
        connection.executemany(
            "INSERT OR REPLACE INTO labels VALUES (?, ?, ?, ?, ?, ?)",
            [
                (
                    label.first,
                    label.second,
                    label.name,
                    label.first_url,
                    label.second_url,
                    label.labelled_at,
                )
                for label in labels
            ],
        )


def _complaint(part: PageSource, error: Exception) -> SourceError:
    if isinstance(error, JobError | LabelError):
        return SourceError(str(error))
    if isinstance(error, Timeout):
        return SourceError(f"{part.name}: its labels are being written by another process")
    if isinstance(error, OSError):
        return SourceError(f"{label_file(part.path)}: {error.strerror or error}")
    return SourceError(f"{part.name}: its labels cannot be used: {error}")
