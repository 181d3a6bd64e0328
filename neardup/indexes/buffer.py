"""The newest entries, in the order in which they came, compared one and all."""

import numpy as np

from neardup.indexes.arrays import Rows
from neardup.indexes.match import Found


class Buffer:
    """A bounded list of entries that is read whole by each query (8,192: about 6 microseconds).

    Args:
        capacity: The number of entries that it holds.
    """

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self._fingerprints = np.zeros(capacity, np.uint64)
        self._ids = np.zeros(capacity, np.int64)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def size_bytes(self) -> int:
        """Bytes of memory that the buffer takes, full or empty."""
        return self._fingerprints.nbytes + self._ids.nbytes

    def room_for(self, count: int) -> bool:
        """Whether so many more entries fit."""
        return self._count + count <= self.capacity

    def append(self, fingerprint: int, number: int) -> None:
        """Hold one more entry; there must be room for it."""
        self._fingerprints[self._count] = fingerprint
        self._ids[self._count] = number
        self._count += 1

    def extend(self, rows: Rows) -> None:
        """Hold more entries; there must be room for them."""
        end = self._count + len(rows.ids)
        self._fingerprints[self._count : end] = rows.fingerprints
        self._ids[self._count : end] = rows.ids
        self._count = end

    def rows(self, start: int = 0) -> Rows:
        """Return the entries from ``start`` on, as views that the next append leaves alone."""
        return Rows(self._fingerprints[start : self._count], self._ids[start : self._count])

    def clear(self) -> None:
        """Forget all entries."""
        self._count = 0

    def near(self, value: np.uint64, radius: int) -> Found | None:
        """Return all entries within the radius; None: there is none."""
        distances = np.bitwise_count(self._fingerprints[: self._count] ^ value)
        hits = (distances <= radius).nonzero()[0]
        return Found(self._ids[hits], distances[hits]) if hits.size else None
