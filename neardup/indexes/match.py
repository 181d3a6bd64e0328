"""The answers to one query and to many."""

from typing import NamedTuple

from neardup.indexes.arrays import Distances, Ids, Positions


class Match(NamedTuple):
    """One stored entry near a fingerprint.

    Attributes:
        id: The id that the entry was added with.
        distance: Its Hamming distance from the fingerprint asked for, in bits.
    """

    id: int
    distance: int


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
