"""The index of signatures: which texts were added that are about as similar as this one?"""

from typing import NamedTuple, SupportsIndex

import numpy as np
import numpy.typing as npt

from neardup.errors import FingerprintError, ParameterError
from neardup.features.shingles import distinct
from neardup.fingerprints.limits import MAX_VALUES, checked_whole
from neardup.indexes.arrays import Ids, Positions, checked_id, checked_ids
from neardup.indexes.banding import Banding, banding
from neardup.indexes.bands import FRESH, BandTables, FreshBands
from neardup.indexes.signatures import BandKeys, Signatures, SignatureStore, checked_signatures

MIN_RECALL = 0.95
_QUERIES_AT_ONCE = 1 << 14
"""The more there are, the nearer in the tables is each to the next: at 100,000 documents 1.9 us a
query, with 4,096 at once 2.6, with 1,024 3.4."""

_PAIRS_AT_ONCE = 1 << 22
_COMPARED_AT_ONCE = 1 << 21


class Candidate(NamedTuple):
    """A stored text that shares a band with the one asked for.

    Attributes:
        id: The id that it was added with.
        similarity: The share of values in which the signatures agree, an estimate of the Jaccard
            similarity.
    """

    id: int
    similarity: float


class Candidates(NamedTuple):
    """The answers to many queries, by query, then most similar first, then by id.

    Attributes:
        positions: int64, (candidates,): which of the signatures asked for.
        ids: int64, (candidates,).
        similarities: float64, (candidates,).
    """

    positions: Positions
    ids: Ids
    similarities: npt.NDArray[np.float64]


