"""Brute force: the answer that every faster index must give."""

from typing import SupportsIndex

import numpy.typing as npt

from neardup.errors import ParameterError
from neardup.indexes.arrays import (
    Match,
    checked_fingerprint,
    checked_fingerprints,
    checked_id,
    checked_ids,
    checked_limit,
    checked_radius,
)


class ScanIndex:
    """Compares a fingerprint with every stored one.

    The oracle of the tests, and all that a few thousand documents need. Plain Python on purpose:
    it shares no trick with :class:`~neardup.indexes.hamming.HammingIndex`.

    Args:
        radius: The largest distance of a match, 0..8 bits.

    Raises:
        ParameterError: The radius is out of range.
    """

    def __init__(self, *, radius: int = 3) -> None:
        self.radius = checked_radius(radius)
        self._entries: list[tuple[int, int]] = []

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def max_id(self) -> int:
        """The largest id held, -1 when there is none."""
        return max((number for _, number in self._entries), default=-1)

    def add(self, fingerprint: SupportsIndex, id: SupportsIndex) -> None:  # noqa: A002  (the index's word)
        """Hold one more entry; as :meth:`HammingIndex.add`."""
        self._entries.append((checked_fingerprint(fingerprint), checked_id(id)))

    def add_many(self, fingerprints: npt.ArrayLike, ids: npt.ArrayLike) -> None:
        """Hold many entries, all or none; as :meth:`HammingIndex.add_many`."""
        values, numbers = checked_fingerprints(fingerprints), checked_ids(ids)
        if len(values) != len(numbers):
            raise ParameterError(f"one id a fingerprint expected, got {len(numbers)} ids")
        self._entries.extend(zip(values.tolist(), numbers.tolist(), strict=True))

    def delete(self, id: SupportsIndex) -> int:  # noqa: A002  (the index's word)
        """Hold no entry of an id any more; as :meth:`HammingIndex.delete`."""
        number, held = checked_id(id), len(self._entries)
        self._entries = [entry for entry in self._entries if entry[1] != number]
        return held - len(self._entries)

    def query(self, fingerprint: SupportsIndex, *, limit: int | None = None) -> list[Match]:
        """Find the entries within the radius, nearest first, then by id.

        Raises:
            FingerprintError: The value does not fit in 64 bits.

        Complexity: O(n), about 0.1 microseconds an entry.
        """
        value, at_most = checked_fingerprint(fingerprint), checked_limit(limit, 1 << 40)
        near = sorted(
            (distance, number)
            for stored, number in self._entries
            if (distance := (stored ^ value).bit_count()) <= self.radius
        )
        return [Match(number, distance) for distance, number in near[:at_most]]
