"""Find the near texts before each text of a crawl, once for all parameters."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from neardup.evaluation import kernels
from neardup.evaluation.near_arrays import (
    FEW_TEXTS,
    MANY_PAIRS,
    MAX_COUNT,
    NONE,
    NOT_ASKED,
    NOT_STORED,
    RADIUS,
    Lists,
    Load,
    Members,
    NewPlaces,
    SetArrays,
)
from neardup.features.shingles import shingle_set
from neardup.indexes.arrays import Column
from neardup.indexes.banding import CANDIDATE_BANDING, CANDIDATE_PERMUTATIONS
from neardup.indexes.hamming import HammingIndex
from neardup.indexes.lsh import LshIndex
from neardup.names import Name, difference, unpacked
from neardup.whole import split_whole


class NameTable:
    """Each name once, by a number; 0 is that of a name that says nothing."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {"": 0}
        self._names: list[Name] = [unpacked("")]

    def numbers(self, packed: Sequence[str]) -> NDArray[np.int32]:
        """Return the numbers of names that ``Name.packed`` returned; new ones get one."""
        found = np.empty(len(packed), np.int32)
        for place, line in enumerate(packed):
            found[place] = number = self._numbers.setdefault(line, len(self._names))
            if number == len(self._names):
                self._names.append(unpacked(line))
        return found

    def differ(self, ones: NDArray[np.int32], others: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Return which pairs of names tell of different things, as ``difference`` has it.

        Args:
            ones: int32, (pairs,): the names of the texts that come first.
            others: int32, (pairs,): the names of those that are judged.

        Complexity: O(pairs), and a comparison for each distinct pair of names.
        """
        is_other = np.zeros(len(ones), np.bool_)
        asked = np.flatnonzero((ones != others) & (ones > 0) & (others > 0))
        keys = ones[asked].astype(np.int64) << 32 | others[asked]
        distinct, places = np.unique(keys, return_inverse=True)
        names = self._names
        found = [bool(difference(names[key & 0xFFFFFFFF], names[key >> 32])) for key in distinct]
        is_other[asked] = np.array(found, np.bool_)[places]
        return is_other


class ShingleSets:
    """The sets of those texts that have something near, 8 bytes a shingle."""

    def __init__(self, shingle_size: int) -> None:
        self._shingle_size = shingle_size
        self._hashes = Column(np.uint64)
        self._starts, self._sizes = Column(np.int64), Column(np.int32)
        self._whole_starts, self._whole_sizes = Column(np.int64), Column(np.int32)

    def arrays(self) -> SetArrays:
        """Return all sets, as views that the next ``add`` may leave behind."""
        columns = (self._hashes, self._starts, self._sizes, self._whole_starts, self._whole_sizes)
        return SetArrays._make(column.values for column in columns)

    def grow(self, texts: int) -> None:
        """Make room for ``texts`` texts; new ones have no set."""
        self._starts.fill(texts, 0)
        self._sizes.fill(texts, NOT_ASKED)
        self._whole_starts.fill(texts, 0)
        self._whole_sizes.fill(texts, NOT_STORED)

    def missing(self, texts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return those of some texts that were never added, ascending."""
        wanted = np.unique(texts)
        missing: NDArray[np.int64] = wanted[self._sizes.values[wanted] == NOT_ASKED]
        return missing

    def add(self, number: int, text: str | None) -> None:
        """Hold the set of a text; None: the text is not held, and so has none."""
        if text is None:
            self._sizes.values[number] = NOT_STORED
            return
        part, whole = split_whole(text)
        self._put(number, part, self._starts, self._sizes)
        if whole is not part:
            self._put(number, whole, self._whole_starts, self._whole_sizes)

    def _put(
        self, number: int, text: str, starts: Column[np.int64], sizes: Column[np.int32]
    ) -> None:
        hashes = shingle_set(text, size=self._shingle_size)
        starts.values[number] = self._hashes.count
        sizes.values[number] = len(hashes)
        self._hashes.extend(hashes)


_ASKED = 64
"""The number of places whose near texts are asked for at once."""

_TIMES = 4
"""The candidates asked for, as a multiple of those listed: the index gives the most similar by its
sketches, a list holds the nearest by fingerprint."""

_Pairs = tuple[NDArray[np.int64], NDArray[np.int64]]
"""The later and the earlier places of pairs."""


class _Listed(NamedTuple):
    """Pairs by the later place, then nearest first, then by the earlier one."""

    later: NDArray[np.int64]
    earlier: NDArray[np.int64]
    distance: NDArray[np.uint8]
    is_candidate: NDArray[np.bool_]


class NearLists:
    """Grows with a crawl; finds each pair once, with its similarity.

    A deduplicator finds texts within some bits and, by the same bands, its candidates. Only the
    first place of each text with its name is listed. Of the texts within 8 bits of a place the
    1,000 nearest are listed, as a deduplicator's search returns them, and as many of its
    candidates; from eight million pairs on 64.

    Memory: 15 bytes a pair, 20 a place, some 280 a text with its name for the indexes.

    Args:
        names: The table of the names by which ``NewPlaces`` call the texts.
    """

    def __init__(self, names: NameTable) -> None:
        self._names = names
        self._fingerprints = HammingIndex(radius=RADIUS)
        self._bands = LshIndex(permutations=CANDIDATE_PERMUTATIONS, shape=CANDIDATE_BANDING)
        self._numbers: dict[tuple[int, int], int] = {}
        self._texts, self._items = Column(np.int32), Column(np.int32)
        self._first_of_text, self._first_of_item = Column(np.int32), Column(np.int32)
        self._name_of_item, self._values = Column(np.int32), Column(np.uint64)
        self._starts, self._earlier = Column(np.int64), Column(np.int32)
        self._distance, self._similarity = Column(np.uint8), Column(np.float64)
        self._is_other, self._is_candidate = Column(np.bool_), Column(np.bool_)
        self._starts.extend([0])

    def __len__(self) -> int:
        return self._starts.count - 1

    @property
    def fingerprints(self) -> NDArray[np.uint64]:
        """The fingerprints of the places, of any value where there is none: uint64, (places,)."""
        return self._values.values

    def members(self) -> Members:
        """Return the places by what they share, as views that ``extend`` may leave behind."""
        return Members(self._texts.values, self._items.values, self._first_of_text.values)

    def lists(self) -> Lists:
        """Return all lists, as views that ``extend`` may leave behind."""
        measures = (self._distance, self._similarity, self._is_other, self._is_candidate)
        columns = (self._starts, self._earlier, *measures)
        return Lists._make(column.values for column in columns)

    def extend(self, new: NewPlaces, texts: int, load: Load) -> None:
        """Take more places.

        Args:
            new: The next places.
            texts: The number of texts by now.
            load: Called with numbers of texts that are to be compared from now on; returns the
                sets of all that were ever asked for.
        """
        self._first_of_text.fill(texts, NONE)
        for start in range(0, len(new.texts), _ASKED):
            self._take(new.part(start, start + _ASKED), load)

    def _take(self, new: NewPlaces, load: Load) -> None:
        first, limit = len(self), MAX_COUNT if self._earlier.count < MANY_PAIRS else FEW_TEXTS
        self._note(new, first)
        near = self._found(self._fingerprints, new.fingerprints, new.is_judged, limit)
        has_signature = new.is_judged & new.has_signature
        banded = self._found(self._bands, new.signatures, has_signature, _TIMES * limit)
        told = self._told(new, first)
        later, earlier = map(np.concatenate, zip(near, banded, told, strict=True))
        keys, rows = np.unique(later << 32 | earlier, return_inverse=True)
        is_candidate = np.zeros(len(keys), np.bool_)
        is_candidate[rows[len(near[0]) :]] = True
        pairs = keys >> 32, keys & 0xFFFFFFFF
        self._append(new, self._listed(pairs, is_candidate, limit), load)

    def _note(self, new: NewPlaces, first: int) -> None:
        """Give the new places their numbers, and note which are the first of something."""
        columns = (new.texts.tolist(), new.names.tolist(), new.is_judged.tolist())
        for place, (text, name, is_judged) in enumerate(zip(*columns, strict=True), first):
            item = self._numbers.setdefault((text, name), len(self._numbers)) if is_judged else -1
            if item == self._first_of_item.count:
                self._first_of_item.extend((place,))
                self._name_of_item.extend((name,))
            self._items.extend((item,))
        self._texts.extend(new.texts)
        self._values.extend(new.fingerprints)
        places = np.flatnonzero(new.is_judged)
        np.minimum.at(self._first_of_text.values, new.texts[places], places + first)

    def _found(
        self,
        index: HammingIndex | LshIndex,
        keys: NDArray[Any],
        has_one: NDArray[np.bool_],
        limit: int,
    ) -> _Pairs:
        """Add new places to an index, and return the pairs that it finds of them."""
        places = np.flatnonzero(has_one) + len(self)
        asked = keys[has_one]
        is_first = self._first_of_item.values[self._items.values[places]] == places
        index.add_many(asked[is_first], places[is_first])
        # Of what is asked at once, each text finds itself and those after it too.
        found = index.query_many(asked, limit=limit + _ASKED)
        later = places[found.positions]
        are_pairs = (found.ids < later) & (
            self._texts.values[found.ids] != self._texts.values[later]
        )
        return later[are_pairs], found.ids[are_pairs]

    def _told(self, new: NewPlaces, first: int) -> _Pairs:
        """Return the pairs of places without a signature that an earlier verdict named."""
        asked = np.flatnonzero(new.is_judged & ~new.has_signature & (new.original >= 0))
        later, earlier = asked + first, new.original[asked].astype(np.int64)
        are_pairs = (earlier < later) & (self._items.values[earlier] >= 0)
        are_pairs &= self._texts.values[earlier] != self._texts.values[later]
        return later[are_pairs], earlier[are_pairs]

    def _listed(self, pairs: _Pairs, is_candidate: NDArray[np.bool_], limit: int) -> _Listed:
        """Return the pairs of the lists, in their order: the nearest within 8 bits, and others."""
        (later, earlier), values = pairs, self._values.values
        distance = np.bitwise_count(values[later] ^ values[earlier])
        order = np.lexsort((earlier, distance, later))
        every = _Listed._make(column[order] for column in (later, earlier, distance, is_candidate))
        is_listed = _is_among_first(every.later, every.distance <= RADIUS, limit)
        is_listed |= _is_among_first(every.later, every.is_candidate, limit)
        return _Listed._make(column[is_listed] for column in every)

    def _append(self, new: NewPlaces, listed: _Listed, load: Load) -> None:
        first, later, earlier = len(self), listed.later, listed.earlier
        ours, theirs = (self._texts.values[of].astype(np.int64) for of in (later, earlier))
        similarity = kernels.similarities(load(np.concatenate((ours, theirs))), theirs, ours)
        # Of a text that is not held, what an earlier verdict stored.
        is_stored = (similarity < 0) & (new.original[later - first] == earlier)
        similarity[is_stored] = new.stored[later - first][is_stored]
        names, items = self._name_of_item.values, self._items.values
        self._is_other.extend(self._names.differ(names[items[earlier]], names[items[later]]))
        ends = np.searchsorted(later, np.arange(first, self._texts.count), side="right")
        self._starts.extend(ends + self._earlier.count)
        self._earlier.extend(earlier)
        self._distance.extend(listed.distance)
        self._similarity.extend(similarity)
        self._is_candidate.extend(listed.is_candidate)


def _is_among_first(
    groups: NDArray[np.int64], counts: NDArray[np.bool_], limit: int
) -> NDArray[np.bool_]:
    """Return which rows count and are among the first of those in their group, which ascend."""
    rows = np.flatnonzero(counts)
    ranks = np.arange(len(rows)) - np.searchsorted(groups[rows], groups[rows])
    found = np.zeros(len(groups), np.bool_)
    found[rows[ranks < limit]] = True
    return found
