"""Find the kept texts that a text is a part of, and those that are parts of it.

Candidates share passages with the text (``neardup.indexes.passages``); what they share makes no
verdict: the shingles of both are counted. No more is read of them than a budget allows, so a part
may go unnoticed, and never is a text called one that it is not.
"""

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np

from neardup.boilerplate import Boilerplate, boilerplate_spans
from neardup.candidates import MAX_CHARACTERS, KnownShingles
from neardup.cascade import NO_RELATIONS, Container, Relations
from neardup.document import Document
from neardup.features.bitmaps import Bitmap, bitmap_of, max_shared
from neardup.features.hashing import Hashes
from neardup.fingerprints.winnowing import MAX_SAMPLE, expected_values, unpacked_sample
from neardup.indexes.arrays import Ids
from neardup.indexes.lsh import LshIndex
from neardup.indexes.passages import SharedPassages, add_sample, shared_passages
from neardup.names import difference, unpacked
from neardup.parameters import Parameters
from neardup.verdict import Part
from neardup.verification import JaccardComparison, shared_size
from neardup.whole import split_whole

MIN_CONTAINMENT = 0.9
"""The share of a text's shingles that stand in another one, from which on it is a part of it."""

MIN_SHARED = 0.65
"""The share of its values that a part has in common with the other text, on average of the texts
that have just ``MIN_CONTAINMENT``: an edit tears the windows around it too."""

MAX_READ = 8
"""The number of texts that are read for a text, to find one that it is a part of."""


class PartTexts(Protocol):
    """The kept texts among which parts are looked for."""

    def words_of(self, ids: Collection[int]) -> dict[int, int]:
        """Return the numbers of words of those of some ids whose texts have a fingerprint."""

    def text(self, id: int) -> str | None:  # noqa: A002  (the field's word)
        """Return the text stored under an id; None where there is none."""

    def name(self, id: int) -> str:  # noqa: A002  (the field's word)
        """Return what the text under an id is called, packed; empty where nothing is known."""


class FoundParts(NamedTuple):
    """The texts that a text is a part of, or that are parts of it, and all that shares passages."""

    relations: Relations
    shared: SharedPassages


class _Candidate(NamedTuple):
    """A kept text.

    Attributes:
        order: What it shares of the values that a part would share, negative: the most first.
        words: The number of its words.
        id: Its id.
    """

    order: float
    words: int
    id: int


@dataclass(frozen=True, slots=True)
class PartFinder:
    """Finds texts that stand in each other, and keeps their passages alone.

    Of two texts the one with fewer words is the part; of two with as many, the later one. Where a
    text stands with the whole that it was taken from, its containment is the least of both. Where
    it has boilerplate, its containment is at most that of its other words.

    Attributes:
        parameters: The parameters that decide which texts are the same.
        documents: The kept texts, the truth.
        index: Their passages. It may know what is not stored: that is no evidence.
        known: The shingles of texts that were candidates, of ``verify_shingle_size``.
        boilerplate: What is boilerplate in the groups of the texts; None: that is not known.
        outdated: The ids of texts that may be stored no more, such as earlier captures of a page.
            The index goes on having what is gone, which does not count.
    """

    parameters: Parameters
    documents: PartTexts
    index: LshIndex
    known: KnownShingles
    boilerplate: Boilerplate | None = None
    outdated: set[int] = field(default_factory=set)

    def shared(self, document: Document, excluded: Collection[int] = ()) -> SharedPassages:
        """Return what stored texts share with a text that has a sample, but for excluded texts."""

        def gone_among(ids: Ids) -> Collection[int]:
            doubtful = self.outdated.intersection(ids.tolist())
            gone = doubtful.difference(self.documents.words_of(doubtful)) if doubtful else doubtful
            return gone.union(excluded)

        sample = unpacked_sample(document.sample or b"")
        return shared_passages(self.index, sample, gone_among if self.outdated else None)

    def add(self, number: int, document: Document, shared: SharedPassages | None = None) -> None:
        """Let a text that has a sample be found; ``shared`` is what that method returned for it.

        Raises:
            OSError: As for ``LshIndex.add``.
        """
        values = unpacked_sample(document.sample or b"")
        add_sample(self.index, values, number, shared or self.shared(document))

    def find(self, document: Document, excluded: Collection[int]) -> FoundParts:
        """Return the texts that a text is a part of, or that are parts of it.

        Args:
            document: The text, with its sample.
            excluded: The ids of texts that are not looked at.

        Raises:
            ClosedError: The index is closed.

        Complexity: O(words), and O(length) of each text that is read: up to ``MAX_READ`` longer
        ones, and as many shorter ones or, if these are more, as have its length together.
        """
        shared = self.shared(document, excluded)
        candidates = dict(zip(shared.ids.tolist(), shared.counts.tolist(), strict=True))
        for number in excluded:
            candidates.pop(number, None)
        if not candidates:
            return FoundParts(NO_RELATIONS, shared)
        longer, shorter = self._candidates(document.words, int(shared.is_rare.sum()), candidates)
        if not longer and not shorter:
            return FoundParts(NO_RELATIONS, shared)
        reader = _Reader(document, self)
        container = reader.container(longer)
        return FoundParts(Relations(container, tuple(reader.held(shorter))), shared)

    def _candidates(
        self, words: int, values: int, counts: Mapping[int, int]
    ) -> tuple[list[_Candidate], list[_Candidate]]:
        """Return the longer and the shorter texts that share enough, those first that do the most.

        Args:
            words: Words of the text.
            values: The number of its values that are rare.
            counts: The number of these that each other text shares, by its id.
        """
        longer: list[_Candidate] = []
        shorter: list[_Candidate] = []
        ours = _thinned(words)
        # A short text has more values than a text that holds it has of them.
        most = min(values / ours, expected_values(words))
        for number, theirs in self.documents.words_of(counts).items():
            # The longer text has the thinner sample.
            is_longer = theirs >= words
            own = most if is_longer else expected_values(theirs)
            expected = own * (_thinned(theirs) if is_longer else ours)
            if counts[number] >= _least_shared(expected):
                candidate = _Candidate(-counts[number] / expected, theirs, number)
                (longer if is_longer else shorter).append(candidate)
        return sorted(longer), sorted(shorter)


