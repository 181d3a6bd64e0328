"""Compares a text with its candidates: few are read, and no more than a budget allows."""

from collections import OrderedDict
from collections.abc import Callable

from neardup.features.bitmaps import Bitmap, bitmap_of, max_similarity
from neardup.verification import JaccardComparison
from neardup.verifier import Verifier
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
    """Compares one text with one candidate after the other.

    A candidate that was read for another text before is not read again where its bitmap tells that
    it is too different. That is a bound and no estimate: no verdict depends on it.

    Args:
        text: The text.
        verifier: The measure of similarity.
        bitmaps: The bitmaps of candidates, for all texts of one deduplicator.
        min_similarity: The similarity that confirms a candidate.

    Attributes:
        left_out: The number of candidates that the budget did not allow to compare; each may be
            similar enough.
    """

    def __init__(
        self, text: str, verifier: Verifier, bitmaps: Bitmaps, min_similarity: float
    ) -> None:
        self.left_out = 0
        self._text, self._whole = split_whole(text)
        self._verifier = verifier
        self._bitmaps = bitmaps
        self._min_similarity = min_similarity
        self._similarity: Callable[[str], float] | None = None
        self._of_whole: Callable[[str], float] | None = None
        self._own: Bitmap | None = None
        self._characters = _cost(self._text)
        self._is_comparable = self._characters < MAX_CHARACTERS

    def may_confirm(self, number: int) -> bool:
        """Whether a candidate is to be read and compared.

        Not where it is too different, and not where the budget is spent.

        Complexity: O(bitmap), a microsecond for 1,000 words.
        """
        bitmap = self._bitmaps.get(number) if self._is_comparable else None
        if bitmap is not None and self._bound(bitmap) < self._min_similarity:
            return False
        if self._characters >= MAX_CHARACTERS:
            self.left_out += 1
            return False
        return True

    def confirmed(self, number: int, text: str) -> float | None:
        """Return the similarity of a candidate where it is enough; None: it is not.

        None as well where the budget does not allow to tell. Of texts that stand with the whole
        that they were taken from, it is the least of both parts, as
        ``neardup.verifier.compared_with`` has it.

        Complexity: O(length of both), and no more than the budget allows.
        """
        part, whole = split_whole(text)
        is_part_only = self._whole is self._text and whole is part
        shared = self._enough(self._prepared, part, _cost(part), number)
        if shared is None or is_part_only:
            return shared
        cost = _cost(whole) + (_cost(self._whole) if self._of_whole is None else 0)
        of_wholes = self._enough(self._prepared_whole, whole, cost)
        return None if of_wholes is None else min(shared, of_wholes)

    def _enough(
        self,
        prepared: Callable[[], Callable[[str], float]],
        text: str,
        cost: int,
        number: int | None = None,
    ) -> float | None:
        """Return the similarity of a text; None where it is too low or would cost too much."""
        if not self._may_spend(cost):
            return None
        similarity = prepared()
        if not isinstance(similarity, JaccardComparison):
            shared = similarity(text)
            return shared if shared >= self._min_similarity else None
        theirs = similarity.shingles_of(text)
        if number is not None and self._bitmaps.get(number) is None:
            self._bitmaps.add(number, bitmap_of(theirs))
        shared = similarity.by_hashes(theirs)
        if shared < self._min_similarity:
            return None
        # A similarity that decides is counted in words, so that it cannot be forged.
        if not self._may_spend(SHINGLE_AS * (len(similarity.shingles) + len(theirs))):
            return None
        shared = similarity.by_words(text)
        return shared if shared >= self._min_similarity else None

    def _may_spend(self, cost: int) -> bool:
        self._characters += cost
        if self._characters <= MAX_CHARACTERS:
            return True
        self.left_out += 1
        return False

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
