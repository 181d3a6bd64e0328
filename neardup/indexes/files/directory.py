"""The directory of a persisted index: open once, and changed in steps that may each fail."""

import secrets
from pathlib import Path
from typing import NamedTuple, Self

from filelock import FileLock, Timeout

from neardup.errors import IndexFileError, IndexLockedError
from neardup.indexes.arrays import Rows
from neardup.indexes.files.complaints import REMEDY, unusable
from neardup.indexes.files.durable import put_in_place, sync_directory
from neardup.indexes.files.layout import (
    LOCK_NAME,
    Layout,
    LayoutError,
    Span,
    layout_of,
    log_name,
)
from neardup.indexes.files.log_format import HEADER_BYTES, LogHeader
from neardup.indexes.files.log_reader import LogContent, read_log
from neardup.indexes.files.log_writer import LogWriter, create_log
from neardup.indexes.files.segment_format import IDENTITY_BYTES
from neardup.indexes.files.segment_reader import map_rows, read_segment
from neardup.indexes.files.segment_writer import stage_segment


class Staged(NamedTuple):
    """A durable segment that does not count yet."""

    temporary: Path
    span: Span
    rows: int


class Content(NamedTuple):
    """What an index directory holds.

    Attributes:
        segments: The rows of each segment, sorted, mapped into memory, the oldest first.
        logged: The entries of the log, in the order in which they came.
    """

    segments: list[Rows]
    logged: Rows


class IndexDirectory:
    """The files of an index, in the order in which a crash does no harm.

    Files:
        index.lock: Locked while the directory is open; otherwise without meaning.
        00000001-00000004.seg: Segments; see ``segment_format``.
        00000005.log: Entries that are in no segment yet; see ``log_format``.
    """

    def __init__(self, path: Path, lock: FileLock) -> None:
        self.path = path
        self._lock = lock
        self._identity = b""
        self._spans: list[Span] = []
        self._number = 0
        self._obsolete: list[str] = []

    @classmethod
    def opened(cls, path: Path) -> tuple[Self, Content]:
        """Open the directory, make it where it is absent, and read what it holds.

        Raises:
            IndexLockedError: It is open already.
            IndexFileError: A file in it is damaged, foreign, missing or of another version.
        """
        lock = _locked(path)
        try:
            directory = cls(path, lock)
            return directory, directory._read()
        except BaseException:
            lock.release()
            raise

    @property
    def logged(self) -> int:
        """How many entries the log holds."""
        return self._log.count

    def _read(self) -> Content:
        layout = _layout_in(self.path)
        self._spans = layout.spans
        segments = [self._read_segment(span) for span in layout.spans]
        self._number = layout.log
        if not layout.log_exists:
            self._identity = self._identity or secrets.token_bytes(IDENTITY_BYTES)
            self._create_log()
        content = self._read_log()
        # Only now is it certain that what replaces these files can be read.
        self._obsolete = layout.obsolete
        self.sweep()
        self._log = LogWriter(self._log_path, content.end, len(content.rows.ids))
        return Content(segments, content.rows)

    @property
    def _log_path(self) -> Path:
        return self.path / log_name(self._number)

    def append(self, rows: Rows) -> None:
        """Make entries durable in the log."""
        self._log.append(rows)

    def stage(self, rows: Rows, replaced: int) -> Staged:
        """Write a segment that shall replace the log and the newest segments.

        Args:
            rows: Sorted; those of the log and of the replaced segments, and any more.
            replaced: How many segments it replaces.

        Raises:
            OSError: The disk is full, or the like; nothing has changed.
        """
        first = self._spans[-replaced].first if replaced else self._number
        span = Span(first, self._number)
        temporary = stage_segment(self.path / span.name, rows, self._identity, *span)
        return Staged(temporary, span, len(rows.ids))

    def switch(self, staged: Staged) -> Rows:
        """Let the staged segment count, start the next log and return the segment's rows, mapped.

        The files that it replaces remain until :meth:`sweep`.

        Raises:
            OSError: The directory must be opened again, which mends it.
        """
        put_in_place(staged.temporary, self.path / staged.span.name)
        replaced = [span for span in self._spans if span.first >= staged.span.first]
        self._obsolete += [span.name for span in replaced] + [self._log_path.name]
        self._spans = [*self._spans[: len(self._spans) - len(replaced)], staged.span]
        self._log.close()
        self._number += 1
        self._create_log()
        self._log = LogWriter(self._log_path, HEADER_BYTES, 0)
        return map_rows(self.path / staged.span.name, staged.rows)

    def sweep(self) -> None:
        """Remove the files that no longer count; a crash leaves them to the next opening."""
        for name in self._obsolete:
            (self.path / name).unlink(missing_ok=True)
        self._obsolete = []

    def close(self) -> None:
        """Let go of the log and the lock."""
        self._log.close()
        self._lock.release()

    def _read_segment(self, span: Span) -> Rows:
        path = self.path / span.name
        header, rows = read_segment(path)
        if (header.first_log, header.last_log) != span:
            found = Span(header.first_log, header.last_log).name
            raise unusable(path, "the segment of that name", f"the one named {found}")
        self._check_identity(path, header.identity)
        return rows

    def _read_log(self) -> LogContent:
        path = self._log_path
        content = read_log(path)
        if content.header.number != self._number:
            raise unusable(path, f"log {self._number}", f"log {content.header.number}")
        self._check_identity(path, content.header.identity)
        return content

    def _create_log(self) -> None:
        create_log(self._log_path, LogHeader(self._identity, self._number))

    def _check_identity(self, path: Path, identity: bytes) -> None:
        if identity != (self._identity or identity):
            raise unusable(path, "a file of this index", "a file of another index")
        self._identity = identity


def _layout_in(path: Path) -> Layout:
    try:
        return layout_of(file.name for file in path.iterdir())
    except LayoutError as error:
        raise IndexFileError(f"{path}: expected {error}; {REMEDY}") from None


def _locked(path: Path) -> FileLock:
    """Make the directory where it is absent, and lock it."""
    if path.is_dir() and not (path / LOCK_NAME).exists():
        _layout_in(path)  # leaves no lock behind in a directory of other files
    absent = [folder for folder in (path, *path.parents) if not folder.exists()]
    try:
        path.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise unusable(path, "a directory", "a file", "name another path") from None
    for folder in absent:
        sync_directory(folder.parent)
    # The thread that closes an index need not be the one that opened it.
    lock = FileLock(path / LOCK_NAME, timeout=0, thread_local=False)
    try:
        lock.acquire()
    except Timeout:
        raise IndexLockedError(
            f"{path}: the index is open already, here or in another process; close it there first"
        ) from None
    return lock
