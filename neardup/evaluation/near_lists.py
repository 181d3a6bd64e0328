"""Find the near texts before each text of a crawl, once for all parameters."""

from collections.abc import Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from neardup.evaluation.column import Column, column_bytes
from neardup.evaluation.near_arrays import (
    MAX_COUNT,
    NONE,
    RADIUS,
    Lists,
    Members,
    NearClasses,
    NewPlaces,
)
from neardup.evaluation.shingle_sets import Load, SetArrays
from neardup.indexes.hamming import HammingIndex
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


class NearLists:
    """Grows with a crawl; finds each pair once, with its similarity.

    Places share a class where they share a fingerprint, and only the first place of each text with
    its name is listed. A list ends after 1,000 texts, as a deduplicator's search does, and from
    four million pairs on after 64.

    Memory: 14 bytes a pair, and 53 bytes a place.

    Args:
        names: What the texts are called.
    """

    def __init__(self, names: NameTable) -> None:
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
        self._starts, self._is_other = Column(np.int64), Column(np.bool_)
        self._earlier, self._distance = Column(np.int32), Column(np.uint8)
        self._similarity = Column(np.float64)
        self._starts.extend([0])

    def __len__(self) -> int:
        return self._classes.count

    @property
    def size_bytes(self) -> int:
        """Bytes of memory that are set aside, the index not counted."""
        return column_bytes(self)

    def lists(self) -> Lists:
        """Return all lists, as views that ``extend`` may leave behind."""
        of_pairs = (self._earlier, self._distance, self._similarity, self._is_other)
        columns = (self._starts, *of_pairs)
        return Lists._make(column.values for column in columns)

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
        from neardup.evaluation import near_kernels  # noqa: PLC0415  (numba takes long)

        near_kernels.link(self.members(), self._last.values, self._sizes.values, first)

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
        from neardup.evaluation import near_kernels  # noqa: PLC0415  (numba takes long)

        count = len(self)
        self._starts.fill(count + 1, 0)
        members, place = self.members(), first
        while place < count:
            for column in (self._earlier, self._distance, self._similarity):
                column.provide(_PAIRS_AT_ONCE)
            rooms = self._earlier.room, self._distance.room, self._similarity.room
            lists = Lists(self._starts.values, *rooms, self._is_other.values)
            place = near_kernels.fill(members, near, sets, lists, place)
            for column in (self._earlier, self._distance, self._similarity):
                column.count = int(self._starts.values[place])
