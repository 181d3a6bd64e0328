"""Compare a text with its candidates: few are read, and no more than a budget allows."""

import heapq
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import islice
from operator import attrgetter
from typing import Generic, TypeVar

from neardup.cascade import NearText, is_confirmed
from neardup.features.bitmaps import Bitmap, bitmap_of, max_similarity
from neardup.features.hashing import Hashes
from neardup.indexes.arrays import Match
from neardup.names import NO_NAME, difference, unpacked
from neardup.parameters import Parameters
from neardup.verification import JaccardComparison, Verifier
from neardup.whole import split_whole

V = TypeVar("V")

MAX_CANDIDATES = 1000
"""The number of nearest matches that are looked at for a text. A fingerprint that more texts share
says little about any of them."""

MAX_OTHERS = 8
"""The number of candidates of other names that are read for a text, to find one that it resembles.
On one template each page has thousands of those, and none of them is what it repeats."""

MAX_RESTS = 32
"""The number of confirmed candidates whose texts are compared without boilerplate for a text. Where
none of them is a copy, the text is kept."""

MAX_SHARING = 4 * MAX_CANDIDATES
"""The number of texts that share a band with a text among which its nearest are sought. Where more
do, as on a template of thousands of pages, those of its name come first, wherever they are."""

MAX_CHARACTERS = 16_000_000
"""The largest number of characters of a text and its candidates, which take 0.2 to 0.4 s. Two texts
of English of 8 million characters are compared, or of 4 million with wholes as long; of longer ones
nothing but equality is told."""

BEYOND_ASCII = 4
"""A text that is not ASCII alone counts as this many times its characters."""

MAX_BITMAP_BYTES = 64 << 20
"""The largest size of the bitmaps of candidates, in bytes; they take 1 to 2 bytes a shingle."""


MAX_SET_BYTES = 16 << 20
"""The largest size of the shingles of candidates, in bytes: 8 a shingle, of parts and as many of
wholes. The last 8,000 texts of 250 words on a template are so hashed once each."""


class LruCache(Generic[V]):
    """Holds values of texts that were candidates before; the longest unused go first.

    Args:
        max_bytes: Memory that it takes at most.
        size_of: Returns the bytes of a value.
        let_go: Called with the number and the value of each that goes.
    """

    def __init__(
        self,
        max_bytes: int,
        size_of: Callable[[V], int],
        let_go: Callable[[int, V], object] | None = None,
    ) -> None:
        self._max_bytes, self._size_of, self._let_go = max_bytes, size_of, let_go
        self._values: OrderedDict[int, V] = OrderedDict()
        self._bytes = 0

    def get(self, number: int) -> V | None:
        """Return what is known of a text, or None."""
        value = self._values.get(number)
        if value is not None:
            self._values.move_to_end(number)
        return value

    def add(self, number: int, value: V) -> None:
        """Hold what is known of a text, unless something is."""
        if number in self._values:
            return
        self._values[number] = value
        self._bytes += self._size_of(value)
        while self._bytes > self._max_bytes:
            gone, unused = self._values.popitem(last=False)
            self._bytes -= self._size_of(unused)
            if self._let_go is not None:
                self._let_go(gone, unused)


class KnownShingles:
    """The shingles of texts that were candidates before, exact and as bitmaps.

    An id stands for one text, so what is known of it stays true. Whether the text is still stored,
    this does not know.

    Attributes:
        bitmaps: The bitmaps of first parts that are no more among ``parts``.
        parts: The shingles of the first parts, as ``JaccardComparison.shingles_of`` returns them.
        wholes: The shingles of the wholes; where these are no other texts, perhaps the ``parts``.
    """

    def __init__(self) -> None:
        self.bitmaps = LruCache[Bitmap](MAX_BITMAP_BYTES, lambda one: one.words.nbytes)
        self.parts = LruCache[Hashes](
            MAX_SET_BYTES,
            lambda one: one.nbytes,
            lambda number, one: self.bitmaps.add(number, bitmap_of(one)),
        )
        self.wholes = LruCache[Hashes](MAX_SET_BYTES, lambda one: one.nbytes)


