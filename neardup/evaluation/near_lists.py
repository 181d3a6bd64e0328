"""Find the near texts before each text of a crawl, once for all parameters."""

from collections.abc import Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from neardup.evaluation import kernels
from neardup.evaluation.column import Column, column_bytes
from neardup.evaluation.near_arrays import (
    FEW_TEXTS,
    MANY_PAIRS,
    MAX_COUNT,
    NONE,
    RADIUS,
    Lists,
    Members,
    NearClasses,
    NewPlaces,
)
from neardup.evaluation.shingle_sets import Load, SetArrays
from neardup.indexes.banding import CANDIDATE_BANDING, CANDIDATE_PERMUTATIONS
from neardup.indexes.hamming import HammingIndex
from neardup.indexes.lsh import LshIndex
from neardup.names import Name, difference, unpacked


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


_CHUNK = 1000
_PAIRS_AT_ONCE = 1 << 16


class _PairColumns:
    """The columns of the pairs that are found, by place."""

    def __init__(self) -> None:
        self._starts, self._is_other = Column(np.int64), Column(np.bool_)
        self._earlier, self._distance = Column(np.int32), Column(np.uint8)
        self._similarity = Column(np.float64)
        self._starts.extend([0])

    def lists(self) -> Lists:
        """Return all lists, as views that ``extend`` may leave behind."""
        of_pairs = (self._earlier, self._distance, self._similarity, self._is_other)
        return Lists._make(column.values for column in (self._starts, *of_pairs))


