"""The index of signatures: which texts were added that are about as similar as this one?"""

import operator
import os
from bisect import bisect_right
from pathlib import Path
from typing import NamedTuple, SupportsIndex

import numpy as np
import numpy.typing as npt

from neardup.errors import ClosedError, ParameterError
from neardup.features.shingles import JACCARD_SIZE
from neardup.files.durable import Closing
from neardup.indexes.arrays import (
    Ids,
    Positions,
    Signatures,
    checked_id,
    checked_ids,
    checked_limit,
    checked_signature,
    checked_signatures,
)
from neardup.indexes.lsh_file import Asked, SignatureDirectory
from neardup.indexes.lsh_tables import MAX_ROWS, LshTables

MIN_RECALL = 0.95

FRESH = 8192
"""The number of documents that may wait for a flush; then the next ``add`` flushes by itself."""

BATCH_ROWS = 1 << 16
"""The largest number of rows in a batch: 10 MB with 128 permutations in 18 bands."""

UNLIMITED = 1 << 30
"""The limit that stands for none: no index has this many entries."""


class Candidate(NamedTuple):
    """A stored text that shares a band with the one asked for.

    Attributes:
        id: The id that it was added with.
        similarity: An estimate of the Jaccard similarity, from four bits of each value. Its
            standard error is sqrt(p (1 - p) / permutations) * 16 / 15, where p is
            (1 + 15 * similarity) / 16: for 128 permutations .037 at .8, where whole values have
            .035.
    """

    id: int
    similarity: float


_candidate = tuple.__new__
"""Makes a candidate in a third of the time that the class takes."""


class LshCandidates(NamedTuple):
    """The answers to many queries, by query, then most similar first, then by id.

    Attributes:
        positions: int64, (candidates,): which of the signatures asked for.
        ids: int64, (candidates,).
        similarities: float64, (candidates,).
    """

    positions: Positions
    ids: Ids
    similarities: npt.NDArray[np.float64]


