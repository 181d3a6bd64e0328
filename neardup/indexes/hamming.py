"""The index of fingerprints: what was added within a few bits of this one?"""

import os
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Self, SupportsIndex

import numpy as np
import numpy.typing as npt

from neardup.errors import ClosedError, ParameterError, StorageError
from neardup.indexes.arrays import (
    Rows,
    checked_fingerprint,
    checked_fingerprints,
    checked_id,
    checked_ids,
    checked_limit,
    checked_radius,
)
from neardup.indexes.batch import Matches, answers
from neardup.indexes.buffer import Buffer
from neardup.indexes.files.directory import IndexDirectory
from neardup.indexes.match import Found, Match, ordered
from neardup.indexes.merging import first_to_merge, merged, sorted_rows
from neardup.indexes.pigeonhole import blocks_of
from neardup.indexes.segment import Segment

__all__ = ["HammingIndex", "Match", "Matches"]

BUFFER_SIZE = 8192
"""Entries compared one and all by each query, before they are sorted into a segment."""

MAX_BUFFER_SIZE = 1 << 20


class HammingIndex:
    """Finds every stored fingerprint within a Hamming distance, and the ids stored with it.

    Complete: what lies within the radius is always found. An entry is a fingerprint with an id;
    ids may share a fingerprint, and an entry that is added twice is held and found twice.

    New entries are compared one and all; every 8,192 of them become a sorted, immutable segment,
    and segments of like size become one, so that there are O(log n) of them. A query looks up the
    query's 16-bit blocks in each (``pigeonhole``).

    Not for several threads at once. In memory it takes 33 bytes an entry, with a path 17 and 16
    more in the page cache.

    Args:
        path: The directory that keeps the index, made if absent; None: memory only. What is in it
            does not depend on the radius, so it may be opened with another one.
        radius: The largest distance of a match, 0..8 bits.
        buffer_size: How many entries are compared one and all, 1..2**20.

    Raises:
        ParameterError: The radius or the size of the buffer is out of range.
        IndexLockedError: The directory is open already.
        IndexFileError: A file in it is damaged, foreign, missing or of another version.

    Files: see :class:`~neardup.indexes.files.directory.IndexDirectory` and docs/formats.md.

    Reference: Manku, Jain, Das Sarma, WWW 2007, section 3; O'Neil et al., Acta Informatica 33,
    1996, for the merging.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        radius: int = 3,
        buffer_size: int = BUFFER_SIZE,
    ) -> None:
        self.radius = checked_radius(radius)
        if not 1 <= buffer_size <= MAX_BUFFER_SIZE:
            raise ParameterError(f"buffer_size must be 1..{MAX_BUFFER_SIZE}, got {buffer_size}")
        self._segments: list[Segment] = []
        self._buffer = Buffer(buffer_size)
        self._max_id = -1
        self._closed = False
        self._half_way = False
        self._directory: IndexDirectory | None = None
        if path is not None:
            self._open(Path(path))

    def __len__(self) -> int:
        return sum(map(len, self._segments)) + len(self._buffer)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def max_id(self) -> int:
        """The largest id held, -1 when there is none.

        With ids that only grow, whatever is above it is to be added again after a crash.
        """
        return self._max_id

    @property
    def size_bytes(self) -> int:
        """Bytes of memory that entries and tables take, mapped files included."""
        rows = sum(part.nbytes for segment in self._segments for part in segment.rows)
        tables = sum(segment.tables.size_bytes for segment in self._segments)
        return rows + tables + self._buffer.size_bytes

    def add(self, fingerprint: SupportsIndex, id: SupportsIndex) -> None:  # noqa: A002  (the index's word)
        """Hold one more entry, found from now on and durable after the next :meth:`flush`.

        Raises:
            FingerprintError: The fingerprint does not fit in 64 bits.
            DocumentError: The id is negative or does not fit in 63 bits.
            ClosedError: The index is closed.

        Complexity: O(log n) amortised; one call in ``buffer_size`` sorts, and merges segments.
        """
        value, number = checked_fingerprint(fingerprint), checked_id(id)
        self._check_usable()
        if not self._buffer.room_for(1):
            self._seal(self._buffer.rows())
        self._buffer.append(value, number)
        self._max_id = max(self._max_id, number)

    def add_many(self, fingerprints: npt.ArrayLike, ids: npt.ArrayLike) -> None:
        """Hold many entries, all or none.

        Args:
            fingerprints: Integers of 0..2**64-1, (documents,).
            ids: Integers of 0..2**63-1, (documents,).

        Raises:
            FingerprintError: A fingerprint does not fit in 64 bits.
            DocumentError: An id is negative or does not fit in 63 bits.
            ParameterError: There are more of one than of the other.
            ClosedError: The index is closed.
        """
        rows = Rows(checked_fingerprints(fingerprints), checked_ids(ids))
        if len(rows.fingerprints) != len(rows.ids):
            counts = f"{len(rows.fingerprints)} fingerprints and {len(rows.ids)} ids"
            raise ParameterError(f"one id for each fingerprint expected, got {counts}")
        self._check_usable()
        if not len(rows.ids):
            return
        if self._buffer.room_for(len(rows.ids)):
            self._buffer.extend(rows)
        else:
            self._seal(_joined([self._buffer.rows(), rows]))
        self._max_id = max(self._max_id, int(rows.ids.max()))

    def query(self, fingerprint: SupportsIndex, *, limit: int | None = None) -> list[Match]:
        """Find the entries within the radius, nearest first, then by id.

        Complete: every such entry is returned, or the first ``limit`` of them.

        Args:
            fingerprint: 0..2**64-1.
            limit: At most so many. A fingerprint shared by 100,000 ids is 100,000 matches, which
                takes 40 ms to list and 0.1 ms to list the first ten of.

        Raises:
            FingerprintError: The fingerprint does not fit in 64 bits.
            ParameterError: The limit is below 1.
            ClosedError: The index is closed.

        Complexity: O(log n * (4 + n / 2**14) + buffer_size + matches) for fingerprints that are
        spread evenly; never more than O(n).
        """
        value, at_most = checked_fingerprint(fingerprint), checked_limit(limit)
        self._check_usable()
        return ordered(self._near(value, at_most), at_most)

    def query_many(self, fingerprints: npt.ArrayLike) -> Matches:
        """Answer many queries at once, each as :meth:`query` does.

        Args:
            fingerprints: Integers of 0..2**64-1, (queries,).

        Raises:
            FingerprintError: A fingerprint does not fit in 64 bits.
            ClosedError: The index is closed.
        """
        values = checked_fingerprints(fingerprints)
        self._check_usable()
        segments = self._segments
        if len(self._buffer):
            segments = [*segments, Segment(sorted_rows(self._buffer.rows()))]
        return answers(segments, values, self.radius)

    def flush(self) -> None:
        """Make all entries durable: afterwards they survive a crash of process or machine.

        Raises:
            OSError: The disk is full, or the like; the entries are still held, so try again.
            ClosedError: The index is closed.
        """
        self._check_usable()
        if self._directory is not None:
            fresh = self._buffer.rows(self._directory.logged)
            if len(fresh.ids):
                self._directory.append(fresh)

    def close(self) -> None:
        """Flush, and let go of the directory; a second call does nothing."""
        if self._closed:
            return
        try:
            if not self._half_way:
                self.flush()
        finally:
            self._let_go()

    def abandon(self) -> None:
        """Let go of the directory without a flush, as a killed process would.

        For an owner whose store failed, so that what was added since the last flush
        belongs to nothing that is stored.
        """
        if not self._closed:
            self._let_go()

    def _let_go(self) -> None:
        self._closed = True
        self._segments = []
        self._buffer.clear()
        if self._directory is not None:
            self._directory.close()

    def _open(self, path: Path) -> None:
        self._directory, content = IndexDirectory.opened(path)
        try:
            self._segments = [Segment(rows) for rows in content.segments]
            held = [*content.segments, content.logged]
            self._max_id = max((int(rows.ids.max()) for rows in held if len(rows.ids)), default=-1)
            if self._buffer.room_for(len(content.logged.ids)):
                self._buffer.extend(content.logged)
            else:
                self._seal(content.logged)
        except BaseException:
            self._directory.close()
            raise

    def _near(self, value: int, limit: int | None) -> list[Found]:
        number, blocks = np.uint64(value), blocks_of(value)
        found = [self._buffer.near(number, self.radius)]
        found += [segment.near(number, blocks, self.radius, limit) for segment in self._segments]
        return [part for part in found if part is not None]

    def _seal(self, fresh: Rows) -> None:
        """Turn the fresh rows, of which the buffer's are part, into a segment.

        Until the switch a failure changes nothing; during it, the directory is ahead of us.
        """
        first = first_to_merge([len(segment) for segment in self._segments], len(fresh.ids))
        older = [segment.rows for segment in self._segments[first:]]
        segment = Segment(merged([*older, sorted_rows(fresh)]))
        if self._directory is not None:
            staged = self._directory.stage(segment.rows, len(older))
            self._half_way = True
            segment = Segment(self._directory.switch(staged), segment.tables)
        del older
        self._segments = [*self._segments[:first], segment]
        self._buffer.clear()
        self._half_way = False
        if self._directory is not None:
            self._directory.sweep()

    def _check_usable(self) -> None:
        if self._closed:
            raise ClosedError("the index is closed")
        if self._half_way:
            raise StorageError("the index failed half way through a write; open it again")


def _joined(parts: Iterable[Rows]) -> Rows:
    fingerprints, ids = zip(*parts, strict=True)
    return Rows(np.concatenate(fingerprints), np.concatenate(ids))
