"""Labels: whether two texts are duplicates, as a person said, and where that is kept."""

from __future__ import annotations

import json
import math
import sqlite3
import time
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any, TextIO

from filelock import FileLock, Timeout

from crawler.lab.crawl_source import SourceError, directory_of
from crawler.pages.items import iso_time
from crawler.storage.database import beside, open_for_reading
from crawler.storage.errors import JobError
from crawler.suggestions import UserError
from neardup.files.durable import replacing
from neardup.fingerprints.digest import DIGEST_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from crawler.lab.crawl_source import LabPage

DUPLICATE, DIFFERENT = NAMES = ("duplicate", "different")
"""The written names of the two labels."""


class LabelError(UserError, ValueError):
    """Something that is no label, in one line."""


@dataclass(frozen=True, slots=True)
class Label:
    """A person's decision whether two texts say the same.

    Attributes:
        first: The smaller of the two text digests, 16 bytes.
        second: The larger text digest, 16 bytes.
        is_duplicate: Whether the two texts are duplicates.
        first_url: The URL of a page with the first text.
        second_url: The URL of a page with the second text.
        labelled_at: The time of the label, in seconds since 1970.
    """

    first: bytes
    second: bytes
    is_duplicate: bool
    first_url: str
    second_url: str
    labelled_at: float

    @property
    def pair(self) -> tuple[bytes, bytes]:
        return self.first, self.second

    @property
    def name(self) -> str:
        return DUPLICATE if self.is_duplicate else DIFFERENT


def label_of(one: LabPage, other: LabPage, *, is_duplicate: bool) -> Label:
    """Label two pages, in either order, now.

    Raises:
        LabelError: Their texts are equal, so that no label is needed.
    """
    if one.text_digest == other.text_digest:
        raise LabelError(f"{one.url} and {other.url} say the same, word for word")
    first, second = sorted((one, other), key=lambda page: page.text_digest)
    return Label(
        first.text_digest, second.text_digest, is_duplicate, first.url, second.url, time.time()
    )


def pair_of(one: bytes, other: bytes) -> tuple[bytes, bytes]:
    """Return two text digests in the order in which labels name them."""
    return min(one, other), max(one, other)


_LOCK_SECS = 10.0


def export_labels(labels: Iterable[Label], file: TextIO) -> None:
    """Write a line for each label.

    Example::

        {"first": "0f…", "second": "a1…", "label": "duplicate", "first_url": "https://…/a",
         "second_url": "https://…/b", "labelled_at": "2026-01-31T12:00:00.000+00:00"}
    """
    # Halves of surrogate pairs have no UTF-8.
    file.writelines(json.dumps(label_fields(label)) + "\n" for label in labels)


def import_labels(lines: Iterable[str], name: str) -> Iterator[Label]:
    """Read the labels that ``export_labels`` wrote, empty lines apart.

    Raises:
        LabelError: A line is no label; the message says which, and why.
    """
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                yield _label(json.loads(line))
            except (ValueError, RecursionError) as error:
                raise LabelError(f"{name}, line {number}: no label: {error}") from None


def label_file(path: Path) -> Path:
    """Return the path of the labels of a file or folder: beside it."""
    whole = path.resolve()
    return whole.with_name(f"{whole.name}.labels.jsonl")


def read_label_file(path: Path) -> dict[tuple[bytes, bytes], Label]:
    """Return the labels of a file by their pairs; none where there is no file.

    Raises:
        LabelError: It holds something else.
        OSError: It cannot be read.
    """
    if not path.exists():
        return {}
    with path.open(encoding="utf-8", errors="replace") as file:
        return {label.pair: label for label in import_labels(file, str(path))}


@contextmanager
def edit_label_file(path: Path) -> Iterator[dict[tuple[bytes, bytes], Label]]:
    """Give the labels of a file, and write all of them back when the block ends well.

    Raises:
        LabelError: It holds something else.
        OSError: It cannot be read or written.
    """
    lock = FileLock(path.with_name(f".{path.name}.lock"), timeout=_LOCK_SECS)
    with lock:
        labels = read_label_file(path)
        yield labels
        with replacing(path) as file, TextIOWrapper(file, encoding="utf-8") as text:
            export_labels(labels.values(), text)


