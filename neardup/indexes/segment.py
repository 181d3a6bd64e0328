"""An immutable, sorted part of an index that answers queries."""

import numpy as np
import numpy.typing as npt

from neardup.indexes.arrays import Distances, Fingerprints, Rows
from neardup.indexes.match import Found
from neardup.indexes.tables import Tables


class Segment:
    """Sorted rows with their tables.

    Args:
        rows: Sorted by fingerprint, then by id; never changed afterwards.
        tables: Those of equal rows; made when None.
    """

    def __init__(self, rows: Rows, tables: Tables | None = None) -> None:
        self.rows = rows
        self.tables = Tables(rows.fingerprints) if tables is None else tables
        self._distinct = self.tables.distinct == len(rows.ids)

    def __len__(self) -> int:
        return len(self.rows.ids)

    def near(
        self, value: np.uint64, blocks: tuple[int, ...], radius: int, limit: int | None
    ) -> Found | None:
        """Return all rows within the radius, or at least the ``limit`` nearest; None: no row.

        Args:
            value: The fingerprint.
            blocks: The same, cut into blocks.
            radius: In bits.
            limit: More matches than this are not wanted.
        """
        rows = self.tables.candidates(blocks, radius)
        fingerprints = self.rows.fingerprints
        looked_at = fingerprints if rows is None else fingerprints.take(rows)
        distances: Distances = np.bitwise_count(looked_at ^ value)
        hits = (distances <= radius).nonzero()[0]
        if not hits.size:
            return None
        if rows is None:
            return Found(self.rows.ids[hits], distances[hits])
        # The same row stands in several tables.
        heads, first = np.unique(rows[hits], return_index=True)
        return self._with_all_ids(heads, distances[hits[first]], limit)

    def near_many(
        self, values: Fingerprints, radius: int
    ) -> tuple[npt.NDArray[np.int64], Found, npt.NDArray[np.int64]]:
        """Return query positions and what was found, and the queries left to :meth:`near`.

        Args:
            values: uint64, (queries,).
            radius: In bits.
        """
        (positions, rows), left = self.tables.many(values, radius)
        distances = np.bitwise_count(self.rows.fingerprints[rows] ^ values[positions])
        hits = (distances <= radius).nonzero()[0]
        pairs, first = np.unique(
            positions[hits] * len(self) + rows[hits].astype(np.int64), return_index=True
        )
        heads, distances = pairs % max(1, len(self)), distances[hits[first]]
        counts = self._run_lengths(heads)
        found = Found(self._ids_of_runs(heads, counts), distances.repeat(counts))
        return (pairs // max(1, len(self))).repeat(counts), found, left

    def _with_all_ids(
        self, heads: npt.NDArray[np.integer], distances: Distances, limit: int | None
    ) -> Found:
        if self._distinct:
            return Found(self.rows.ids[heads], distances)
        counts = self._run_lengths(heads)
        if limit is not None:
            # The ids of a run ascend, so the first of them are enough.
            counts = np.minimum(counts, limit)
        return Found(self._ids_of_runs(heads, counts), distances.repeat(counts))

    def _run_lengths(self, heads: npt.NDArray[np.integer]) -> npt.NDArray[np.int64]:
        if self._distinct:
            return np.ones(len(heads), np.int64)
        fingerprints = self.rows.fingerprints
        ends = fingerprints.searchsorted(fingerprints[heads], side="right")
        lengths: npt.NDArray[np.int64] = ends.astype(np.int64) - heads.astype(np.int64)
        return lengths

    def _ids_of_runs(
        self, heads: npt.NDArray[np.integer], counts: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.int64]:
        ends = counts.cumsum()
        index = np.repeat(heads.astype(np.int64) - ends + counts, counts)
        index += np.arange(len(index))
        ids: npt.NDArray[np.int64] = self.rows.ids[index]
        return ids
