"""Fingerprints and marks of names of kept texts, read once and compared a thousand at a time.

On one template each page has thousands of candidates, and nearly all of them have another name. Two
names are told to be other by five numbers each, in arrays; only what these leave open is read.
"""

from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple, Protocol

import numpy as np
import xxhash
from numpy.typing import NDArray

from neardup.indexes.arrays import Distances, Fingerprints, Ids, Match
from neardup.names import Name, single_identifier, unpacked
from neardup.titles import Words, segments, words_of

SLOTS = 1 << 16
"""The number of texts whose facts are held in memory, some 2.5 MB. A text has the slot of its id's
last bits, which ids that are given in a row never share."""

MARKS = 5
"""The number of marks of a name."""

_MARK_BITS = 0xFFFFFFFF
_FREE = -1  # no id is negative

Marks = NDArray[np.uint32]


class StoredFacts(NamedTuple):
    """Facts of one kept text.

    Attributes:
        id: The id of the text.
        fingerprint: Its SimHash.
        name: What it is called, packed.
    """

    id: int
    fingerprint: int
    name: str


class FactSource(Protocol):
    """A store that knows the facts of kept texts."""

    def facts_of(self, ids: Collection[int]) -> list[StoredFacts]:
        """Return the facts of those of some ids whose texts are stored with a fingerprint."""


class Siblings(NamedTuple):
    """Stored candidates of a text, nearest first, then by id.

    Attributes:
        ids: int64, (candidates,).
        distances: uint8, (candidates,): those of the fingerprints, in bits.
        are_other: bool, (candidates,): whether the marks tell that the names are other. Where they
            do not, ``neardup.names.difference`` decides.
    """

    ids: Ids
    distances: Distances
    are_other: NDArray[np.bool_]

    def possible(self) -> list[Match]:
        """Return those that the marks do not tell to be other, in order."""
        wanted = ~self.are_other
        return list(map(Match, self.ids[wanted].tolist(), self.distances[wanted].tolist()))

    def others(self) -> Iterator[Match]:
        """Yield those that the marks tell to be other, in order."""
        for place in np.flatnonzero(self.are_other).tolist():
            yield Match(int(self.ids[place]), int(self.distances[place]))


class Namesakes:
    """Finds the kept texts of a name, however many resemble them; 16 bytes a text.

    Args:
        facts: The facts of all texts that were kept before.
    """

    def __init__(self, facts: Iterable[StoredFacts]) -> None:
        held = [(_name_mark(unpacked(one.name)), one.id) for one in facts]
        self._count = len(held)
        self._rows = np.array(held, np.int64).reshape(-1, 2).T.copy()

    def add(self, number: int, name: Name) -> None:
        """Hold a text that is kept now."""
        if self._count == self._rows.shape[1]:
            room = np.zeros((2, max(64, self._count)), np.int64)
            self._rows = np.concatenate([self._rows, room], axis=1)
        self._rows[:, self._count] = _name_mark(name), number
        self._count += 1

    def find(self, name: Name) -> Ids:
        """Return the ids of texts of the same heading, title and identifier: int64, (ids,).

        Of names that have none of these, the first lines are the same.

        Complexity: O(texts), 0.5 ms a million.
        """
        marks, ids = self._rows[:, : self._count]
        found: Ids = ids[marks == _name_mark(name)]
        return found


class KeptFacts:
    """The facts of kept texts that were candidates lately.

    Args:
        slots: The number of texts, a power of two.
    """

    def __init__(self, slots: int = SLOTS) -> None:
        self._last = slots - 1
        self._ids = np.full(slots, _FREE, np.int64)
        self._fingerprints = np.zeros(slots, np.uint64)
        self._marks = np.zeros((slots, MARKS), np.uint32)

    def siblings(self, ids: Ids, documents: FactSource, fingerprint: int, name: Name) -> Siblings:
        """Return those of some candidates that are stored, in order.

        Args:
            ids: int64, (candidates,), distinct.
            documents: The store, which is asked for what is not held here.
            fingerprint: That of the text whose candidates they are.
            name: What it is called; ``NO_NAME`` where names are not compared.
        """
        if len(ids) == 1:
            return self._only(int(ids[0]), documents, fingerprint)
        slots = ids & self._last
        known = self._ids[slots] == ids
        fingerprints, marks = self._fingerprints[slots], self._marks[slots]
        if not known.all():
            places = np.flatnonzero(~known)
            read = {one.id: one for one in documents.facts_of(ids[places].tolist())}
            for place in places.tolist():
                facts = read.get(int(ids[place]))
                if facts is not None:
                    known[place], fingerprints[place] = True, facts.fingerprint
                    marks[place] = all_marks_of(unpacked(facts.name))
            self._ids[slots], self._fingerprints[slots] = ids, fingerprints
            self._marks[slots] = marks
            self._ids[slots[~known]] = _FREE
            ids, fingerprints, marks = ids[known], fingerprints[known], marks[known]
        return ordered(ids, fingerprints, marks, fingerprint, name)

    def _only(self, number: int, documents: FactSource, fingerprint: int) -> Siblings:
        """Return a candidate without others, whose name is compared when it is read.

        Marks save the reading of many, and cost more than the reading of one.
        """
        slot = number & self._last
        if self._ids[slot] == number:
            found = [int(self._fingerprints[slot])]
        else:
            found = [one.fingerprint for one in documents.facts_of([number])]
        distances = [(one ^ fingerprint).bit_count() for one in found]
        return Siblings(
            np.array([number] * len(found), np.int64),
            np.array(distances, np.uint8),
            np.zeros(len(found), np.bool_),
        )

    def forget(self, number: int) -> None:
        """Forget the facts of a text that is stored no more, or for the first time."""
        slot = number & self._last
        if self._ids[slot] == number:
            self._ids[slot] = _FREE