def label_fields(label: Label) -> dict[str, str]:
    """Return a label as the fields of a line, as ``export_labels`` writes it."""
    return {
        "first": label.first.hex(),
        "second": label.second.hex(),
        "label": label.name,
        "first_url": label.first_url,
        "second_url": label.second_url,
        "labelled_at": iso_time(label.labelled_at),
    }


def _label(fields: object) -> Label:
    if not isinstance(fields, dict):
        raise LabelError("an object expected")
    one, other = _digest(fields, "first"), _digest(fields, "second")
    if one == other:
        raise LabelError("first and second are the same text")
    written = fields.get("label")
    if written not in NAMES:
        raise LabelError(f'"label" must be one of {", ".join(NAMES)}, got {written!r}')
    urls = {one: _text(fields, "first_url"), other: _text(fields, "second_url")}
    first, second = pair_of(one, other)
    return Label(first, second, written == NAMES[0], urls[first], urls[second], _time(fields))


def _digest(fields: dict[str, Any], name: str) -> bytes:
    try:
        digest = bytes.fromhex(_text(fields, name))
    except ValueError:
        digest = b""
    if len(digest) != DIGEST_BYTES:
        raise LabelError(f'"{name}" must be a text digest of {2 * DIGEST_BYTES} digits')
    return digest


def _text(fields: dict[str, Any], name: str) -> str:
    value = fields.get(name, "")
    if not isinstance(value, str):
        raise LabelError(f'"{name}" must be a text')
    return value


def _time(fields: dict[str, Any]) -> float:
    written = _text(fields, "labelled_at")
    try:
        when = datetime.fromisoformat(written) if written else datetime.now(UTC)
        seconds = when.replace(tzinfo=when.tzinfo or UTC).timestamp()
    except (ValueError, OverflowError):
        seconds = math.nan
    if not math.isfinite(seconds):
        raise LabelError('"labelled_at" must be a time like 2026-01-31T12:00:00+00:00')
    return seconds


_LABELS = f"""
SELECT first, second, label = '{DUPLICATE}' AS is_duplicate, first_url, second_url, labelled_at
FROM labels
"""  # noqa: S608


def read_labels(paths: Iterable[Path]) -> list[Label]:
    """Return all labels, oldest first; where several sources differ, the newest counts.

    Args:
        paths: Crawl directories, and files and folders that crawls are made from.

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
    rows = [
        (*label.pair, label.name, label.first_url, label.second_url, label.labelled_at)
        for label in labels
    ]
    for path in paths:
        with _told_of(path):
            if folder := directory_of(path):
                with beside(folder) as connection:
                    sql = "INSERT OR REPLACE INTO labels VALUES (?, ?, ?, ?, ?, ?)"
                    connection.executemany(sql, rows)
            else:
                with edit_label_file(label_file(path)) as known:
                    known.update((label.pair, label) for label in labels)


def remove_label(paths: Iterable[Path], first: bytes, second: bytes) -> None:
    """Take back the label of two texts, in either order, where there is one.

    Raises:
        SourceError: It cannot be written.
    """
    pair = pair_of(first, second)
    for path in paths:
        with _told_of(path):
            if folder := directory_of(path):
                with beside(folder) as connection:
                    connection.execute("DELETE FROM labels WHERE first = ? AND second = ?", pair)
            elif pair in read_label_file(label_file(path)):
                with edit_label_file(label_file(path)) as known:
                    known.pop(pair, None)


def _read(path: Path) -> Iterable[Label]:
    with _told_of(path):
        folder = directory_of(path)
        if folder is None:
            return read_label_file(label_file(path)).values()
        with closing(open_for_reading(folder)) as connection:
            rows = connection.execute(_LABELS).fetchall()
    return [Label(**{**dict(row), "is_duplicate": bool(row["is_duplicate"])}) for row in rows]


@contextmanager
def _told_of(path: Path) -> Iterator[None]:
    """Tell what goes wrong with the labels of a source as a ``SourceError``."""
    try:
        yield
    except (JobError, LabelError) as error:
        raise SourceError(str(error)) from None
    except Timeout:
        raise SourceError(f"{path}: its labels are being written by another process") from None
    except OSError as error:
        raise SourceError(f"{label_file(path)}: {error.strerror or error}") from None
    except sqlite3.Error as error:
        raise SourceError(f"{path}: its labels cannot be used: {error}") from None
