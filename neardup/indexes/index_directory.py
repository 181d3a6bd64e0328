"""The directory of a persisted index: open once, and changed in steps that may each fail."""

import secrets
import struct
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np
from filelock import FileLock

from neardup.errors import IndexFileError, StorageError
from neardup.files.batches import AppendingFile, BatchFormat, Promise, StoredBatch
from neardup.files.durable import lock_directory, put_in_place, write_durably, write_temporary
from neardup.files.sealed import CHECKSUM, HALF_WAY, REMEDY, FileKind, sealed, unusable
from neardup.indexes.arrays import Rows
from neardup.indexes.index_files import (
    IDENTITY_BYTES,
    LAST_LOG,
    LayoutError,
    SegmentLabel,
    Span,
    is_ours,
    layout_of,
    log_name,
    map_tables,
    read_segment,
    stage_segment,
)
from neardup.indexes.segment import Tables

_HEADER = struct.Struct(f"<8sII{IDENTITY_BYTES}sQ")
_KIND = FileKind("a log", b"NDUPLOG\n", 3, _HEADER.size + CHECKSUM.size)
_BATCHES = BatchFormat("entry", _KIND.header_bytes, entry_bytes=16)
EMPTY = _BATCHES.empty
"""The promise of a log without entries: its first batch begins there."""


class LogHeader(NamedTuple):
    """The first 48 bytes of a log.

    Attributes:
        identity: 16 random bytes that all files of one index share.
        number: The number of the log, from 1.
    """

    identity: bytes
    number: int

    def empty_log(self) -> bytes:
        """Return a log without entries."""
        return sealed(_HEADER.pack(_KIND.magic, _KIND.version, 0, *self)) + EMPTY.to_bytes()


class Batch(NamedTuple):
    """The changes that one call makes durable.

    Attributes:
        removed: Earlier entries of the log or of a segment that no longer count.
        added: New entries, in the order in which they came.
    """

    removed: Rows
    added: Rows

    def append_to(self, log: AppendingFile) -> None:
        """Write the batch to the end of a log and make it durable.

        Raises:
            OSError: The disk is full, or the like; the next call starts where this one did.
        """
        parts = (part for rows in self for part in (rows.fingerprints, rows.ids))
        payload = b"".join(part.astype(part.dtype.newbyteorder("<")).tobytes() for part in parts)
        log.append(len(self.removed.ids), len(self.added.ids), payload)


class LogContent(NamedTuple):
    """The content of a log.

    Attributes:
        header: The header of the log.
        batches: All batches that were promised, in the order in which they came.
        whole: The place where the last whole batch ends.
    """

    header: LogHeader
    batches: list[Batch]
    whole: Promise


def open_log(path: Path, whole: Promise) -> AppendingFile:
    """Open a log that exists, to go on where its last whole batch ends."""
    return AppendingFile(path, _KIND.header_bytes, whole)


def read_log(path: Path) -> LogContent:
    """Return the content of the log, without its torn tail.

    Raises:
        IndexFileError: The file is damaged, foreign or of another version, or ends before what it
            promised.
    """
    data = path.read_bytes()
    _, _, _, identity, number = _HEADER.unpack(_KIND.fields(path, data))
    found = list(_BATCHES.batches(path, memoryview(data)))
    whole = found[-1].whole if found else EMPTY
    return LogContent(LogHeader(identity, number), [_parsed(batch) for batch in found], whole)


def _parsed(batch: StoredBatch) -> Batch:
    middle = _BATCHES.entry_bytes * batch.removed
    return Batch(
        _rows(batch.payload[:middle], batch.removed), _rows(batch.payload[middle:], batch.added)
    )


def _rows(data: memoryview, count: int) -> Rows:
    fingerprints = np.frombuffer(data, "<u8", count)
    ids = np.frombuffer(data, "<i8", count, 8 * count)
    return Rows(fingerprints.astype(np.uint64), ids.astype(np.int64))


class Content(NamedTuple):
    """The content of an index directory.

    Attributes:
        segments: The segments, mapped into memory, the oldest first.
        batches: The batches of the log, in the order in which they came.
    """

    segments: list[Tables]
    batches: list[Batch]


class StagedSegment(NamedTuple):
    """A durable segment: nothing but its name is missing, and that of the log that follows it.

    Attributes:
        replaced: The places of the segments that it replaces.
        span: The logs whose entries it holds.
        segment: The temporary name of its file.
        log: The temporary name of the next log; None: the log is not replaced.
        tables: Its content.
    """

    replaced: range
    span: Span
    segment: Path
    log: Path | None
    tables: Tables