class NearLists(_PairColumns):
    """Grows with a crawl; finds each pair once, with its similarity.

    Places share a class where they share a fingerprint, and only the first place of each text with
    its name is listed. A list ends after 1,000 texts, as a deduplicator's search does, and from
    four million pairs on after 64.

    Memory: 14 bytes a pair, and 53 bytes a place.

    Args:
        names: What the texts are called.
    """

    def __init__(self, names: NameTable) -> None:
        super().__init__()
        self._names = names
        self._items: dict[tuple[int, int], int] = {}
        self._item_of_place, self._first_of_item = Column(np.int32), Column(np.int32)
        self._name_of_item = Column(np.int32)
        self._index = HammingIndex(radius=RADIUS)
        self._numbers: dict[int, int] = {}
        self.fingerprints = Column(np.uint64)
        self._sizes, self._is_wanted = Column(np.int32), Column(np.bool_)
        self._first, self._last = Column(np.int32), Column(np.int32)
        self._first_of_text, self._next = Column(np.int32), Column(np.int32)
        self._texts, self._classes = Column(np.int32), Column(np.int32)
        self._original, self._stored = Column(np.int32), Column(np.float64)

    def __len__(self) -> int:
        return self._classes.count

    @property
    def size_bytes(self) -> int:
        """Bytes of memory that are set aside, the index not counted."""
        return column_bytes(self)

    def members(self) -> Members:
        """Return the places by class and text, as views that ``extend`` may leave behind."""
        of_places = (self._texts, self._item_of_place, self._classes, self._original, self._stored)
        firsts = (self._first_of_text, self._first_of_item, self._first)
        columns = (*of_places, *firsts, self._next)
        return Members._make(column.values for column in columns)

    def extend(self, new: NewPlaces, texts: int, load: Load) -> None:
        """Take more places.

        Args:
            new: The next places.
            texts: The number of texts by now.
            load: Called with numbers of texts that are to be compared from now on; returns the
                sets of all that were ever asked for.
        """
        for start in range(0, len(new.texts), _CHUNK):
            self._take(new.part(start, start + _CHUNK), texts, load)

    def _take(self, new: NewPlaces, texts: int, load: Load) -> None:
        first = len(self)
        self._note(new, texts)
        touched = np.unique(self._classes.values[first:])
        near = self._near_classes(touched[touched >= 0])
        fresh = self._want(near)
        listed = self._earlier.count
        self._fill(first, near, load(self._wanted_texts(first, fresh)))
        self._tell_others(first, listed)

    def _note(self, new: NewPlaces, texts: int) -> None:
        first, known = len(self), len(self._numbers)
        prints = new.fingerprints.tolist()
        for value, is_judged in zip(prints, new.is_judged.tolist(), strict=True):
            number = self._numbers.setdefault(value, len(self._numbers)) if is_judged else -1
            self._classes.extend((number,))
        self._note_items(new)
        self._texts.extend(new.texts)
        self._original.extend(new.original)
        self._stored.extend(new.stored)
        self._next.fill(len(self), NONE)
        self._first_of_text.fill(texts, NONE)
        self._add_classes(list(islice(self._numbers, known, None)))
        kernels.link(self.members(), self._last.values, self._sizes.values, first)

    def _note_items(self, new: NewPlaces) -> None:
        columns = (new.texts.tolist(), new.names.tolist(), new.is_judged.tolist())
        for text, name, is_judged in zip(*columns, strict=True):
            item = self._items.setdefault((text, name), len(self._items)) if is_judged else -1
            if item == self._first_of_item.count:
                self._first_of_item.extend((self._item_of_place.count,))
                self._name_of_item.extend((name,))
            self._item_of_place.extend((item,))

    def names_of(self, places: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return the numbers of the names of some places that have a fingerprint."""
        found: NDArray[np.int32] = self._name_of_item.values[self._item_of_place.values[places]]
        return found

    def _tell_others(self, first: int, listed: int) -> None:
        """Note which pairs from ``listed`` on, of places from ``first`` on, have other names."""
        counts = np.diff(self._starts.values[first:])
        later = self.names_of(np.repeat(np.arange(first, len(self)), counts))
        earlier = self.names_of(self._earlier.values[listed:].astype(np.int64))
        self._is_other.extend(self._names.differ(earlier, later))

    def _add_classes(self, fresh: list[int]) -> None:
        known, count = self.fingerprints.count, len(self._numbers)
        self.fingerprints.extend(np.array(fresh, np.uint64))
        self._index.add_many(self.fingerprints.values[known:], np.arange(known, count))
        self._first.fill(count, NONE)
        self._last.fill(count, NONE)
        self._sizes.fill(count, 0)
        self._is_wanted.fill(count, value=False)

    def _near_classes(self, classes: NDArray[np.int32]) -> NearClasses:
        found = self._index.query_many(self.fingerprints.values[classes], limit=MAX_COUNT)
        rows = np.zeros(self.fingerprints.count, np.int32)
        rows[classes] = np.arange(len(classes))
        starts = np.searchsorted(found.positions, np.arange(len(classes) + 1))
        return NearClasses(rows, starts, found.ids, found.distances)

    def _want(self, near: NearClasses) -> NDArray[np.int64]:
        """Note which classes are compared, and return those that were not before."""
        sizes, is_wanted = self._sizes.values, self._is_wanted.values
        if not len(near.classes):
            return np.zeros(0, np.int64)
        have_company = np.add.reduceat(sizes[near.classes], near.starts[:-1]) > 1
        classes = np.unique(near.classes[np.repeat(have_company, np.diff(near.starts))])
        fresh = classes[~is_wanted[classes]]
        is_wanted[fresh] = True
        return fresh

    def _wanted_texts(self, first: int, fresh: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the texts of classes that are compared from now on, and of new places."""
        classes = self._classes.values[first:]
        is_new = classes >= 0
        is_new[is_new] = self._is_wanted.values[classes[is_new]]
        places = [np.flatnonzero(is_new) + first]
        places += [self._chain(number) for number in fresh.tolist()]
        return self._texts.values[np.concatenate(places)].astype(np.int64)

    def _chain(self, number: int) -> NDArray[np.int64]:
        """Return the places of a class that are first of their text with its name."""
        places, place = [], int(self._first.values[number])
        while place != NONE:
            places.append(place)
            place = int(self._next.values[place])
        return np.array(places, np.int64)

    def _fill(self, first: int, near: NearClasses, sets: SetArrays) -> None:
        count = len(self)
        self._starts.fill(count + 1, 0)
        members, place = self.members(), first
        while place < count:
            for column in (self._earlier, self._distance, self._similarity):
                column.provide(_PAIRS_AT_ONCE)
            rooms = self._earlier.room, self._distance.room, self._similarity.room
            lists = Lists(self._starts.values, *rooms, self._is_other.values)
            place = kernels.fill(members, near, sets, lists, place)
            for column in (self._earlier, self._distance, self._similarity):
                column.count = int(self._starts.values[place])


_ASKED = 64
"""The number of places whose candidates are asked for at once."""

_TIMES = 4
"""The candidates asked for, as a multiple of those listed: the index gives the most similar by its
sketches, a list holds the nearest by fingerprint."""


class CandidateLists(_PairColumns):
    """Grows with a crawl, behind its ``NearLists``; finds each pair once, with its similarity.

    A deduplicator finds its candidates by the same bands. Of a text with more than 1,000 of them
    those that seem the most similar are listed, and from four million pairs on 64.

    Memory: 14 bytes a pair, 8 a place, some 250 a text with its name for the index.

    Args:
        near: The near lists of the same places.
        names: What the texts are called.
    """

    def __init__(self, near: NearLists, names: NameTable) -> None:
        super().__init__()
        self._near = near
        self._names = names
        self._index = LshIndex(permutations=CANDIDATE_PERMUTATIONS, shape=CANDIDATE_BANDING)

    def __len__(self) -> int:
        return self._starts.count - 1

    @property
    def size_bytes(self) -> int:
        """Bytes of memory that are set aside, those of the index too."""
        return self._index.size_bytes + column_bytes(self)

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
        members, fingerprints = self._near.members(), self._near.fingerprints.values
        classes, texts = members.classes, members.texts.astype(np.int64)
        distance = np.bitwise_count(fingerprints[classes[later]] ^ fingerprints[classes[earlier]])
        order = np.lexsort((earlier, distance, later))
        ranks = np.arange(len(order)) - np.searchsorted(later[order], later[order])
        order = order[ranks < limit]
        later, earlier = later[order], earlier[order]
        ours, theirs = texts[later], texts[earlier]
        sets = load(np.concatenate((ours, theirs)))
        similarity = kernels.similarities(sets, theirs, ours)
        # Of a text that is not held, what an earlier verdict stored.
        is_stored = (similarity < 0) & (members.original[later] == earlier)
        similarity[is_stored] = members.stored[later][is_stored]
        ends = np.searchsorted(later, np.arange(first, len(self._near)), side="right")
        self._starts.extend(ends + self._earlier.count)
        self._earlier.extend(earlier)
        self._distance.extend(distance[order])
        self._similarity.extend(similarity)
        names = self._near.names_of(earlier), self._near.names_of(later)
        self._is_other.extend(self._names.differ(*names))