def marks_of(name: Name) -> tuple[int, int, int]:
    """Return three numbers of 32 bits for a name: of heading, title and its first segment.

    They are the same in every process. 0 stands for what the name lacks. Equal parts have equal
    numbers, and so have other parts by chance.
    """
    title = segments(name.title)
    words = tuple(word for part in title for word in ("", *part.words))
    return _mark(words_of(name.heading)), _mark(words), _mark(title[0].words if title else ())


def identifier_marks_of(name: Name) -> tuple[int, int]:
    """Return two numbers, as ``marks_of`` does: of kind and value of an identifier.

    It is one that is the only one of its kind in the name.
    """
    identifier = single_identifier(name.identifiers)
    return _mark(identifier[:1]), _mark(identifier)


@lru_cache(1 << 14)
def all_marks_of(name: Name) -> tuple[int, ...]:
    """Return the numbers of ``marks_of`` and ``identifier_marks_of``."""
    return *marks_of(name), *identifier_marks_of(name)


def _name_mark(name: Name) -> int:
    marks = all_marks_of(name)
    return hash(marks) if any(marks) else hash(name.opening)


def _mark(words: Words) -> int:
    said = "\0".join(words).encode("utf-8", "surrogatepass")
    return (xxhash.xxh3_64_intdigest(said) & _MARK_BITS or 1) if words else 0


def are_other(name: Name, marks: Marks) -> NDArray[np.bool_]:
    """Return which names are other than one for certain, as ``names.difference`` has it.

    They are where both have a heading, not the same, unless both headings are segments of equal
    titles; and where both have a title, and the first segments differ.

    Args:
        name: The one.
        marks: uint32, (names, 3), as ``marks_of`` has them.
    """
    heading, title, first = marks_of(name)
    others: NDArray[np.bool_] = np.zeros(len(marks), np.bool_)
    if heading:
        theirs = marks[:, 0]
        others |= (theirs != 0) & (theirs != heading)
        parts = [_mark(part.words) for part in segments(name.title)]
        if heading in parts:
            others &= (marks[:, 1] != title) | ~np.isin(theirs, parts)
    if first:
        theirs = marks[:, 2]
        others |= (theirs != 0) & (theirs != first)
    return others


def have_other_identifiers(name: Name, marks: Marks) -> NDArray[np.bool_]:
    """Return which names have other identifiers than one for certain.

    Args:
        name: The one.
        marks: uint32, (names, 2), as ``identifier_marks_of`` has them.
    """
    kind, identifier = identifier_marks_of(name)
    differ: NDArray[np.bool_] = (marks[:, 0] == kind) & (marks[:, 1] != identifier)
    return differ if kind else np.zeros(len(marks), np.bool_)


def ordered(
    ids: Ids, fingerprints: Fingerprints, marks: Marks, fingerprint: int, name: Name
) -> Siblings:
    """Return candidates of a text, nearest first, then by id.

    Args:
        ids: int64, (candidates,).
        fingerprints: uint64, (candidates,).
        marks: uint32, (candidates, 5), as ``all_marks_of`` has them.
        fingerprint: That of the text.
        name: What it is called; ``NO_NAME`` where names are not compared.
    """
    distances: Distances = np.bitwise_count(fingerprints ^ np.uint64(fingerprint))
    order = np.lexsort((ids, distances))
    others = are_other(name, marks[:, :3]) | have_other_identifiers(name, marks[:, 3:])
    return Siblings(ids[order], distances[order], others[order])
