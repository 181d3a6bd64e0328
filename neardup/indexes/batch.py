"""Many queries at once, answered by whole arrays."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from neardup.indexes.arrays import Distances, Fingerprints, Ids, Positions
from neardup.indexes.pigeonhole import blocks_of
from neardup.indexes.segment import Segment

QUERIES_AT_ONCE = 4096
PAIRS_AT_ONCE = 1 << 22
"""Pairs of a query and a row compared at once: 100 MB at the very most."""


class Matches(NamedTuple):
    """The answers to many queries, by query, then nearest first, then by id.

    Attributes:
        positions: int64, (matches,): which of the fingerprints asked for.
        ids: int64, (matches,): the id of the stored entry.
        distances: uint8, (matches,): in bits.
    """

    positions: Positions
    ids: Ids
    distances: Distances


def answers(segments: Sequence[Segment], values: Fingerprints, radius: int) -> Matches:
    """Return what the segments hold near each value.

    Args:
        segments: Those of the index.
        values: uint64, (queries,).
        radius: In bits.
    """
    most = max((segment.tables.most[radius] for segment in segments), default=1)
    step = min(QUERIES_AT_ONCE, 1 + PAIRS_AT_ONCE // most)
    parts = [
        _answers(segments, values[start : start + step], start, radius)
        for start in range(0, len(values), step)
    ]
    return _joined([_NOTHING, *parts])


_NOTHING = Matches(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.uint8))


def _answers(segments: Sequence[Segment], values: Fingerprints, start: int, radius: int) -> Matches:
    """Answer the queries, of which the first stands at ``start``."""
    parts = [_NOTHING]
    for segment in segments:
        positions, found, left = segment.near_many(values, radius)
        parts.append(Matches(positions, *found))
        parts += [_one(segment, values, position, radius) for position in left.tolist()]
    positions, ids, distances = _joined(parts)
    order = np.lexsort((ids, distances, positions))
    return Matches(positions[order] + start, ids[order], distances[order])


def _one(segment: Segment, values: Fingerprints, position: int, radius: int) -> Matches:
    """Answer one query that wants a plan of its own."""
    value = values[position]
    found = segment.near(value, blocks_of(int(value)), radius, None)
    return _NOTHING if found is None else Matches(np.full(len(found.ids), position), *found)


def _joined(parts: Sequence[Matches]) -> Matches:
    positions, ids, distances = zip(*parts, strict=True)
    return Matches(np.concatenate(positions), np.concatenate(ids), np.concatenate(distances))