def _thinned(words: int) -> float:
    """Return the share of its winnowed shingles that the sample of a text has."""
    return min(1.0, MAX_SAMPLE / expected_values(words))


def _least_shared(expected: float) -> float:
    """Return the least number of values that 39 of 40 parts with ``expected`` values share."""
    return expected * MIN_SHARED - 2 * math.sqrt(expected * MIN_SHARED * (1 - MIN_SHARED))


class _Reader:
    """Reads candidates of one text, and counts what they share, while the budget lasts."""

    def __init__(self, document: Document, finder: PartFinder) -> None:
        self._document, self._documents = document, finder.documents
        self._parameters, self._known = finder.parameters, finder.known
        self._boilerplate = finder.boilerplate if finder.parameters.ignore_boilerplate else None
        part, self._whole = split_whole(document.text)
        self._is_part_only = self._whole is part
        self._characters = len(document.text)
        self._of_part = JaccardComparison(part, self._parameters.verify_shingle_size)
        self._of_whole: JaccardComparison | None = None
        self._bitmap: Bitmap | None = None
        self._own: Hashes | None = None

    def container(self, candidates: Iterable[_Candidate]) -> Container | None:
        """Return the first text that has nearly all of this one.

        Where a part is dropped, one of the same name comes before those of other names.
        """
        found: Container | None = None
        for count, candidate in enumerate(candidates):
            if count == MAX_READ:
                break
            containment = self._containment(candidate.id, is_ours=True)
            if containment is None or containment < MIN_CONTAINMENT:
                continue
            is_other = self._is_other(candidate.id)
            found = found or Container(candidate.id, containment, is_other)
            if not (is_other and self._parameters.drop_contained):
                return Container(candidate.id, containment, is_other)
        return found

    def held(self, candidates: Iterable[_Candidate]) -> Iterator[Part]:
        """Yield the texts that stand nearly wholly in this one."""
        words = 0
        for count, candidate in enumerate(candidates):
            words += candidate.words
            if count >= MAX_READ and words > self._document.words:
                break
            containment = self._containment(candidate.id, is_ours=False)
            if containment is not None and containment >= MIN_CONTAINMENT:
                yield Part(candidate.id, containment)

    def _is_other(self, number: int) -> bool:
        if not self._parameters.compare_names:
            return False
        theirs = self._documents.name(number)
        return bool(difference(unpacked(self._document.name), unpacked(theirs)))

    def _containment(self, number: int, *, is_ours: bool) -> float | None:
        """Return the share of this text in another one, or of that one in this.

        Returns:
            Below ``MIN_CONTAINMENT`` a bound of it. None where the other text is not stored, or the
            budget does not allow to read it.
        """
        bound = self._bound(number, is_ours=is_ours)
        if bound < MIN_CONTAINMENT:
            return bound
        other = _Other(number, self._known, self._read, self._of_part.shingles_of)
        if other.part is None:
            return None
        found = _share(self._of_part, other.part, is_ours=is_ours)
        if found >= MIN_CONTAINMENT and self._boilerplate is not None:
            found = min(found, self._own_share(other, other.part, is_ours=is_ours))
        if found < MIN_CONTAINMENT or other.whole is None:
            return found if found < MIN_CONTAINMENT else None
        if self._is_part_only and other.whole is other.part:
            return found
        size = self._parameters.verify_shingle_size
        self._of_whole = self._of_whole or JaccardComparison(self._whole, size)
        return min(found, _share(self._of_whole, other.whole, is_ours=is_ours))

    def _bound(self, number: int, *, is_ours: bool) -> float:
        """Return what the containment is at most, by the bitmap of another text."""
        bitmap = self._known.bitmaps.get(number)
        if bitmap is None:
            return 1.0
        self._bitmap = self._bitmap or bitmap_of(self._of_part.shingles)
        return max_shared(self._bitmap, bitmap) / (self._bitmap if is_ours else bitmap).size

    def _read(self, number: int) -> str | None:
        text = self._documents.text(number)
        self._characters += len(text or "")
        return text if self._characters <= MAX_CHARACTERS else None

    def _own_share(self, other: "_Other", theirs: Hashes, *, is_ours: bool) -> float:
        """Return the share of those shingles of a part that are more than boilerplate.

        0 where there are none, since such a text is no part of any other in particular, or where
        the budget does not allow to tell.

        Args:
            other: The other text.
            theirs: Its shingles, without its whole.
            is_ours: Whether the text in hand is the part.
        """
        shingles = self._of_part.shingles if is_ours else theirs
        own = self._own if is_ours else None
        if own is None:
            assert self._boilerplate is not None
            group = self._document.group if is_ours else self._boilerplate.group(other.number)
            text = self._document.text if is_ours else other.text
            if text is None:
                return 0.0
            own = self._own_shingles(split_whole(text)[0], shingles, group)
        if is_ours:
            self._own = own
        if len(own) == len(shingles):
            return 1.0
        if not len(own):
            return 0.0
        both = shared_size(own, theirs) if is_ours else self._of_part.shared_with(own)
        return both / len(own)

    def _own_shingles(self, part: str, shingles: Hashes, group: int | None) -> Hashes:
        """Return those shingles of a part that are more than the boilerplate of its group."""
        assert self._boilerplate is not None
        blocks = self._boilerplate.blocks(group)
        spans = [] if blocks is None else boilerplate_spans(part, blocks, alone=True)
        if not spans:
            return shingles
        of_spans = [self._of_part.shingles_of(part[start:end]) for start, end in spans]
        return np.setdiff1d(shingles, np.concatenate(of_spans))


