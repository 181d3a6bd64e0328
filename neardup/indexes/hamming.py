"""The index of fingerprints: what was added within a few bits of this one?"""

import os
from pathlib import Path
from typing import SupportsIndex

import numpy.typing as npt

from neardup.checks import checked_whole
from neardup.errors import ClosedError, ParameterError, StorageError
from neardup.files.durable import Closing
from neardup.files.sealed import HALF_WAY
from neardup.indexes.arrays import (
    MAX_FINGERPRINT,
    Ids,
    Match,
    Matches,
    Rows,
    checked_fingerprint,
    checked_fingerprints,
    checked_id,
    checked_ids,
    checked_limit,
    checked_radius,
)
from neardup.indexes.index_engine import Engine

BUFFER_SIZE = 8192
"""The number of entries that each query compares one by one before they become a segment."""

MAX_BUFFER_SIZE = 1 << 20
MAX_AT_ONCE = 1 << 31

UNLIMITED = 1 << 40
"""The limit that stands for none: no index has this many entries, and the compiled search adds
limits up in 63 bits.
"""


class HammingIndex(Closing):
    """Finds every stored fingerprint within a Hamming distance, and the ids stored with it.

    Complete: what lies within the radius is always found. An entry is a fingerprint with an id;
    ids may share a fingerprint, and an entry that is added twice is held and found twice.

    New entries are compared one and all; every 8,192 of them become an immutable segment of four
    sorted tables, together with segments of like size, up to a million rows. So there are O(log n)
    segments, and one or two for each million entries. A query looks up its 16-bit blocks in each.

    Not for several threads at once. An entry takes 33 bytes of memory, with a path as many on disk
    and none but the page cache's in memory.

    Args:
        path: The directory that keeps the index, made if absent; None: memory only. What is in it
            does not depend on the radius, so it may be opened with another one.
        radius: The largest distance of a match, 0..8 bits.
        buffer_size: The number of entries that are compared one and all, 1..2**20.

    Raises:
        ParameterError: The radius or the size of the buffer is out of range.
        IndexLockedError: The directory is open already.
        IndexFileError: A file in it is damaged, foreign, missing or of another version.

    Files: see :class:`~neardup.indexes.index_directory.IndexDirectory` and docs/formats.md.

    Complexity: opening reads every byte once: 2 ms a million entries from the page cache.

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
        self._radius = checked_radius(radius)
        capacity = checked_whole("buffer_size", buffer_size, 1, MAX_BUFFER_SIZE)
        self._closed = False
        self._engine = Engine(None if path is None else Path(path), self._radius, capacity)
        self._search = self._engine.search

    def __len__(self) -> int:
        return len(self._engine)

    @property
    def radius(self) -> int:
        """The largest distance of a match, in bits; may be set, smaller or larger, at any time.

        Raises:
            ParameterError: It is set to what is no whole number of 0..8.
        """
        return self._radius

    @radius.setter
    def radius(self, bits: SupportsIndex) -> None:
        self._radius = self._search.radius = checked_radius(bits)

    @property
    def max_id(self) -> int:
        """The largest id held, -1 when there is none.

        With ids that only grow, whatever is above it is to be added again after a crash.
        """
        return self._engine.max_id

    @property
    def size_bytes(self) -> int:
        """Bytes of memory that entries and tables take, mapped files included."""
        return self._engine.size_bytes

    def add(self, fingerprint: SupportsIndex, id: SupportsIndex) -> None:  # noqa: A002  (the index's word)
        """Hold one more entry, found from now on and durable after the next :meth:`flush`.

        Raises:
            FingerprintError: The fingerprint does not fit in 64 bits.
            DocumentError: The id is negative or does not fit in 63 bits.
            OSError: The disk is full, or the like; the entry is not held, so try again.
            StorageError: A write failed half way, which leaves nothing but closing to do. Open the
                index again: it may hold additions made after the last flush.
            ClosedError: The index is closed.

        Complexity: O(log n) amortised. One call in ``buffer_size`` makes a segment of the buffer
        and the segments to merge with it: up to a million rows, which takes 0.1 to 0.2 s and 80
        bytes a row. With a path the same call writes and syncs the segment, up to 35 MB. It takes
        longer after deletions: see :meth:`delete`.
        """
        value, number = checked_fingerprint(fingerprint), checked_id(id)
        self._check_usable()
        self._engine.add(value, number)

    def add_many(self, fingerprints: npt.ArrayLike, ids: npt.ArrayLike) -> None:
        """Hold many entries, all or none.

        More than the buffer has room for become a segment at once.

        Args:
            fingerprints: Integers of 0..2**64-1, (documents,).
            ids: Integers of 0..2**63-1, (documents,).

        Raises:
            FingerprintError: A fingerprint does not fit in 64 bits.
            DocumentError: An id is negative or does not fit in 63 bits.
            ParameterError: There are more of one than of the other, or more than 2**31.
            OSError: The disk is full, or the like; nothing is held, so try again.
            StorageError: A write failed half way, which leaves nothing but closing to do. Open the
                index again: it may hold them, and what was added since the last flush.
            ClosedError: The index is closed.

        Complexity: O(n log n), about 0.2 seconds a million.
        """
        rows = Rows(checked_fingerprints(fingerprints), checked_ids(ids))
        if len(rows.fingerprints) != len(rows.ids):
            counts = f"{len(rows.fingerprints)} fingerprints and {len(rows.ids)} ids"
            raise ParameterError(f"one id for each fingerprint expected, got {counts}")
        if len(rows.ids) > MAX_AT_ONCE:
            raise ParameterError(f"at most {MAX_AT_ONCE} entries at once, got {len(rows.ids)}")
        self._check_usable()
        if len(rows.ids):
            self._engine.extend(rows)

    def delete(self, id: SupportsIndex) -> int:  # noqa: A002  (the index's word)
        """Remove all entries of an id; durable after the next :meth:`flush`.

        The id may be added again at once. When the buffer becomes a segment, each segment that is
        more than half deleted is written again without that, however large it is: the index
        then stores at most three rows for each entry that counts, those that name deleted entries
        included. The call that does so takes about 0.1 seconds for a million rows that it writes.
        Deletions alone fill the buffer too.

        Returns:
            How many entries it had.

        Raises:
            DocumentError: The id is negative or does not fit in 63 bits.
            OSError: The disk is full, or the like; nothing is deleted, so try again.
            StorageError: A write failed half way, as for :meth:`add`; nothing is deleted.
            ClosedError: The index is closed.

        Complexity: O(n), 1 ms a million entries: ids are sorted by fingerprint, and all are read.
        """
        number = checked_id(id)
        self._check_usable()
        return self._engine.delete(number)

    def query(self, fingerprint: SupportsIndex, *, limit: int | None = None) -> list[Match]:
        """Find the entries within ``radius`` bits of a fingerprint, nearest first, then by id.

        Complete: every such entry is returned, or the first ``limit`` of them.

        Args:
            fingerprint: 0..2**64-1.
            limit: The largest number of matches to return; None: all. A fingerprint shared by
                100,000 ids has 100,000 matches: all of them take 40 ms to list, the first ten 10
                microseconds.

        Raises:
            FingerprintError: The fingerprint does not fit in 64 bits.
            ParameterError: The limit is below 1.
            ClosedError: The index is closed.

        Complexity: O(4 * segments + n / 2**14 + buffer_size + matches) for fingerprints that are
        spread evenly and a radius of 3, about 1 microsecond a segment; never more than O(n).
        """
        if type(fingerprint) is not int or not 0 <= fingerprint <= MAX_FINGERPRINT:
            fingerprint = checked_fingerprint(fingerprint)
        at_most = checked_limit(limit, UNLIMITED)
        if self._closed or self._engine.half_way:
            self._check_usable()
        return self._search.query(fingerprint, at_most)

    def query_ids(
        self, fingerprint: SupportsIndex, max_distance: int, *, limit: int | None = None
    ) -> Ids:
        """Return the ids of the entries that :meth:`query` finds, in its order: int64, (matches,).

        Those beyond ``max_distance`` are left out, though they count for the limit.

        Raises and complexity: as for :meth:`query`; a thousand ids take a hundredth of the time.
        """
        value, at_most = checked_fingerprint(fingerprint), checked_limit(limit, UNLIMITED)
        self._check_usable()
        return self._search.query_ids(value, at_most, max_distance)

    def query_many(self, fingerprints: npt.ArrayLike, *, limit: int | None = None) -> Matches:
        """Answer many queries at once, each as :meth:`query` does, in a third of the time.

        Args:
            fingerprints: Integers of 0..2**64-1, (queries,).
            limit: The largest number of matches of each query; None: all.

        Raises:
            FingerprintError: A fingerprint does not fit in 64 bits.
            ParameterError: The limit is below 1.
            ClosedError: The index is closed.

        Memory: 17 bytes a match for the answer, 16 to 32 while it is put together, and 8 bytes a
        query; matches may be as many as queries times entries, which a ``limit`` prevents.
        """
        values = checked_fingerprints(fingerprints)
        at_most = checked_limit(limit, UNLIMITED)
        self._check_usable()
        return self._search.query_many(values, at_most)

    def flush(self) -> None:
        """Make all changes durable: afterwards they survive a crash of process or machine.

        Raises:
            OSError: The disk is full, or the like; the changes are still held, so try again.
            ClosedError: The index is closed.
        """
        self._check_usable()
        self._engine.flush()

    def close(self) -> None:
        """Flush, and let go of the directory; a second call does nothing."""
        if self._closed:
            return
        try:
            if not self._engine.half_way:
                self._engine.flush()
        finally:
            self.abandon()

    def abandon(self) -> None:
        """Let go of the directory without a flush, as a killed process would.

        For an owner whose store failed, so that what was added since the last flush
        belongs to nothing that is stored.
        """
        if not self._closed:
            self._closed = True
            self._engine.close()

    def _check_usable(self) -> None:
        if self._closed:
            raise ClosedError("the index is closed")
        if self._engine.half_way:
            raise StorageError(HALF_WAY)