class LshIndex(Closing):
    """Finds most stored texts of at least a given similarity, by locality-sensitive hashing.

    A signature is cut into ``bands`` of ``rows`` values; texts that agree in all values of a band
    are candidates. At least ``min_recall`` of the pairs at ``min_similarity`` are candidates, and
    more of the more similar pairs: ``Banding.collision_rate``. Every text that shares a band is
    returned, and one in 2**32 a band of the other texts.

    An entry is an id with a signature; four bits of each value and 32 bits of each band are kept.
    An entry that is added twice is stored and found twice. Entries are removed by :meth:`retain`
    alone. An index holds fewer than 2**28 entries and serves one thread at a time.

    Args:
        min_similarity: Jaccard similarity from which texts are wanted, above 0, up to 1; None: that
            of the files, or what ``shape`` finds with ``min_recall``.
        path: The directory that keeps the index, made if absent; None: memory only.
        permutations: Values of each signature, 1 to 65,536; None: those of the files, or 128.
        min_recall: The share of pairs at ``min_similarity`` to be found, between 0 and 1.
        shape: The bands, up to 1,024, and rows to use; None: they are chosen (:func:`banding`), or
            those of the files.
        shingle_size: The size of the shingles that ``minhash`` signed. The files
            remember it, since signatures of other shingles find nothing.

    Raises:
        ParameterError: A number is out of range, no bands find that many, or the files hold
            documents of other permutations, bands or shingles.
        IndexLockedError: The directory is open already.
        IndexFileError: A file in it is damaged, foreign or of another version.

    Files: see :class:`~neardup.indexes.lsh_file.SignatureDirectory` and docs/lsh_format.md.

    Reference: Leskovec, Rajaraman, Ullman, Mining of Massive Datasets, section 3.4; for the tables
    Litwin, Linear hashing, VLDB 1980; for the estimate Li, Koenig, b-bit minwise hashing, WWW 2010.
    """

    def __init__(
        self,
        min_similarity: float | None = None,
        *,
        path: str | os.PathLike[str] | None = None,
        permutations: int | None = None,
        min_recall: float = MIN_RECALL,
        shape: tuple[int, int] | None = None,
        shingle_size: int = JACCARD_SIZE,
    ) -> None:
        asked = Asked(min_similarity, permutations, min_recall, shape, shingle_size)
        self._directory = None if path is None else SignatureDirectory(Path(path), asked)
        header = asked.header() if self._directory is None else self._directory.header
        self.permutations, self.shape = header.permutations, header.shape
        self.min_similarity = header.min_similarity
        self._similarities = [
            max(0.0, 1.0 - unequal * 16 / 15 / self.permutations)
            for unequal in range(self.permutations + 1)
        ]
        self._tables = LshTables(self.permutations, *self.shape)
        if self._directory is not None:
            try:
                self._directory.restore(self._tables)
            except BaseException:
                self._directory.close()
                raise
        self._flushed = len(self._tables)

    def __len__(self) -> int:
        return len(self._tables)

    @property
    def size_bytes(self) -> int:
        """Bytes of memory set aside: those that nothing was written to yet take none.

        About 290 a document for 128 permutations in 18 bands.
        """
        return self._tables.size_bytes

    def add(self, signature: Signatures, id: SupportsIndex) -> None:  # noqa: A002  (the index's word)
        """Hold one more entry, found from now on and durable after the next :meth:`flush`.

        Args:
            signature: uint32, (permutations,), as ``minhash`` returns it.
            id: 0..2**63-1.

        Raises:
            FingerprintError: It is no signature of ``permutations`` values.
            DocumentError: The id is negative or does not fit in 63 bits, or the index is full.
            ClosedError: The index is closed.
            OSError: 8,192 entries wait for a flush that failed; nothing was added.

        Complexity: O(permutations + bands) amortised: one call divides the texts of a bucket, which
            are all where a band is shared by all. With a path, one call in 8,192 without a flush
            waits for the disk.
        """
        number = checked_id(id)
        if self._directory is not None:
            self._flush_if_due()
        try:
            self._tables.add(signature, number)
        except (TypeError, ValueError):  # it is no array of uint32 in one piece
            self._tables.add(checked_signature(signature, self.permutations), number)

    def add_many(self, signatures: Signatures, ids: npt.ArrayLike) -> None:
        """Hold many entries, all or none.

        Args:
            signatures: uint32, (documents, permutations), as ``minhash_many`` returns them.
            ids: Integers of 0..2**63-1, (documents,); an ``int`` is the id of all.

        Raises:
            FingerprintError: They are no signatures of ``permutations`` values.
            DocumentError: An id is negative or does not fit in 63 bits, or the index is full.
            ParameterError: There are more of one than of the other.
            ClosedError: The index is closed.
            OSError: As for :meth:`add`.
        """
        values = checked_signatures(signatures, self.permutations)
        numbers = np.full(len(values), checked_id(ids)) if type(ids) is int else checked_ids(ids)
        if len(values) != len(numbers):
            counts = f"{len(values)} signatures and {len(numbers)} ids"
            raise ParameterError(f"one id for each signature expected, got {counts}")
        self._flush_if_due()
        self._tables.add_many(values, np.ascontiguousarray(numbers))

    def has_room(self, count: int) -> bool:
        """Whether ``count`` more entries fit; a closed index raises ClosedError."""
        self._check_open()
        return len(self._tables) + count <= MAX_ROWS

    def query(
        self,
        signature: Signatures,
        *,
        min_similarity: float | None = None,
        limit: int | None = None,
    ) -> list[Candidate]:
        """Find the entries that share a band, most similar first, then by id.

        Args:
            signature: uint32, (permutations,).
            min_similarity: Leave out what is estimated below it. An estimate is as often too low
                as too high: asked for .8 here, half of the pairs at .8 are left out.
            limit: The largest number of candidates to return, and of entries to look at in a band;
                it is left open which ones these are. None: all. A page shared by 100,000 entries
                takes 0.1 s to list, and with a limit of ten 20 microseconds.

        Raises:
            FingerprintError: It is no signature of ``permutations`` values.
            ParameterError: ``min_similarity`` is not 0 to 1, or the limit is below 1.
            ClosedError: The index is closed.

        Complexity: O(permutations + bands + candidates * (permutations / 16 + log(candidates))),
        with a limit O(permutations + bands * limit).
        """
        tables, bounds = self._tables, self._bounds(min_similarity, limit)
        try:
            found = tables.find(signature, *bounds)
        except (TypeError, ValueError):  # it is no array of uint32 in one piece
            found = tables.find(checked_signature(signature, self.permutations), *bounds)
        similarities = self._similarities
        return [_candidate(Candidate, (number, similarities[unequal])) for number, unequal in found]

    def query_many(
        self,
        signatures: Signatures,
        *,
        min_similarity: float | None = None,
        limit: int | None = None,
    ) -> LshCandidates:
        """Answer many queries at once, each as :meth:`query` does.

        Args:
            signatures: uint32, (queries, permutations).
            min_similarity: Leave out what is estimated below it.
            limit: The largest number of candidates of each query, as for :meth:`query`.

        Raises:
            FingerprintError: They are no signatures of ``permutations`` values.
            ParameterError: ``min_similarity`` is not 0 to 1, or the limit is below 1.
            ClosedError: The index is closed.
        """
        values = checked_signatures(signatures, self.permutations)
        bounds = self._bounds(min_similarity, limit)
        positions, ids, unequal = self._tables.find_many(values, *bounds)
        return LshCandidates(positions, ids, np.array(self._similarities)[unequal])

    def query_many_ids(
        self,
        signatures: Signatures,
        *,
        min_similarity: float | None = None,
        limit: int | None = None,
    ) -> tuple[Positions, Ids]:
        """Return positions and ids of the matches of :meth:`query_many`; errors are the same."""
        values = checked_signatures(signatures, self.permutations)
        return self._tables.find_many(values, *self._bounds(min_similarity, limit))[:2]

    def ids(self) -> Ids:
        """Return the ids of all entries, in the order in which they came: int64, (entries,).

        Raises:
            ClosedError: The index is closed.
        """
        self._check_open()
        return self._tables.stored_rows(0, len(self)).ids

    def retain(self, ids: npt.ArrayLike) -> None:
        """Let go of all entries but those of some ids.

        Args:
            ids: Integers of 0..2**63-1.

        Raises:
            ClosedError: The index is closed.
            OSError: The disk is full, or the like. The index is then to be opened again.

        Complexity: O(n), and memory for the entries that are left. Until the last of them is
        written, the file holds some of them.
        """
        numbers = checked_ids(ids)
        self.flush()
        stored, keys, sketches = self._tables.stored_rows(0, len(self))
        is_kept = np.isin(stored, numbers)
        if self._directory is not None:
            self._directory.clear()
        self._tables = LshTables(self.permutations, *self.shape)
        self._tables.restore(stored[is_kept], keys[is_kept], sketches[is_kept])
        self._flushed = 0
        self.flush()

    def flush(self) -> None:
        """Make all entries durable: afterwards they survive a crash of process or machine.

        Raises:
            OSError: The disk is full, or the like; the entries are still held, so try again.
            ClosedError: The index is closed.
        """
        self._check_open()
        while self._directory is not None and self._flushed < len(self):
            end = min(len(self), self._flushed + BATCH_ROWS)
            self._directory.append(self._tables.stored_rows(self._flushed, end))
            self._flushed = end

    def close(self) -> None:
        """Flush, and let go of the directory and of all memory; a second call does nothing."""
        if self._tables.closed:
            return
        try:
            self.flush()
        finally:
            self.abandon()

    def abandon(self) -> None:
        """Let go of the directory without a flush, as a killed process would.

        For an owner whose store failed, so that what was added since the last flush
        belongs to nothing that is stored.
        """
        self._tables.close()
        if self._directory is not None:
            self._directory.close()

    def _flush_if_due(self) -> None:
        """Flush what waits for it too long."""
        if self._directory is not None and len(self._tables) - self._flushed >= FRESH:
            self.flush()

    def _bounds(self, min_similarity: float | None, limit: int | None) -> tuple[int, int]:
        """Return the largest number of candidates, and of values in which they may differ."""
        most = self.permutations
        if min_similarity is not None:
            if not 0 <= min_similarity <= 1:
                raise ParameterError(f"min_similarity must be 0..1, got {min_similarity!r}")
            most = bisect_right(self._similarities, -min_similarity, key=operator.neg) - 1
        return UNLIMITED if limit is None else checked_limit(limit, UNLIMITED), most

    def _check_open(self) -> None:
        if self._tables.closed:
            raise ClosedError("the index is closed")