class LshIndex:
    """Finds stored texts of at least some similarity, most of them, by locality-sensitive hashing.

    A signature is cut into ``bands`` of ``rows`` values; texts that agree in all values of a band
    are candidates. Of pairs at ``min_similarity`` at least ``min_recall`` are, of more similar
    pairs more: :meth:`collision_rate`. Complete in this: every text that shares a band is returned,
    and of those that share none one in 2**32 a band.

    An entry is a signature with an id; one that is added twice is held and found twice. In memory
    only, up to 2**32 entries, and not for several threads at once.

    Memory: 4 * permutations + 8 * bands + 8 bytes a document (664 for 128 permutations and a
    similarity of .8), half of it more just after the arrays have grown, and 3 kB for each of the
    newest 1,024.

    Args:
        min_similarity: Jaccard similarity from which texts are wanted, above 0, up to 1.
        permutations: Values of each signature, 1 to 65,536.
        min_recall: The share of pairs at ``min_similarity`` to be found, between 0 and 1.
        shape: The bands and rows to use; None: they are chosen (:func:`banding`).

    Raises:
        ParameterError: A number is out of range, or no bands find that many.

    Reference: Leskovec, Rajaraman, Ullman, Mining of Massive Datasets, section 3.4.
    """

    def __init__(
        self,
        min_similarity: float,
        *,
        permutations: int = 128,
        min_recall: float = MIN_RECALL,
        shape: tuple[int, int] | None = None,
    ) -> None:
        self.permutations = checked_whole("permutations", permutations, 1, MAX_VALUES)
        chosen = banding(min_similarity, self.permutations, min_recall) if shape is None else shape
        self.min_similarity = min_similarity
        self.shape = _checked_shape(chosen, self.permutations)
        self._keys = BandKeys(self.shape)
        self._store = SignatureStore(self.permutations)
        self._tables = BandTables()
        self._fresh = FreshBands()
        # Rows before the first number are in the tables, before the second in the dict.
        self._sorted, self._known = 0, 0

    def __len__(self) -> int:
        return len(self._store)

    @property
    def bands(self) -> int:
        """Bands of a signature."""
        return self.shape.bands

    @property
    def rows(self) -> int:
        """Values of a band."""
        return self.shape.rows

    @property
    def size_bytes(self) -> int:
        """Bytes of memory that signatures, ids and sorted tables take."""
        return self._store.size_bytes + self._tables.size_bytes

    def collision_rate(self, similarity: float) -> float:
        """Return the chance that a pair of that similarity is found: 1 - (1 - s**rows)**bands.

        Raises:
            ParameterError: The similarity is not 0 to 1.
        """
        return self.shape.collision_rate(similarity)

    def add(self, signature: Signatures, id: SupportsIndex) -> None:  # noqa: A002  (the index's word)
        """Hold one more entry, found from now on.

        Args:
            signature: uint32, (permutations,), as ``minhash`` returns it.
            id: 0..2**63-1.

        Raises:
            FingerprintError: It is no signature of so many values.
            DocumentError: The id is negative or does not fit in 63 bits.

        Complexity: O(permutations + bands * log n) amortised; one call in 1,024 sorts.
        """
        self._store.append(self._checked(signature), checked_id(id))
        if len(self._store) - self._sorted >= FRESH:
            self._sort()

    def add_many(self, signatures: Signatures, ids: npt.ArrayLike) -> None:
        """Hold many entries, all or none.

        Args:
            signatures: uint32, (documents, permutations), as ``minhash_many`` returns them.
            ids: Integers of 0..2**63-1, (documents,).

        Raises:
            FingerprintError: They are no signatures of so many values.
            DocumentError: An id is negative or does not fit in 63 bits.
            ParameterError: There are more of one than of the other.
        """
        values, numbers = checked_signatures(signatures, self.permutations), checked_ids(ids)
        if len(values) != len(numbers):
            counts = f"{len(values)} signatures and {len(numbers)} ids"
            raise ParameterError(f"one id for each signature expected, got {counts}")
        self._store.extend(values, numbers)
        if len(self._store) - self._sorted >= FRESH:
            self._sort()

    def query(
        self, signature: Signatures, *, min_similarity: float | None = None
    ) -> list[Candidate]:
        """Find the entries that share a band, most similar first, then by id.

        Args:
            signature: uint32, (permutations,).
            min_similarity: Leave out what is estimated below it. An estimate is as often too low
                as too high: asked for .8 here, half of the pairs at .8 are left out.

        Raises:
            FingerprintError: It is no signature of so many values.
            ParameterError: ``min_similarity`` is not 0 to 1.

        Complexity: O(permutations + bands * log(n)**2 + candidates * permutations).
        """
        value = self._checked(signature)
        _check_share(min_similarity)
        self._remember()
        keys = self._keys.of(value[np.newaxis])[0]
        found = self._tables.rows(keys)
        if fresh := self._fresh.rows(keys):
            found.append(np.array(fresh))
        if not found:
            return []
        rows = _distinct(np.concatenate(found))
        answer = self._compared(value[np.newaxis], np.zeros_like(rows), rows, min_similarity)
        return list(map(Candidate, answer.ids.tolist(), answer.similarities.tolist()))

    def query_many(
        self, signatures: Signatures, *, min_similarity: float | None = None
    ) -> Candidates:
        """Answer many queries at once, each as :meth:`query` does.

        Args:
            signatures: uint32, (queries, permutations).
            min_similarity: Leave out what is estimated below it.

        Measured at 100,000 documents: 2 to 4 us a query, where :meth:`query` takes 30 to 45, nearly
        all of it for the calls of NumPy.

        Raises:
            FingerprintError: They are no signatures of so many values.
            ParameterError: ``min_similarity`` is not 0 to 1.
        """
        values = checked_signatures(signatures, self.permutations)
        _check_share(min_similarity)
        self._sort()
        parts = [
            part
            for start in range(0, len(values), _QUERIES_AT_ONCE)
            for part in self._answers(
                values[start : start + _QUERIES_AT_ONCE], start, min_similarity
            )
        ]
        return Candidates(
            np.concatenate([np.zeros(0, np.int64), *(part.positions for part in parts)]),
            np.concatenate([np.zeros(0, np.int64), *(part.ids for part in parts)]),
            np.concatenate([np.zeros(0), *(part.similarities for part in parts)]),
        )

    def _answers(
        self, values: Signatures, start: int, min_similarity: float | None
    ) -> list[Candidates]:
        """Answer the queries, of which the first stands at ``start``; half of them if too many."""
        spans = self._tables.spans(self._keys.of(values))
        if spans.count > _PAIRS_AT_ONCE and len(values) > 1:
            half = len(values) // 2
            first = self._answers(values[:half], start, min_similarity)
            return first + self._answers(values[half:], start + half, min_similarity)
        pairs = spans.pairs()
        if not pairs:
            return []
        positions = np.concatenate([pair.positions for pair in pairs])
        rows = np.concatenate([pair.rows for pair in pairs])
        # Texts may share several bands. There are at most 2**32 rows and few queries.
        once = _distinct(positions << 32 | rows)
        answer = self._compared(values, once >> 32, once & 0xFFFFFFFF, min_similarity)
        return [answer._replace(positions=answer.positions + start)]

    def _compared(
        self,
        values: Signatures,
        positions: Positions,
        rows: Positions,
        min_similarity: float | None,
    ) -> Candidates:
        """Compare queries with documents, pair by pair, and put the pairs in order."""
        step = max(1, _COMPARED_AT_ONCE // self.permutations)
        similarities = np.empty(len(rows))
        for start in range(0, len(rows), step):
            some = slice(start, start + step)
            equal = self._store.signatures[rows[some]] == values[positions[some]]
            similarities[some] = equal.sum(axis=1)
        similarities /= self.permutations
        ids = self._store.ids[rows]
        if min_similarity is not None:
            keep = similarities >= min_similarity
            positions, ids, similarities = positions[keep], ids[keep], similarities[keep]
        if len(ids) > 1:
            order = np.lexsort((ids, -similarities, positions))
            positions, ids, similarities = positions[order], ids[order], similarities[order]
        return Candidates(positions, ids, similarities)

    def _remember(self) -> None:
        """Put what was added since the last question into the dict."""
        if self._known < len(self._store):
            self._fresh.add(self._keys.of(self._store.signatures[self._known :]), self._known)
            self._known = len(self._store)

    def _sort(self) -> None:
        """Put all that is not in the tables into them."""
        if self._sorted < len(self._store):
            self._tables.add(self._keys.of(self._store.signatures[self._sorted :]), self._sorted)
        self._sorted = self._known = len(self._store)
        self._fresh.clear()

    def _checked(self, signature: Signatures) -> Signatures:
        if (
            isinstance(signature, np.ndarray)
            and signature.dtype == np.uint32
            and signature.shape == (self.permutations,)
        ):
            return signature
        shown = np.asarray(signature)
        raise FingerprintError(
            f"a signature must be uint32, ({self.permutations},), got {shown.dtype}, {shown.shape}"
        )


def _checked_shape(shape: tuple[int, int], permutations: int) -> Banding:
    rows = checked_whole("rows", shape[1], 1, permutations)
    return Banding(checked_whole("bands", shape[0], 1, permutations // rows), rows)


def _distinct(values: Positions) -> Positions:
    """Return the distinct values, none of which is negative, ascending."""
    return distinct(values.view(np.uint64)).view(np.int64)


def _check_share(min_similarity: float | None) -> None:
    if min_similarity is not None and not 0 <= min_similarity <= 1:
        raise ParameterError(f"min_similarity must be 0..1, got {min_similarity!r}")