class IndexDirectory:
    """The files of an index, changed in an order in which a crash does no harm.

    Files:
        index.lock: Locked while the directory is open; otherwise without meaning.
        00000001-00000004.seg: Segments; see ``index_files``.
        00000005.log: The entries that are in no segment yet.
        00000005.log.tail-1: A torn tail of the log, which was never promised; kept for inspection.
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
        lock = lock_directory(path, "an index", is_ours)
        try:
            directory = cls(path, lock)
            return directory, directory._read()
        except BaseException:
            lock.release()
            raise

    def _read(self) -> Content:
        try:
            layout = layout_of(file.name for file in self.path.iterdir())
        except LayoutError as error:
            raise IndexFileError(f"{self.path}: expected {error}; {REMEDY}") from None
        self._spans = layout.spans
        segments = [self._read_segment(span) for span in layout.spans]
        self._number = layout.log
        if not layout.log_exists:
            self._identity = self._identity or secrets.token_bytes(IDENTITY_BYTES)
            write_durably(self._log_path, [LogHeader(self._identity, self._number).empty_log()])
        content = self._read_log()
        # Only now is it certain that what replaces these files can be read.
        self._obsolete = layout.obsolete
        self.tidy_up()
        self._log = open_log(self._log_path, content.whole)
        return Content(segments, content.batches)

    @property
    def _log_path(self) -> Path:
        return self.path / log_name(self._number)

    def append(self, batch: Batch) -> None:
        """Make a batch durable in the log.

        Raises:
            OSError: The disk is full, or the like; the log is as it was.
        """
        batch.append_to(self._log)

    def stage(self, replaced: range, tables: Tables) -> StagedSegment:
        """Write a segment that shall replace neighbours.

        Args:
            replaced: The places of the segments; the log's is that after the last of them.
            tables: The content of the segment.

        Raises:
            OSError: The disk is full, or the like; nothing has changed.
            StorageError: There are no numbers left, and nothing has changed.
        """
        with_log = replaced.stop > len(self._spans)
        if with_log and self._number >= LAST_LOG:
            raise StorageError(f"{self.path}: its last log is full; add the rest to another index")
        spans = [*self._spans, Span(self._number, self._number)]
        span = Span(spans[replaced.start].first, spans[replaced.stop - 1].last)
        segment = stage_segment(self.path / span.name, SegmentLabel(self._identity, span), tables)
        try:
            log = self._stage_log() if with_log else None
        except BaseException:
            segment.unlink(missing_ok=True)
            raise
        return StagedSegment(replaced, span, segment, log, tables)

    def _stage_log(self) -> Path:
        """Write the next log under a temporary name."""
        number = self._number + 1
        empty = LogHeader(self._identity, number).empty_log()
        return write_temporary(self.path / log_name(number), [empty])

    def switch(self, staged: StagedSegment) -> Tables:
        """Let a segment replace its sources, and return it, mapped.

        Raises:
            StorageError: The directory must be opened again, which mends it.
        """
        path = self.path / staged.span.name
        places = slice(staged.replaced.start, staged.replaced.stop)
        try:
            put_in_place(staged.segment, path)
            # A single segment that was written again has kept its name.
            self._obsolete = [old.name for old in self._spans[places] if old != staged.span]
            self._spans[places] = [staged.span]
            if staged.log is not None:
                self._obsolete.append(self._log_path.name)
                self._log.close()
                self._number += 1
                put_in_place(staged.log, self._log_path)
                self._log = open_log(self._log_path, EMPTY)
            return map_tables(path, staged.tables)
        except OSError as error:
            raise StorageError(f"{self.path}: {error}; {HALF_WAY}") from error

    def tidy_up(self) -> None:
        """Remove the files that no longer count; what a crash leaves, the next opening removes."""
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
        label, tables = read_segment(path)
        if label.span != span:
            found = f"the one named {label.span.name}"
            raise unusable(path, "the segment of that name", found)
        self._check_identity(path, label.identity)
        return tables

    def _read_log(self) -> LogContent:
        path = self._log_path
        content = read_log(path)
        if content.header.number != self._number:
            raise unusable(path, f"log {self._number}", f"log {content.header.number}")
        self._check_identity(path, content.header.identity)
        return content

    def _check_identity(self, path: Path, identity: bytes) -> None:
        if identity != (self._identity or identity):
            raise unusable(path, "a file of this index", "a file of another index")
        self._identity = identity
