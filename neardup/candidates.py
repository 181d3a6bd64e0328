"""Compare a text with its candidates: few are read, and no more than a budget allows."""

from collections import OrderedDict
from collections.abc import Callable, Collection, Sequence

from neardup.cascade import NearText, is_confirmed
from neardup.features.bitmaps import Bitmap, bitmap_of, max_similarity
from neardup.indexes.arrays import Match
from neardup.parameters import Parameters
from neardup.verification import JaccardComparison, Verifier
from neardup.whole import split_whole

MAX_CANDIDATES = 1000
"""The number of nearest matches that are looked at for a text. A fingerprint that more texts share
says little about any of them."""

MAX_CHARACTERS = 16_000_000
"""The largest number of characters of a text and its candidates, which take 0.2 to 0.4 s. Two texts
of English of 1.8 million characters are compared, or of 0.9 million with wholes as long; of longer
ones nothing but equality is told."""

BEYOND_ASCII = 4
"""A text that is not ASCII alone counts as this many times its characters."""

SHINGLE_AS = 20
"""A shingle counts as this many characters when its words are counted."""

MAX_BITMAP_BYTES = 64 << 20
"""The largest size of the bitmaps of candidates, in bytes; they take 1 to 2 bytes a shingle."""


class Bitmaps:
    """Bitmaps of texts that were candidates before; the longest unused go first.

    Args:
        max_bytes: Memory that they take at most.
    """

    def __init__(self, max_bytes: int = MAX_BITMAP_BYTES) -> None:
        self._max_bytes = max_bytes
        self._bitmaps: OrderedDict[int, Bitmap] = OrderedDict()
        self._bytes = 0

    def get(self, number: int) -> Bitmap | None:
        """Return the bitmap of a text, or None."""
        bitmap = self._bitmaps.get(number)
        if bitmap is not None:
            self._bitmaps.move_to_end(number)
        return bitmap

    def add(self, number: int, bitmap: Bitmap) -> None:
        """Hold the bitmap of a text that has none here."""
        self._bitmaps[number] = bitmap
        self._bytes += bitmap.words.nbytes
        while self._bytes > self._max_bytes:
            self._bytes -= self._bitmaps.popitem(last=False)[1].words.nbytes

    def clear(self) -> None:
        """Forget all: the numbers name other texts now."""
        self._bitmaps.clear()
        self._bytes = 0


class Candidates:
    """Measures the candidates of one text, nearest first, until one is confirmed.

    A candidate that was read for another text before is not read again where its bitmap tells that
    it is too different. That is a bound and no estimate: no verdict depends on it. The caller reads
    the texts that :attr:`unread` names, and gives each that it finds to :meth:`compare`.

    Args:
        text: The text.
        matches: The candidates, nearest first, then by id. The 1,000 first are looked at.
        parameters: The parameters that decide which texts are the same.
        verifier: The measure of similarity.
        bitmaps: The bitmaps of candidates, for all texts of one deduplicator.
        excluded: The ids of candidates that the text cannot repeat.

    Attributes:
        near: The candidates that were compared, and those that the budget left out: each of these
            may be similar enough.
    """

    def __init__(
        self,
        text: str,
        matches: Sequence[Match],
        parameters: Parameters,
        verifier: Verifier,
        bitmaps: Bitmaps,
        *,
        excluded: Collection[int] = (),
    ) -> None:
        self.near: list[NearText] = []
        self._left = iter(matches[:MAX_CANDIDATES])
        self._beyond = matches[MAX_CANDIDATES:]
        self._parameters = parameters
        self._excluded = excluded
        self._text, self._whole = split_whole(text)
        self._verifier = verifier
        self._bitmaps = bitmaps
        self._similarity: Callable[[str], float] | None = None
        self._of_whole: Callable[[str], float] | None = None
        self._own: Bitmap | None = None
        self._characters = _cost(self._text)
        self._is_comparable = self._characters < MAX_CHARACTERS

    def unread(self, count: int = 1) -> list[Match]:
        """Return the next candidates whose texts are to be read; empty: no text is needed.

        Complexity: O(bitmap) a candidate, a microsecond for 1,000 words.
        """
        found: list[Match] = []
        if self._is_decided():
            return found
        for match in self._left:
            if match.distance > self._parameters.radius:
                break
            if match.id not in self._excluded and self._is_to_be_read(match):
                found.append(match)
                if len(found) == count:
                    return found
        # All are looked at, but for those that are too many.
        self._left = iter(())
        for match in self._beyond:
            self._leave_out(match)
        self._beyond = ()
        return found

    def compare(self, match: Match, text: str) -> None:
        """Measure a candidate that was read, unless one before it is confirmed.

        Of texts that stand with the whole that they were taken from, the similarity is the least of
        both parts, as ``neardup.verification.compared_with`` has it.

        Complexity: O(length of both), and no more than the budget allows.
        """
        if self._is_decided():
            return
        if not self._parameters.verify:
            self.near.append(NearText(match.id, match.distance))
            return
        similarity = self._measured(match.id, text)
        if similarity is None:
            self._leave_out(match)
        else:
            self.near.append(NearText(match.id, match.distance, similarity))

    def _is_decided(self) -> bool:
        return bool(self.near) and is_confirmed(self.near[-1], self._parameters)

    def _leave_out(self, match: Match) -> None:
        self.near.append(NearText(match.id, match.distance, is_left_out=True))

    def _is_to_be_read(self, match: Match) -> bool:
        """Whether a candidate is neither too different nor left out by the budget."""
        if not self._parameters.verify:
            return True
        bitmap = self._bitmaps.get(match.id) if self._is_comparable else None
        if bitmap is not None and self._bound(bitmap) < self._parameters.min_similarity:
            return False
        if self._characters >= MAX_CHARACTERS:
            self._leave_out(match)
            return False
        return True

    def _measured(self, number: int, text: str) -> float | None:
        """Return the similarity of a candidate; None: the budget does not allow to tell.

        Below ``min_similarity`` it is that of the first parts, by the hashes of their shingles.
        """
        part, whole = split_whole(text)
        is_part_only = self._whole is self._text and whole is part
        shared = self._measured_part(self._prepared, part, _cost(part), number)
        if shared is None or is_part_only or shared < self._parameters.min_similarity:
            return shared
        cost = _cost(whole) + (_cost(self._whole) if self._of_whole is None else 0)
        of_wholes = self._measured_part(self._prepared_whole, whole, cost)
        return None if of_wholes is None else min(shared, of_wholes)

    def _measured_part(
        self,
        prepared: Callable[[], Callable[[str], float]],
        text: str,
        cost: int,
        number: int | None = None,
    ) -> float | None:
        """Return the similarity of a text; None where it would cost too much."""
        if not self._may_spend(cost):
            return None
        similarity = prepared()
        if not isinstance(similarity, JaccardComparison):
            return similarity(text)
        theirs = similarity.shingles_of(text)
        if number is not None and self._bitmaps.get(number) is None:
            self._bitmaps.add(number, bitmap_of(theirs))
        shared = similarity.by_hashes(theirs)
        if shared < self._parameters.min_similarity:
            return shared
        # A similarity that decides is counted in words, so that it cannot be forged.
        if not self._may_spend(SHINGLE_AS * (len(similarity.shingles) + len(theirs))):
            return None
        return similarity.by_words(text)

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
