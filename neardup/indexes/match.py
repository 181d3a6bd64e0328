"""The answer to a query, and how the answers of several parts become one."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from neardup.indexes.arrays import Distances, Ids


class Match(NamedTuple):
    """One stored entry near a fingerprint.

    Attributes:
        id: The id that the entry was added with.
        distance: Its Hamming distance from the fingerprint asked for, in bits.
    """

    id: int
    distance: int


class Found(NamedTuple):
    """What one part of an index holds near a fingerprint, in any order.

    Attributes:
        ids: int64, (matches,).
        distances: uint8, (matches,), in bits.
    """

    ids: Ids
    distances: Distances


def ordered(parts: Sequence[Found], limit: int | None = None) -> list[Match]:
    """Join the parts into one list, nearest first, then by id, cut after ``limit``."""
    if not parts:
        return []
    ids = np.concatenate([part.ids for part in parts])
    distances = np.concatenate([part.distances for part in parts])
    if ids.size > 1:
        order = np.lexsort((ids, distances))[:limit]
        ids, distances = ids[order], distances[order]
    return list(map(Match, ids.tolist(), distances.tolist()))