class _Other:
    """Another text, which is read only where its shingles are not known.

    Args:
        number: Its id.
        known: The shingles of texts that were candidates before.
        read: Returns the text under an id; None where it is not to be had.
        shingles_of: Returns the shingles of a text.
    """

    def __init__(
        self,
        number: int,
        known: KnownShingles,
        read: Callable[[int], str | None],
        shingles_of: Callable[[str], Hashes],
    ) -> None:
        self.number = number
        self._known, self._read_text, self._shingles_of = known, read, shingles_of

    @cached_property
    def text(self) -> str | None:
        return self._read_text(self.number)

    @cached_property
    def part(self) -> Hashes | None:
        """The shingles of the text without its whole; None where it is not to be had."""
        known = self._known.parts.get(self.number)
        if known is None and self.text is not None:
            known = self._shingles_of(split_whole(self.text)[0])
            self._known.parts.add(self.number, known)
        return known

    @cached_property
    def whole(self) -> Hashes | None:
        """The shingles of its whole, ``part`` where it has no other; None likewise."""
        known = self._known.wholes.get(self.number)
        if known is None and self.text is not None:
            part, whole = split_whole(self.text)
            known = self.part if whole is part else self._shingles_of(whole)
            assert known is not None
            self._known.wholes.add(self.number, known)
        return known


def _share(comparison: JaccardComparison, theirs: Hashes, *, is_ours: bool) -> float:
    own = comparison.shingles if is_ours else theirs
    return comparison.shared_with(theirs) / len(own) if len(own) else 0.0