class Candidates:
    """Measures the candidates of one text, nearest first, until one is confirmed.

    Candidates whose names are other than the text's come last, and eight of them are read: they
    make no duplicate, so that a copy is found among thousands of pages on one template. A candidate
    that was read for another text before is not read again where its bitmap or its shingles tell
    that it is too different. That is no estimate: what is kept does not depend on it. Whether a
    text of another name is found that it resembles may, since those told apart do not count among
    the eight. The caller reads the texts that :meth:`unread` names and :meth:`is_needed` does not
    put off, and gives each that it finds to :meth:`compare`.

    Args:
        text: The text.
        matches: The candidates, nearest first, then by id. The 1,000 first are looked at.
        others: Further candidates, which are known to have other names, in the same order.
        parameters: The parameters that decide which texts are the same.
        verifier: The measure of similarity.
        known: The shingles of candidates, for all texts of one deduplicator.
        name: What the text is called, packed.
        excluded: The ids of candidates that the text cannot repeat.
        says_other: Tells of a confirmed candidate by its id and text whether both say other things
            outside the boilerplate of their groups; None: that is not known.

    Attributes:
        near: The candidates that were compared, and those that the budget left out: each of these
            may be similar enough.
        told_apart: The number of candidates that were not read, since what is known of their
            shingles tells that they are too different.
    """

    def __init__(  # noqa: PLR0913  (the texts, and what bounds the search)
        self,
        text: str,
        matches: Sequence[Match],
        parameters: Parameters,
        verifier: Verifier,
        known: KnownShingles,
        *,
        name: str = "",
        others: Iterable[Match] = (),
        excluded: Collection[int] = (),
        says_other: Callable[[int, str], bool] | None = None,
    ) -> None:
        self.near: list[NearText] = []
        self.told_apart = 0
        self._left: Iterator[Match] = iter(matches[:MAX_CANDIDATES])
        self._beyond = matches[MAX_CANDIDATES:]
        self._parameters = parameters
        self._excluded = excluded
        self._text, self._whole = split_whole(text)
        self._name = unpacked(name) if parameters.compare_names else NO_NAME
        self._others: list[Match] = []
        self._known_others = others
        self._are_others_due = False
        self._resembles_other = False
        self._says_other = says_other
        self._rests = 0
        self._verifier = verifier
        self._known = known
        self._similarity: Callable[[str], float] | None = None
        self._of_whole: Callable[[str], float] | None = None
        self._own: Bitmap | None = None
        self._characters = _cost(self._text)
        self._is_comparable = self._characters < MAX_CHARACTERS

    def unread(self, count: int = 1) -> list[Match]:
        """Return the next candidates whose texts are to be read; empty: no text is needed.

        Complexity: O(bitmap) a candidate, a microsecond for 1,000 words.
        """
        found = self._to_be_read(count)
        if not found and not self._are_others_due and not self._is_decided():
            # All are looked at, but for those that are too many and those of other names.
            for match in self._beyond:
                self._leave_out(match)
            self._are_others_due = True
            self._left = islice(self._other_matches(), MAX_OTHERS)
            found = self._to_be_read(count)
        return found

    def is_needed(self, match: Match, name: str) -> bool:
        """Whether the text of a candidate of this name is to be read now.

        One of another name than the text has is put off: :meth:`unread` returns it again where
        nothing else is confirmed. Of those, one that the text resembles is enough.

        Args:
            match: The candidate, as :meth:`unread` returned it.
            name: What it is called, packed.
        """
        if self._is_decided():
            return False
        if self._are_others_due:
            return not self._resembles_other
        is_other = self._is_other(name)
        if is_other:
            self._others.append(match)
        return not is_other

    def compare(self, match: Match, text: str, name: str = "") -> None:
        """Measure a candidate that was read, unless one before it is confirmed.

        Of texts that stand with the whole that they were taken from, the similarity is the least of
        both parts, as ``neardup.verification.compared_with`` has it.

        Complexity: O(length of both), and no more than the budget allows.
        """
        if self._is_decided():
            return
        is_other = self._is_other(name)
        if not self._parameters.verify:
            self._note(NearText(match.id, match.distance, is_other=is_other), text)
            return
        similarity = self._measured(match.id, text)
        if similarity is None:
            self._leave_out(match)
        else:
            self._note(NearText(match.id, match.distance, similarity, is_other=is_other), text)

    def _other_matches(self) -> Iterator[Match]:
        """Yield the candidates of other names that are not told to be too different, in order."""
        others = heapq.merge(self._others, self._known_others, key=attrgetter("distance", "id"))
        for match in islice(others, MAX_CANDIDATES):
            if self._characters >= MAX_CHARACTERS:
                return
            if match.id not in self._excluded and not self._is_too_different(match):
                yield match

    def _to_be_read(self, count: int) -> list[Match]:
        found: list[Match] = []
        if self._is_decided() or (self._are_others_due and self._resembles_other):
            return found
        for match in self._left:
            if match.id not in self._excluded and self._is_to_be_read(match):
                found.append(match)
                if len(found) == count:
                    break
        return found

    def _is_decided(self) -> bool:
        if not self.near:
            return False
        last = self.near[-1]
        if self._rests >= MAX_RESTS:
            return True
        return not (last.is_other or last.says_other) and is_confirmed(last, self._parameters)

    def _note(self, near: NearText, text: str) -> None:
        if is_confirmed(near, self._parameters):
            if self._says_other is not None and not near.is_other:
                near = near._replace(says_other=self._says_other(near.id, text))
                self._rests += 1
            self._resembles_other |= near.is_other or near.says_other
        self.near.append(near)

    def _is_other(self, name: str) -> bool:
        return self._name != NO_NAME and bool(difference(self._name, unpacked(name)))

    def _leave_out(self, match: Match) -> None:
        self.near.append(NearText(match.id, match.distance, is_left_out=True))

    def _is_to_be_read(self, match: Match) -> bool:
        """Whether a candidate is neither too different nor left out by the budget."""
        if not self._parameters.verify:
            return True
        if self._is_too_different(match):
            return False
        if self._characters >= MAX_CHARACTERS:
            self._leave_out(match)
            return False
        return True

    def _is_too_different(self, match: Match) -> bool:
        if not (self._parameters.verify and self._is_comparable):
            return False
        is_too_different = self._max_known(match.id) < self._parameters.min_similarity
        self.told_apart += is_too_different
        return is_too_different

    def _max_known(self, number: int) -> float:
        """Return what the similarity of a candidate is at most, by what is known of it."""
        shingles = self._known.parts.get(number)
        if shingles is not None:
            similarity = self._prepared()
            return (
                similarity.with_set(shingles) if isinstance(similarity, JaccardComparison) else 1.0
            )
        bitmap = self._known.bitmaps.get(number)
        return 1.0 if bitmap is None else self._bound(bitmap)

    def _measured(self, number: int, text: str) -> float | None:
        """Return the similarity of a candidate; None: the budget does not allow to tell.

        Below ``min_similarity`` it is that of the first parts.
        """
        part, whole = split_whole(text)
        is_part_only = self._whole is self._text and whole is part
        shared = self._measured_part(self._prepared, part, _cost(part), number)
        if shared is None or is_part_only or shared < self._parameters.min_similarity:
            return shared
        cost = _cost(whole) + (_cost(self._whole) if self._of_whole is None else 0)
        of_wholes = self._measured_part(
            self._prepared_whole, whole, cost, number, is_whole=whole is not part
        )
        return None if of_wholes is None else min(shared, of_wholes)

    def _measured_part(
        self,
        prepared: Callable[[], Callable[[str], float]],
        text: str,
        cost: int,
        number: int,
        *,
        is_whole: bool = False,
    ) -> float | None:
        """Return the similarity of a text; None where it would cost too much."""
        if not self._may_spend(cost):
            return None
        similarity = prepared()
        if not isinstance(similarity, JaccardComparison):
            return similarity(text)
        held = self._known.wholes if is_whole else self._known.parts
        theirs = held.get(number)
        if theirs is None:
            theirs = similarity.shingles_of(text)
            held.add(number, theirs)
        return similarity.with_set(theirs)

    def _may_spend(self, cost: int) -> bool:
        self._characters += cost
        return self._characters <= MAX_CHARACTERS

    def _prepared(self) -> Callable[[str], float]:
        # Most texts have no candidate, so nothing is prepared before there is one.
        if self._similarity is None:
            self._similarity = self._verifier.compared_with(self._text)
        return self._similarity

    def _prepared_whole(self) -> Callable[[str], float]:
        if self._of_whole is None:
            self._of_whole = self._verifier.compared_with(self._whole)
        return self._of_whole

    def _bound(self, bitmap: Bitmap) -> float:
        if self._own is None:
            similarity = self._prepared()
            if not isinstance(similarity, JaccardComparison):
                return 1.0
            self._own = bitmap_of(similarity.shingles)
        return max_similarity(self._own, bitmap)


def _cost(text: str) -> int:
    """Return the characters of the budget that it takes to read the words of a text."""
    return len(text) if text.isascii() else BEYOND_ASCII * len(text)
