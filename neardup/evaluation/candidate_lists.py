"""Find for each text of a crawl the earlier ones that share a band of their signatures."""

import numpy as np
from numpy.typing import NDArray

from neardup.evaluation.column import Column, column_bytes
from neardup.evaluation.near_arrays import FEW_TEXTS, MANY_PAIRS, MAX_COUNT, Lists
from neardup.evaluation.near_lists import NameTable, NearLists
from neardup.evaluation.shingle_sets import Load
from neardup.indexes.banding import CANDIDATE_BANDING, CANDIDATE_PERMUTATIONS
from neardup.indexes.lsh import LshIndex

_ASKED = 64
"""The number of places whose candidates are asked for at once."""

_TIMES = 4
"""The candidates asked for, as a multiple of those listed: the index gives the most similar by its
sketches, a list holds the nearest by fingerprint."""


class CandidateLists:
    """Grows with a crawl, behind its ``NearLists``; finds each pair once, with its similarity.

    A deduplicator finds its candidates by the same bands. Of a text with more than 1,000 of them
    those that seem the most similar are listed, and from four million pairs on 64.

    Memory: 14 bytes a pair, 8 a place, some 250 a text with its name for the index.

    Args:
        near: The near lists of the same places.
        names: What the texts are called.
    """

    def __init__(self, near: NearLists, names: NameTable) -> None:
        self._near = near
        self._names = names
        self._index = LshIndex(permutations=CANDIDATE_PERMUTATIONS, shape=CANDIDATE_BANDING)
        self._starts, self._is_other = Column(np.int64), Column(np.bool_)
        self._earlier, self._distance = Column(np.int32), Column(np.uint8)
        self._similarity = Column(np.float64)
        self._starts.extend([0])

    def __len__(self) -> int:
        return self._starts.count - 1

    @property
    def size_bytes(self) -> int:
        """Bytes of memory that are set aside, those of the index too."""
        return self._index.size_bytes + column_bytes(self)

    def lists(self) -> Lists:
        """Return all lists, as views that ``extend`` may leave behind."""
        of_pairs = (self._earlier, self._distance, self._similarity, self._is_other)
        return Lists._make(column.values for column in (self._starts, *of_pairs))

    def extend(
        self, signatures: NDArray[np.uint32], has_one: NDArray[np.bool_], load: Load
    ) -> None:
        """Take the places that the near lists took since.

        Args:
            signatures: uint32, (those that have one, 64), in their order.
            has_one: bool, (new places,): whether a place has a signature: a fingerprint and a text
                that is held.
            load: As for ``NearLists.extend``.
        """
        first, members = len(self), self._near.members()
        places = np.flatnonzero(has_one) + first
        is_first = members.first_of_item[members.items[places]] == places
        limit = MAX_COUNT if self._earlier.count < MANY_PAIRS else FEW_TEXTS
        pairs = [self._told(first, has_one)]
        for start in range(0, len(places), _ASKED):
            some, asked = places[start : start + _ASKED], signatures[start : start + _ASKED]
            new = is_first[start : start + _ASKED]
            self._index.add_many(asked[new], some[new])
            # Of what is asked at once, each text finds itself and those after it too.
            found = self._index.query_many(asked, limit=_TIMES * limit + _ASKED)
            pairs.append((some[found.positions], found.ids))
        later, earlier = map(np.concatenate, zip(*pairs, strict=True))
        texts = members.texts
        are_pairs = (earlier < later) & (texts[earlier] != texts[later])
        self._list(first, later[are_pairs], earlier[are_pairs], limit, load)

    def _told(
        self, first: int, has_one: NDArray[np.bool_]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the pairs of places without a signature that an earlier verdict named."""
        members = self._near.members()
        are_asked = ~has_one & (members.classes[first:] >= 0) & (members.original[first:] >= 0)
        later = np.flatnonzero(are_asked) + first
        earlier = members.original[later].astype(np.int64)
        is_known = members.classes[earlier] >= 0
        return later[is_known], earlier[is_known]

    def _list(
        self,
        first: int,
        later: NDArray[np.int64],
        earlier: NDArray[np.int64],
        limit: int,
        load: Load,
    ) -> None:
        from neardup.evaluation import near_kernels  # noqa: PLC0415  (numba takes long)

        members, fingerprints = self._near.members(), self._near.fingerprints.values
        classes, texts = members.classes, members.texts.astype(np.int64)
        distance = np.bitwise_count(fingerprints[classes[later]] ^ fingerprints[classes[earlier]])
        order = np.lexsort((earlier, distance, later))
        ranks = np.arange(len(order)) - np.searchsorted(later[order], later[order])
        order = order[ranks < limit]
        later, earlier = later[order], earlier[order]
        ours, theirs = texts[later], texts[earlier]
        sets = load(np.concatenate((ours, theirs)))
        similarity = near_kernels.pair_similarities(members, sets, earlier, later)
        ends = np.searchsorted(later, np.arange(first, len(self._near)), side="right")
        self._starts.extend(ends + self._earlier.count)
        self._earlier.extend(earlier)
        self._distance.extend(distance[order])
        self._similarity.extend(similarity)
        names = self._near.names_of(earlier), self._near.names_of(later)
        self._is_other.extend(self._names.differ(*names))
