"""The directory of a persisted index: open once, and changed in steps that may each fail."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple, Self

from filelock import FileLock

from neardup.errors import IndexFileError, StorageError
from neardup.files.durable import LOCK_NAME, lock_directory, put_in_place
from neardup.files.sealed import ELSEWHERE, HALF_WAY, REMEDY, unusable
from neardup.indexes.columns import Array, Shape, Tables
from neardup.indexes.files.file_layout import (
    LAST_LOG,
    Layout,
    LayoutError,
    Span,
    layout_of,
    log_name,
)
from neardup.indexes.files.log_file import (
    EMPTY,
    Batch,
    LogContent,
    LogHeader,
    LogWriter,
    create_log,
    read_log,
    stage_log,
)
from neardup.indexes.files.segment_file import (
    IDENTITY_BYTES,
    SegmentLabel,
    SegmentWriter,
    map_tables,
    read_segment,
    stage_segment,
)


class Content(NamedTuple):
    """The content of an index directory.

    Attributes:
        segments: The segments, mapped into memory, the oldest first.
        batches: The batches of the log, in the order in which they came.
    """

    segments: list[Tables]
    batches: list[Batch]


class IndexDirectory:
    """The files of an index, changed in an order in which a crash does no harm.

    Files:
        index.lock: Locked while the directory is open; otherwise without meaning.
        00000001-00000004.seg: Segments; see ``segment_file``.
        00000005.log: The entries that are in no segment yet; see ``log_file``.
        00000005.log.tail-1: A torn tail of the log, which was never promised; kept for inspection.
    """

    def __init__(self, path: Path, lock: FileLock) -> None:
        self.path = path
        self._lock = lock
        self._identity = b""
        self._spans: list[Span] = []
        self._number = 0
        self._obsolete: list[str] = []
        self.half_way = False

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

    def _read(self) -> Content:
        layout = _layout_in(self.path)
        self._spans = layout.spans
        segments = [self._read_segment(span) for span in layout.spans]
        self._number = layout.log
        if not layout.log_exists:
            self._identity = self._identity or secrets.token_bytes(IDENTITY_BYTES)
            create_log(self._log_path, self._log_header(self._number))
        content = self._read_log()
        # Only now is it certain that what replaces these files can be read.
        self._obsolete = layout.obsolete
        self.settle()
        self._log = LogWriter(self._log_path, content.whole)
        return Content(segments, content.batches)

    @property
    def _log_path(self) -> Path:
        return self.path / log_name(self._number)

    def append(self, batch: Batch) -> None:
        """Make a batch durable in the log.

        Raises:
            OSError: The disk is full, or the like; the log is as it was.
        """
        self._log.append(batch)

    def seal(self, tables: Tables) -> Tables:
        """Keep a new, newest segment in place of the log, and return it, mapped.

        Raises:
            OSError: The disk is full, or the like; nothing has changed.
            StorageError: There are no numbers left, and nothing has changed; or ``half_way``.
        """
        if self._number >= LAST_LOG:
            raise StorageError(f"{self.path}: its last log is full; add the rest to another index")
        span = Span(self._number, self._number)
        path = self.path / span.name
        segment, log = self._stage(path, SegmentLabel(self._identity, span), tables)
        with self._half_way():
            put_in_place(segment, path)
            self._obsolete.append(self._log_path.name)
            self._spans.append(span)
            self._log.close()
            self._number += 1
            put_in_place(log, self._log_path)
            self._log = LogWriter(self._log_path, EMPTY)
            return map_tables(path, tables.shape, tables.max_id)

    def open_merge(self, first: int, count: int, shape: Shape) -> "MergeFile":
        """Begin a segment that shall replace others.

        Args:
            first: The place of the oldest of these among all segments.
            count: The number of segments that it replaces.
            shape: The sizes of the segment.

        Raises:
            OSError: The file cannot be made.
        """
        span = Span(self._spans[first].first, self._spans[first + count - 1].last)
        writer = SegmentWriter(self.path / span.name, SegmentLabel(self._identity, span), shape)
        return MergeFile(self, writer)

    def switch(self, writer: SegmentWriter, max_id: int) -> Tables:
        """Let a finished merge count in place of its inputs, and return it, mapped.

        Raises:
            StorageError: The directory must be opened again, which mends it.
        """
        span = writer.span
        with self._half_way():
            put_in_place(writer.temporary, self.path / span.name)
            within = [old for old in self._spans if span.first <= old.first <= span.last]
            first = self._spans.index(within[0])
            self._spans[first : first + len(within)] = [span]
            # A single segment that was rewritten has kept its name.
            self._obsolete += [old.name for old in within if old != span]
            return map_tables(self.path / span.name, writer.shape, max_id)

    def settle(self) -> None:
        """Remove the files that no longer count; what a crash leaves, the next opening removes."""
        self.half_way = False
        for name in self._obsolete:
            # They do no harm, and the change is made: no reason to call it a failure.
            with suppress(OSError):
                (self.path / name).unlink()
        self._obsolete = []

    def close(self) -> None:
        """Let go of the log and the lock."""
        self._log.close()
        self._lock.release()

    def _read_segment(self, span: Span) -> Tables:
        path = self.path / span.name
        header, tables = read_segment(path)
        if (header.first_log, header.last_log) != span:
            found = Span(header.first_log, header.last_log).name
            raise unusable(path, "the segment of that name", f"the one named {found}")
        self._check_identity(path, header.identity)
        return tables

    def _read_log(self) -> LogContent:
        path = self._log_path
        content = read_log(path)
        if content.header.number != self._number:
            raise unusable(path, f"log {self._number}", f"log {content.header.number}")
        self._check_identity(path, content.header.identity)
        return content

    def _log_header(self, number: int) -> LogHeader:
        return LogHeader(self._identity, number)

    def _stage(self, path: Path, label: SegmentLabel, tables: Tables) -> tuple[Path, Path]:
        """Write the segment and the next log, so that nothing but their names is missing."""
        segment = stage_segment(path, label, tables)
        number = self._number + 1
        try:
            return segment, stage_log(self.path / log_name(number), self._log_header(number))
        except BaseException:
            segment.unlink(missing_ok=True)
            raise

    @contextmanager
    def _half_way(self) -> Iterator[None]:
        """Mark failures as final: until :meth:`settle` the files are ahead of the index."""
        self.half_way = True
        try:
            yield
        except OSError as error:
            raise StorageError(f"{self.path}: {error}; {HALF_WAY}") from error

    def _check_identity(self, path: Path, identity: bytes) -> None:
        if identity != (self._identity or identity):
            raise unusable(path, "a file of this index", "a file of another index")
        self._identity = identity


class MergeFile:
    """A merged segment on its way into a directory.

    Args:
        directory: The directory whose segments it replaces.
        writer: The writer of its file.
    """

    def __init__(self, directory: IndexDirectory, writer: SegmentWriter) -> None:
        self._directory = directory
        self._writer = writer

    def put(self, column: int, values: Array) -> None:
        """Append to a column.

        Raises:
            OSError: The disk is full, or the like.
        """
        self._writer.put(column, values)

    def replace_inputs(self, max_id: int) -> Tables:
        """Let the segment count, durably, and return it, mapped.

        Raises:
            OSError: The disk is full, or the like; nothing has changed.
            StorageError: The directory must be opened again, which mends it.
        """
        self._writer.finish(max_id)
        return self._directory.switch(self._writer, max_id)

    def abandon(self) -> None:
        """Remove the file."""
        self._writer.abandon()


def _layout_in(path: Path) -> Layout:
    """Return the files of the index in a directory.

    Raises:
        IndexFileError: The directory holds other files, or one of the index is missing.
    """
    try:
        return layout_of(file.name for file in path.iterdir())
    except LayoutError as error:
        remedy = ELSEWHERE if error.foreign else REMEDY
        raise IndexFileError(f"{path}: expected {error}; {remedy}") from None


def _locked(path: Path) -> FileLock:
    """Make the directory where it is absent, and lock it.

    Raises:
        IndexLockedError: It is open already.
        IndexFileError: It is a file, or holds other files.
    """
    if path.is_dir() and not (path / LOCK_NAME).exists():
        _layout_in(path)  # leaves no lock behind in a directory of other files
    return lock_directory(path)
